"""Runs that broke off and are gone on with: only what failed is asked again."""

import pytest

from app.core.errors import EngineError
from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.listing import list_executions
from app.flows.search_checks import Checks
from app.workspace import Workspace
from tests import serving
from tests.serving import WORDS, served

server, at_once = serving.server, serving.at_once
pytestmark = pytest.mark.usefixtures("at_once")
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
CHECKED = f"{SPARSE}prefix_check = true\nexact_twin = true\n"
TEXTS = {f"c{n:02}": f"{WORDS[n]} {WORDS[(n * 7 + 3) % 24]}" for n in range(24)}
QUESTIONS = {f"q{n:02}": f"{WORDS[n]} or {WORDS[n % 7]}" for n in range(24)}
LABELS = [("q00", "c00", 2), ("q01", "c01", 1)]
#: Requests before the first search: two counts and the version.
OPENING = 3
#: Searches of one question with all checks: itself, three prefixes, its exact twin.
SEARCHES = 5


@pytest.fixture
def workspace(tiny, server, collection_of):
    """An indexed collection of 24 questions on a server, one question a request unless said."""

    def build(configurations=SPARSE, qdrant="batch = 1\nconcurrency = 1"):
        root = tiny(TEXTS, QUESTIONS, LABELS, configurations=configurations)
        served(root, server.url, qdrant)
        index(collection_of(root))
        server.forget()
        return root

    return build


@pytest.fixture
def run(collection_of):
    def once(root, **more):
        (found,) = evaluate(collection_of(root), **more)
        return found

    return once


def rankings(root, execution):
    kept, _ = executions.rankings(Store.at(Workspace.at(root).store_path), execution)
    return {one.question: (one.failure, one.hits) for one in kept}


def failed(root, execution):
    return {name: why for name, (why, _) in rankings(root, execution).items() if why}


def searches(server):
    return sum(path.endswith("/points/query/batch") for _, path in server.requests)


def stop_after(number):
    def progress(what, done, total):
        if what.startswith("Searching") and done == number:
            raise KeyboardInterrupt

    return progress


def stored(root):
    """Ids of all executions, the newest first."""
    return [one.execution.id for one in list_executions(Workspace.at(root))]


@pytest.mark.parametrize(("batch", "concurrency", "answers"), [(1, 1, 11), (4, 2, 3), (8, 4, 1)])
def test_what_a_server_that_died_left_out_is_asked_when_it_is_back(
    workspace, run, server, desk, batch, concurrency, answers
):
    root = workspace(qdrant=f"batch = {batch}\nconcurrency = {concurrency}\nretries = 1")
    server.die_after(OPENING + answers)
    answer = desk(root, "evaluate", "tiny", "--json")
    assert answer.code == 2 and answer.json["executions"][0]["status"] == "incomplete"
    left = failed(root, list_executions(Workspace.at(root))[0].execution)
    assert len(left) == 24 - batch * answers
    told = [why.removeprefix("not searched: ") for why in left.values()]
    assert all(f"Qdrant at {server.url[7:]}" in why and why.endswith(".") for why in told)
    if batch == 1:
        assert sum(why.startswith("not searched: ") for why in left.values()) == len(left) - 5
    again = desk(root, "evaluate", "tiny", "--resume")
    assert again.code == 2 and len(again.errors) == 1 and "does not answer" in again.errors[0]
    server.start()
    server.forget()
    answer = desk(root, "evaluate", "tiny", "--resume", "--json")
    assert answer.code == 0 and searches(server) == len(left) // batch + bool(len(left) % batch)
    resumed, whole = run(root, resume=True), run(root)
    assert resumed.reused and resumed.execution.status == "complete"
    assert rankings(root, resumed.execution) == rankings(root, whole.execution)
    assert (resumed.means, resumed.scored.questions) == (whole.means, whole.scored.questions)


def test_a_resumed_execution_says_so_and_is_the_one_that_is_reused(workspace, run, server):
    root = workspace()
    server.die_after(OPENING + 10)
    broken = run(root).execution
    server.start()
    resumed = run(root, resume=True)
    assert not resumed.reused and resumed.notices == ()
    assert (broken.provenance["resumed"], resumed.execution.provenance["resumed"]) == (
        None, broken.id,
    )  # fmt: skip
    assert resumed.execution.fingerprint == broken.fingerprint
    server.forget()
    for more in ({"resume": True}, {"reuse": True}):
        again = run(root, **more)
        assert again.reused and again.execution.id == resumed.execution.id
    assert server.requests == []


def test_several_interruptions_in_a_row(workspace, run, server):
    """The server dies again and again, once before the first search, once it is stopped by hand."""
    root = workspace(CHECKED)
    done, before = 0, None
    for answers in (5, 0, 3):
        server.start()
        server.forget()
        server.die_after(OPENING + SEARCHES * answers)
        found = run(root, resume=True).execution
        assert found.provenance["resumed"] == before
        done, before = done + answers, found.id
        assert len(failed(root, found)) == 24 - done
    server.stop()
    with pytest.raises(EngineError):
        run(root, resume=True)
    server.start()
    assert len(stored(root)) == 3
    stopped = run(root, resume=True, progress=stop_after(done + 2))
    assert stopped.interrupted and len(failed(root, stopped.execution)) == 22 - done
    server.forget()
    resumed = run(root, resume=True)
    assert searches(server) == SEARCHES * (22 - done)
    assert resumed.execution.provenance["resumed"] == stopped.execution.id
    assert same(root, resumed, run(root))


def same(root, one, other):
    """Whether two executions found and noticed the same."""
    checks = [found.execution.provenance["checks"] for found in (one, other)]
    assert all(set(found) == {"prefix", "ann_recall", "ann_recall_n"} for found in checks)
    assert checks[0]["ann_recall"] == pytest.approx(checks[1].pop("ann_recall"))
    del checks[0]["ann_recall"]
    status = [found.execution.status for found in (one, other)]
    return (
        checks[0] == checks[1]
        and status == ["complete"] * 2
        and rankings(root, one.execution) == rankings(root, other.execution)
        and one.means == other.means
    )


def test_a_second_search_that_failed_is_made_again(workspace, run, server):
    root = workspace(CHECKED)
    server.die_after(OPENING + SEARCHES * 4 + 2)  # in the second searches of the fifth question
    broken = run(root).execution
    checks = broken.provenance["checks"]
    assert [one["question"] for one in checks["failed"]] == ["q04"]
    assert checks["ann_recall_n"] == {"1": 4, "3": 4, "5": 4} and "q04" not in failed(root, broken)
    server.start()
    checks = run(root, resume=True).execution.provenance["checks"]
    assert checks["ann_recall_n"] == {"1": 24, "3": 24, "5": 24} and "failed" not in checks


def test_second_searches_end_with_the_server(workspace, run, server, monkeypatch):
    """All questions are found in one request, and then it dies."""
    root = workspace(CHECKED, "batch = 24\nconcurrency = 1\nretries = 2")
    server.die_after(OPENING + 1)
    tried, again = [], Checks._search_again
    monkeypatch.setattr(
        Checks, "_search_again", lambda self, *words: tried.append(1) or again(self, *words)
    )
    found = run(root)
    checks = found.execution.provenance["checks"]
    assert found.execution.status == "complete" and len(checks["failed"]) == 24
    assert len(tried) == 5 and "does not answer" in checks["failed"][-1]["reason"]


def test_stopping_in_a_second_search_leaves_it_to_be_made(workspace, run, monkeypatch):
    root = workspace(CHECKED)
    again = Checks._search_again

    def stop(self, ranking, *words):
        if ranking.question == "q07":
            raise KeyboardInterrupt
        again(self, ranking, *words)

    monkeypatch.setattr(Checks, "_search_again", stop)
    stopped = run(root)
    assert stopped.interrupted and len(failed(root, stopped.execution)) == 16
    monkeypatch.setattr(Checks, "_search_again", again)
    assert same(root, run(root, resume=True), run(root))


def test_stopping_by_hand_with_an_engine_in_this_process(tiny, run, collection_of):
    root = tiny(TEXTS, QUESTIONS, LABELS, configurations=CHECKED)
    index(collection_of(root))
    stopped = run(root, progress=stop_after(17))
    assert stopped.interrupted and len(failed(root, stopped.execution)) == 7
    told = []
    resumed = run(root, resume=True, progress=lambda *words: told.append(words[1:]))
    assert told == [(done, 24) for done in range(18, 25)] and not resumed.interrupted
    assert same(root, resumed, run(root))


def test_nothing_to_resume_is_a_run_of_its_own(workspace, run, desk):
    root = workspace()
    first = run(root, resume=True)
    assert not first.reused and first.execution.provenance["resumed"] is None
    answer = desk(root, "evaluate", "tiny", "--resume", "--json")
    assert answer.code == 0 and answer.json["executions"][0]["execution"] == first.execution.id
    assert len(stored(root)) == 1


SETTINGS, TABLE = "data/tiny/collection.toml", "[configurations.sparse]"
CHANGES = {
    "corpus": ("data/tiny/corpus.jsonl", '"text": "apple', '"text": "an apple'),
    "question": ("labels/tiny/questions.jsonl", " or ", " or else "),
    "filter": (SETTINGS, TABLE, f'[eligible]\nid = ["c00", "c01", "c02"]\n{TABLE}'),
}


@pytest.mark.parametrize(("file", "old", "new"), CHANGES.values(), ids=CHANGES.keys())
def test_after_a_change_all_is_asked_anew_and_told(
    workspace, run, server, edit, collection_of, file, old, new
):
    root = workspace()
    server.die_after(OPENING + 10)
    broken = run(root).execution
    server.start()
    edit(root / file, old, new)
    index(collection_of(root))
    server.forget()
    found = run(root, resume=True)
    assert found.notices[0] == (
        f"{broken.id} is not resumed: corpus, questions, settings, K or embedder have changed "
        "since. It was run anew."
    )
    assert found.execution.status == "complete" and searches(server) == 24
    assert found.execution.provenance["resumed"] is None


def test_what_decides_no_ranking_may_change_before_resuming(workspace, run, server):
    """Another server with the same points, another pace."""
    root = workspace()
    server.die_after(OPENING + 10)
    broken = run(root).execution
    server.start()
    served(root, server.url.replace("127.0.0.1", "localhost"), "batch = 16\ntimeout = 5")
    server.forget()
    resumed = run(root, resume=True)
    assert resumed.execution.provenance["resumed"] == broken.id and searches(server) == 1


def test_each_configuration_is_resumed_by_itself(workspace, server, collection_of):
    other = SPARSE.replace("sparse]", "other]") + "depth = 10\n"
    root = workspace(SPARSE + other)
    first = evaluate(collection_of(root), ["sparse"])[0].execution
    server.die_after(OPENING + 10)
    broken = evaluate(collection_of(root), ["other"])[0].execution
    server.start()
    server.forget()
    found = [one.execution for one in evaluate(collection_of(root), resume=True)]
    assert found[0] == first and found[1].provenance["resumed"] == broken.id
    assert searches(server) == 14

"""A collection on a server from index to store: what comes of it is what comes of it here."""

import pytest

from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.loading import load
from app.flows.searching import open_searcher
from tests import serving
from tests.engines import same_ranking
from tests.serving import SEARCHES, generated, labels_for, ranks, served

server, word_vectors, at_once = serving.server, serving.word_vectors, serving.at_once
KEPT = '[eligible]\nkind = "kept"\n'
MODES = ("dense", "sparse", "hybrid")
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
EXTERNAL = '[configurations.aside]\nmode = "external"\ncommand = ["true"]\n'
TITLED = SPARSE + '[configurations.dense]\ndocument_template = "{title}: {text}"\n'


@pytest.fixture
def found(collection_of):
    """Every ranking of a workspace by mode and question, searched and not stored."""

    def search(root, modes=MODES):
        collection = collection_of(root)
        loaded = load(collection)
        texts = {question.id: question.text for question in loaded.questions.values()}
        searchers = {mode: open_searcher(collection, mode, loaded.corpus) for mode in modes}
        return {mode: ranks(one.rank_all(texts, 20)) for mode, one in searchers.items()}

    return search


def stored(collection, configuration):
    """The newest rankings in the store, with their failures."""
    store = Store.at(collection.workspace.store_path)
    newest = executions.listed(store, collection.name, name=configuration)[0]
    rankings, _ = executions.rankings(store, newest)
    return {
        one.question: (one.failure, [(str(hit.key), hit.rank, hit.score) for hit in one.hits])
        for one in rankings
    }


@pytest.mark.parametrize(
    ("seed", "batch", "concurrency"), [(1, 16, 1), (2, 7, 4), (3, 1, 4)], ids=str
)
@pytest.mark.usefixtures("word_vectors")
def test_rankings_with_twins_ties_and_a_filter_are_those_found_here(
    tiny, found, server, collection_of, seed, batch, concurrency
):
    texts, asked = generated(seed, 300, 5)
    root = tiny(texts, asked, labels_for(texts, asked), settings=KEPT, configurations=SEARCHES)
    index(collection_of(root))
    wanted = found(root)
    scores = [score for one in wanted["dense"].values() for _, _, score in one]
    assert len(set(scores)) < len(scores) / 3, "there are hardly any ties"
    served(root, server.url, f"batch = {batch}\nconcurrency = {concurrency}")
    assert [one.uploaded for one in index(collection_of(root))] == [300, 300]
    assert found(root) == wanted


def test_the_runbooks_in_the_store_are_the_same_from_a_server(runbooks, collection_of, server):
    here = evaluate(collection_of(runbooks))
    wanted = {mode: stored(collection_of(runbooks), mode) for mode in MODES}
    served(runbooks, server.url, "batch = 4")
    index(collection_of(runbooks))
    there = evaluate(collection_of(runbooks))
    for mode in MODES:
        again = stored(collection_of(runbooks), mode)
        assert again.keys() == wanted[mode].keys()
        for question, (failure, hits) in again.items():
            assert failure == wanted[mode][question][0]
            assert same_ranking(hits, wanted[mode][question][1])
    assert [one.means for one in there] == [one.means for one in here]
    assert [one.scored.questions for one in there] == [one.scored.questions for one in here]
    for before, after in zip(here, there, strict=True):
        assert before.execution.fingerprint != after.execution.fingerprint
        engine = after.execution.provenance["engine"]
        assert engine["engine"] == "qdrant server" and engine["server"] == server.url[7:]
        assert engine["collection"].startswith("desk-runbooks-")


def test_evaluate_writes_nothing_to_the_server(runbooks, collection_of, server, desk):
    served(runbooks, server.url)
    index(collection_of(runbooks))
    server.forget()
    assert desk(runbooks, "evaluate", "runbooks").code == 0
    assert server.requests and server.writes == []


def names(server):
    return sorted(one.name for one in server.client.get_collections().collections)


def test_evaluate_refuses_what_the_server_lacks(tiny, desk, server, collection_of):
    root = served(tiny(), server.url)
    assert desk(root, "index", "tiny").code == 0
    (name,) = names(server)
    points, _ = server.client.scroll(name)
    server.client.delete(name, [points[0].id])
    answer = desk(root, "evaluate", "tiny")
    assert (answer.code, answer.errors) == (2, [
        "error: Qdrant holds 3 points, 3 of them eligible; the corpus of tiny has 4 and 4. "
        "Index it again: desk index tiny."
    ])  # fmt: skip
    assert "1 brought to the server" in desk(root, "index", "tiny").out
    assert desk(root, "evaluate", "tiny").code == 0
    server.client.delete_collection(name)
    answer = desk(root, "evaluate", "tiny")
    assert (answer.code, answer.errors) == (2, [
        f"error: Qdrant at {server.url[7:]} refused while counting points: Not found: Collection "
        f"`{name}` doesn't exist! (status 404). Index it: desk index tiny."
    ])  # fmt: skip
    assert "4 brought to the server" in desk(root, "index", "tiny").out
    assert desk(root, "evaluate", "tiny").code == 0


def test_each_revision_and_each_content_has_a_collection_of_its_own(tiny, desk, server, edit):
    texts = [{"id": f"c{n}", "text": f"text {n}", "title": f"title {n}"} for n in range(3)]
    root = tiny(texts, labels=[("q1", "c1", 2)], configurations=TITLED, fields=', title = "title"')
    served(root, server.url)
    assert desk(root, "index", "tiny").code == 0
    first = names(server)
    assert len(first) == 2 and len({one[:23] for one in first}) == 1
    corpus = root / "data/tiny/corpus.jsonl"
    edit(corpus, "title 2", "another title")
    answer = desk(root, "evaluate", "tiny", "-c", "dense")
    assert answer.code == 2 and "desk index tiny" in answer.errors[0]
    assert desk(root, "index", "tiny").code == 0
    titled = names(server)
    # A title is no part of the revision, and lexical search does not read it.
    assert len(titled) == 3 and set(first) < set(titled) and len({n[:23] for n in titled}) == 1
    edit(corpus, "text 1", "text one")
    assert desk(root, "index", "tiny").code == 0
    assert len(names(server)) == 5 and set(titled) < set(names(server))
    assert desk(root, "evaluate", "tiny").code == 0


@pytest.mark.parametrize("configurations", [EXTERNAL + SPARSE, SPARSE + EXTERNAL])
def test_another_program_beside_lexical_search_keeps_it_from_no_upload(
    tiny, desk, server, configurations
):
    """Both share a manifest: neither has an embedder."""
    root = served(tiny(configurations=configurations), server.url)
    assert "4 brought to the server" in desk(root, "index", "tiny").out
    assert desk(root, "evaluate", "tiny", "-c", "sparse").code == 0


def test_a_program_alone_needs_no_server(tiny, desk, server):
    root = served(tiny(configurations=EXTERNAL), server.url)
    server.stop()
    assert desk(root, "index", "tiny").code == 0


def test_long_texts_and_odd_fields_reach_the_server(tiny, desk, server):
    texts = [
        {"id": "long", "text": "apple " + "word " * 5_000, "review.state[0]": "ok"},
        {"id": "short", "text": "apple", "review.state[0]": "ok"},
        {"id": "out", "text": "apple", "review.state[0]": "no"},
    ]
    root = tiny(texts, labels=[("q1", "short", 2)], settings='[eligible]\n"review.state[0]" = "ok"')
    served(root, server.url)
    assert desk(root, "index", "tiny").code == 0
    (execution,) = desk(root, "evaluate", "tiny", "--json").json["executions"]
    ranking = next(q["ranking"] for q in execution["questions"] if q["k"] == 5)
    assert [hit["chunk"][0] for hit in ranking] == ["short", "long"]


KEY = "sesame-3f9a"


def test_the_key_is_read_from_the_environment_and_written_nowhere(tiny, desk, server, monkeypatch):
    variable = "DESK_KEY"
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    server.api_key = KEY
    root = served(tiny(), server.url, f'api_key_env = "{variable}"')
    said = []
    for given, state in ((None, "wants a key"), (f"{KEY}x", "refuses the key"), (KEY, "")):
        if given:
            monkeypatch.setenv(variable, given)
        for command in ("index", "evaluate", "executions", "doctor"):
            answer = desk(root, command, *(["tiny"] if command != "doctor" else []))
            said.append(answer.out + answer.err)
            if state and command == "index":
                assert answer.code == 2 and f"{server.url[7:]} {state} while" in answer.errors[0]
                assert len(answer.errors) == 1 and variable in answer.errors[0]
            if not state:
                assert answer.code == 0
    said.append(desk(root, "evaluate", "tiny", "--json").out)
    kept = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    assert len(kept) > 8 and (root / "data/desk.log").exists()
    assert not any(KEY in one for one in said) and not any(KEY.encode() in one for one in kept)


# What is wrong with the server while it is to be indexed and evaluated, and what is said.
WRONG = {
    "refused": (lambda s: s.stop(), "does not answer while"),
    "403": (lambda s: s.fail(403), "wants a key while"),
    "429": (lambda s: s.fail(429, headers={"Retry-After": "60"}), "is asked too often while"),
    "500": (lambda s: s.fail(500), "Internal Server Error (status 500). See the server's log."),
    "time-out": (lambda s: s.hang(60), "did not answer within 1 s while"),
    "no JSON": (lambda s: s.garbage(), "sent an answer that cannot be read while"),
    "dropped": (lambda s: s.drop(), "broke off while"),
}


@pytest.mark.parametrize(("breaking", "words"), WRONG.values(), ids=WRONG.keys())
@pytest.mark.usefixtures("at_once")
def test_a_server_that_fails_gives_one_sentence(tiny, desk, server, breaking, words):
    root = served(tiny(), server.url, "timeout = 1\nretries = 1")
    desk(root, "index", "tiny")
    breaking(server)
    for command in ("index", "evaluate"):
        server.forget()
        answer = desk(root, command, "tiny")
        assert answer.code == 2 and answer.out == ""
        (told,) = answer.errors
        assert words in told and told.endswith(".") and answer.err.count("\n") == 1
        assert len(server.requests) <= 2
    assert "Traceback" in (root / "data/desk.log").read_text(encoding="utf-8")
    server.heal()
    server.start()
    assert desk(root, "evaluate", "tiny").code == 0


@pytest.mark.usefixtures("at_once")
def test_a_server_that_dies_while_it_is_filled_is_gone_on_with(tiny, desk, server):
    texts = {f"c{n}": f"text {n}" for n in range(700)}
    root = served(tiny(texts, labels=[("q1", "c1", 2)]), server.url, "concurrency = 1")
    server.die_after(5)
    answer = desk(root, "index", "tiny")
    assert answer.code == 2 and "while filling the collection" in answer.errors[0]
    server.start()
    (name,) = names(server)
    there = server.client.count(name).count
    assert 0 < there < 700
    assert f"; {700 - there} brought to the server" in desk(root, "index", "tiny").out
    assert "; 0 brought to the server" in desk(root, "index", "tiny").out


@pytest.mark.usefixtures("at_once")
def test_a_search_that_fails_is_an_incomplete_execution(tiny, desk, server):
    root = served(tiny(), server.url, "retries = 1")
    assert desk(root, "index", "tiny").code == 0
    server.forget()
    server.fail(500, path="query")
    answer = desk(root, "evaluate", "tiny", "--json")
    (execution,) = answer.json["executions"]
    assert answer.code == 2 and execution["status"] == "incomplete"
    # Two counts and the version; the batch twice, then each of the two questions twice.
    assert len(server.requests) == 3 + 2 + 2 * 2

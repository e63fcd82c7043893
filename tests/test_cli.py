"""The `desk` command: its answers, its exit codes, and a sentence for everything bad."""

import json

import duckdb
import pytest

from app.engines import store as store_module
from app.flows.indexing import index
from app.workspace import Workspace

EXECUTION = {
    "execution", "collection", "configuration", "status", "corpus_revision", "label_revision",
    "scoring", "embedder", "points", "eligible", "means", "questions", "unsupported",
}  # fmt: skip
MEAN = {
    "k", "category", "scored", "answerable", "precision", "recall", "mrr", "ndcg", "hit", "judged",
    "bounds", "attainable",
}  # fmt: skip
QUESTION = {
    "question", "category", "k", "outcome", "reason", "precision", "recall", "rr", "ndcg", "hit",
    "judged", "bounds", "ranking",
}  # fmt: skip
UNSUPPORTED = {"question", "k", "hits", "top_score", "threshold", "accepted"}
HIT = {"rank", "chunk", "score", "grade"}


def test_the_main_job_on_a_fresh_copy(runbooks, desk_run):
    for path in (runbooks / "data/runbooks/vectors").iterdir():
        path.unlink()
    answer = desk_run(runbooks, "--no-serve")
    assert (answer.code, answer.err) == (0, "")  # no progress on a pipe
    assert answer.out.startswith(
        "runbooks: 11 chunks in the index, 7 eligible; 9 questions: 7 answerable with 9 relevant "
        "pairs, 2 unsupported\n"
    )
    assert "dense          3  7 of 7  0.381 of 0.429  0.857 of 1.000  0.786  0.804" in answer.out
    assert answer.out.count("How to read it") == 1
    assert answer.out.endswith("Only answerable questions are scored.\n")
    again = desk_run(runbooks, "--no-serve")
    assert again.out.count("made earlier; nothing that decides it has changed") == 3


def test_the_contract_of_evaluate(runbooks, desk):
    answer = desk(runbooks, "evaluate", "runbooks", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["format"] == 1
    assert [e["configuration"] for e in answer.json["executions"]] == ["dense", "sparse", "hybrid"]
    for execution in answer.json["executions"]:
        assert execution.keys() >= EXECUTION and execution["status"] == "complete"
        assert len(execution["questions"]) == 27 and len(execution["unsupported"]) == 6
        assert all(one.keys() >= MEAN for one in execution["means"])
        assert all(one.keys() >= QUESTION for one in execution["questions"])
        assert all(one.keys() >= UNSUPPORTED for one in execution["unsupported"])
        for one in execution["questions"]:
            ranking = one["ranking"]
            assert len(ranking) <= one["k"] and all(hit.keys() >= HIT for hit in ranking)
            assert [hit["rank"] for hit in ranking] == list(range(1, len(ranking) + 1))
            assert all(len(hit["chunk"]) == 3 for hit in ranking)
    assert answer.json["executions"][1]["embedder"] is None


def test_a_question_without_hits_has_numbers_in_json(tiny, desk):
    root = tiny(questions={"q1": "the of and", "q2": "plums"}, labels=[("q1", "apple", 2)])
    assert desk(root, "index", "tiny").code == 0
    questions = desk(root, "evaluate", "tiny", "--json").json["executions"][0]["questions"]
    first = next(q for q in questions if (q["question"], q["k"]) == ("q1", 3))
    assert (first["outcome"], first["ranking"], first["judged"]) == ("scored", [], None)
    assert first["precision"] == first["ndcg"] == first["rr"] == first["hit"] == 0


def test_executions_and_compare(runbooks, desk):
    assert desk(runbooks, "executions").out == (
        "No execution yet. Make one: desk evaluate COLLECTION\n"
    )
    assert desk(runbooks, "executions", "--json").json == {"format": 1, "executions": []}
    assert not (runbooks / "data/desk.duckdb").exists()
    desk(runbooks, "evaluate", "runbooks", "-c", "dense", "-c", "sparse")
    listed = desk(runbooks, "executions", "runbooks", "--json").json["executions"]
    assert [one["configuration"] for one in listed] == ["sparse", "dense"]
    assert [row["k"] for row in listed[1]["means"]] == [1, 3, 5]
    assert listed[1]["means"][1]["ndcg"] == pytest.approx(0.804418536)
    table = desk(runbooks, "executions").out
    assert listed[0]["execution"] in table and "nDCG@3 0.917, n 7" in table
    compared = desk(runbooks, "compare", "dense", listed[0]["execution"][:8], "--json")
    assert compared.code == 0 and compared.json["format"] == 1
    (delta,) = (m for m in compared.json["means"]
                if (m["k"], m["metric"], m["category"]) == (3, "ndcg", None))  # fmt: skip
    assert delta["delta"] == pytest.approx(0.9171029698 - 0.8044185362)
    text = desk(runbooks, "compare", "dense", "sparse").out
    assert "delta = candidate - baseline" in text and "Worse at nDCG@3:" in text
    assert "cancel-draining (paraphrase)" in text


def test_index_says_what_it_did(runbooks, desk):
    assert desk(runbooks, "index", "runbooks").out.splitlines() == [
        "runbooks: indexed 11 chunks, 7 eligible, for dense, hybrid (bundled); 0 embedded, 11 as "
        "they were",
        "runbooks: indexed 11 chunks, 7 eligible, for sparse (no embedder); 0 embedded, 0 as they "
        "were",
    ]


def test_check_exits_with_0_1_or_2(runbooks, desk, edit):
    assert desk(runbooks, "check", "runbooks").code == 0
    edit(runbooks / "labels/runbooks/questions.jsonl", "Is unfinished", "Is any unfinished")
    found = desk(runbooks, "check", "runbooks", "--json")
    assert (found.code, found.json["ok"], found.json["format"]) == (1, False, 1)
    assert [one["severity"] for one in found.json["problems"]] == ["finding"]
    edit(runbooks / "labels/runbooks/questions.jsonl", '"id":"http-pooling"', '"id":""')
    found = desk(runbooks, "check", "runbooks")
    assert found.code == 2 and found.out.endswith("  Refused.\n")
    edit(runbooks / "data/runbooks/collection.toml", 'primary = "ndcg@3"', 'primary = "ndcg"')
    found = desk(runbooks, "check", "runbooks", "--json")
    assert (found.code, found.err, found.json["ok"]) == (2, "", False)
    (problem,) = found.json["problems"]
    assert (problem["severity"], problem["place"], problem["remedy"]) == (
        "error", "data/runbooks/collection.toml", "Correct it"
    )  # fmt: skip
    assert problem["message"].startswith("scoring.primary 'ndcg' is not one of ")


def test_init_and_the_way_from_there(tmp_path, desk):
    folder = tmp_path / "new"
    made = desk(None, "init", folder)
    assert made.code == 0 and f"then: desk --workspace {folder}" in made.out
    found = desk(folder, "check", "my-collection")
    assert (
        found.code == 2 and "error: data/my-collection/corpus: the corpus is empty. " in found.out
    )
    (folder / "data/my-collection/corpus/a.md").write_text("# A\n\nSome text on apples.\n")
    assert (
        "error: labels/my-collection/questions.jsonl: there are no questions. Add one a line"
        in (desk(folder, "check", "my-collection").out)
    )
    question = {"format": 1, "id": "q1", "category": "general", "text": "What of apples?"}
    path = folder / "labels/my-collection/questions.jsonl"
    path.write_text(json.dumps(question) + "\n")
    assert desk(folder, "--no-serve").code == 0
    again = desk(None, "init", folder)
    assert again.code == 2 and again.errors == [
        f"error: {folder}: there is .gitignore already, nothing was written. Name an empty folder."
    ]
    assert desk(None, "init", path).errors == [f"error: {path}: this is a file. Name a folder."]


def test_the_option_for_the_workspace_stands_before_or_behind(runbooks, desk):
    answer = desk(None, "check", "runbooks", "--workspace", runbooks)
    assert answer.code == 0 and desk(runbooks, "check", "runbooks") == answer


def test_one_broken_collection_does_not_stop_the_others(runbooks, tiny, desk):
    root = tiny(["{"])
    for part in ("data", "labels"):
        (root / part / "tiny").rename(runbooks / part / "a-tiny")
    answer = desk(runbooks, "--no-serve")
    assert answer.code == 2 and "7 of 7" in answer.out
    assert answer.errors[0].startswith("error: data/a-tiny/corpus.jsonl:1: the line is not JSON")


def test_no_collection(tmp_path, desk):
    (tmp_path / "data").mkdir()
    answer = desk(tmp_path, "--no-serve")
    assert (answer.code, answer.err) == (
        2, "error: there is no collection in data. Make one: desk init DIR.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate"], ["nope"], ["--port", "0"],
        ["evaluate", "runbooks", "--k", "1,x"], ["evaluate", "runbooks", "--k", ""],
    ],
)  # fmt: skip
def test_wrong_usage(runbooks, desk, words):
    answer = desk(runbooks, *words)
    assert answer.code == 2 and answer.out == "" and "\nError: " in answer.err


@pytest.mark.parametrize("k", ["0", "1,-3", "10001", "100000000000"])
def test_a_k_that_no_ranking_has(runbooks, desk, k):
    answer = desk(runbooks, "evaluate", "runbooks", "-c", "sparse", "--k", k)
    assert (answer.code, answer.out, answer.err) == (
        2, "", "error: K needs whole numbers from 1 to 10000. For example --k 1,3,5.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["check", "nope"], 'there is no collection "nope". Collections here: runbooks. A '
         "collection is a folder data/<name> with a collection.toml."),
        (["executions", "nope"], 'there is no collection "nope". Collections here: runbooks. A '
         "collection is a folder data/<name> with a collection.toml."),
        (["evaluate", "runbooks", "-c", "x"], "data/runbooks/collection.toml: the collection "
         'runbooks has no configuration "x". Configurations there: dense, sparse, hybrid.'),
        (["evaluate", "runbooks", "--split", "x"],
         "no question has the split x. Splits here: development."),
        (["compare", "a", "b"], "there is no execution yet. Make one: desk evaluate COLLECTION."),
    ],
)  # fmt: skip
def test_unknown_names(runbooks, desk, words, sentence):
    answer = desk(runbooks, *words)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {sentence}\n")
    assert not (runbooks / "data/desk.duckdb").exists()


@pytest.fixture
def stored(evaluated):
    """The runbooks with a store; returns its path."""
    return Workspace.at(evaluated).store_path


def test_a_store_that_another_process_holds(runbooks, stored, desk, start, monkeypatch):
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.2)
    hold = f"import duckdb, time\nc = duckdb.connect({str(stored)!r})\nprint(flush=True)\n"
    holder = start(["-c", hold + "time.sleep(60)"])
    holder.stdout.readline()
    for words in (["executions"], ["evaluate", "runbooks"], ["compare", "sparse", "sparse"]):
        answer = desk(runbooks, *words)
        assert answer.code == 2 and len(answer.err.splitlines()) == 1
        assert f"error: data/desk.duckdb: process {holder.pid} (" in answer.err
        assert "Wait for it to end or stop it, then try again." in answer.err


def test_a_store_that_is_no_store(runbooks, stored, desk_run):
    stored.write_bytes(b"no store" * 5000)
    answer = desk_run(runbooks, "executions")
    assert (answer.code, answer.errors[0][:57]) == (
        2, "error: data/desk.duckdb: the file is not a readable store"
    )  # fmt: skip


def test_a_store_of_a_newer_program(runbooks, stored, desk_run):
    with duckdb.connect(str(stored)) as connection:
        connection.execute("insert into schema_version values (7)")
    answer = desk_run(runbooks, "executions")
    assert (answer.code, answer.err) == (
        2,
        "error: data/desk.duckdb: the store was written by a newer version of this program "
        "(schema 7). Update: pip install --upgrade relevance-desk.\n",
    )


def test_what_nobody_expected_goes_to_the_log(runbooks, desk, monkeypatch):
    def broken(*words, **more):
        raise RuntimeError("boom")

    monkeypatch.setattr("app.commands.evaluation.evaluate", broken)
    answer = desk(runbooks, "evaluate", "runbooks")
    assert (answer.code, answer.err) == (
        2, "error: unexpected RuntimeError: boom. See data/desk.log.\n"
    )  # fmt: skip
    log = runbooks / "data/desk.log"
    assert "Traceback (most recent call last)" in log.read_text()
    log.unlink()
    answer = desk(None, "evaluate", "runbooks", "--workspace", runbooks)
    assert answer.code == 2 and "RuntimeError: boom" in log.read_text()


def test_a_folder_in_the_place_of_a_file(runbooks, desk_run):
    path = runbooks / "labels/runbooks/questions.jsonl"
    path.unlink()
    path.mkdir()
    answer = desk_run(runbooks, "evaluate", "runbooks")
    assert (answer.code, answer.err) == (
        2,
        "error: labels/runbooks/questions.jsonl: the file cannot be read: Is a directory. Put a "
        "readable file of JSON lines there.\n",
    )


def test_a_log_that_is_named_is_there(runbooks, desk):
    (runbooks / "data/desk.duckdb").mkdir()
    answer = desk(runbooks, "evaluate", "runbooks", "-c", "sparse")
    assert answer.code == 2 and "data/desk.log has the details" in answer.err
    assert "Is a directory" in (runbooks / "data/desk.log").read_text()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_a_terminal_that_cannot_show_every_character(tiny, collection_of, desk_run, encoding):
    root = tiny({"größe": "apple"}, {"質問": "apple?"}, [("質問", "größe", 2)])
    index(collection_of(root))
    answer = desk_run(root, "evaluate", "tiny", "--json", PYTHONIOENCODING=encoding)
    assert (answer.code, answer.err) == (0, "")
    if encoding == "utf-8":
        assert answer.json["executions"][0]["questions"][0]["question"] == "質問"

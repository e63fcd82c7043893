"""Imports, exports and the store under odd circumstances: cut short, twice at once, moved away."""

import json
import subprocess
import threading

import duckdb
import openpyxl
import pytest

from app.core.errors import DeskError, StoreError
from app.core.model import ChunkKey
from app.engines import executions
from app.engines.store import Store
from app.flows.comparing import compare
from app.flows.evaluating import evaluate, rescore
from app.flows.exchange.execution_files import export_execution, import_execution
from app.flows.exchange.labels import import_labels
from app.flows.exchange.runs import import_run
from app.flows.loading import load
from app.workspace import Workspace

RUN = "q1 Q0 apple 1 2 mine\nq1 Q0 pear 2 1 mine\nq2 Q0 plum 1 2 mine\n"


def store_of(root):
    return Store.at(Workspace.at(root).store_path)


def test_a_trailing_blank_leaves_no_question_out(indexed, collection_of, edit):
    root = indexed()
    (one,) = evaluate(collection_of(root))
    edit(root / "labels/tiny/questions.jsonl", "pruned?", "pruned? ")
    again = rescore(load(collection_of(root)), one.execution, [1, 3])
    assert [q.question for q in again.scored.asked] == ["q1", "q2"] and again.notices == ()


def test_a_run_imported_twice_is_one_execution(tiny, desk, tmp_path):
    root = tiny()
    (tmp_path / "my.run").write_text(RUN)
    words = ("import", "tiny", "run", tmp_path / "my.run")
    assert "3 new" in desk(root, *words).out
    again = desk(root, *words)
    assert "0 new, 3 there already" in again.out and "MRR" in again.out
    assert len(desk(root, "executions", "--json").json["executions"]) == 1
    assert "3 new" in desk(root, *words, "--name", "other").out


def test_labels_that_are_refused_keep_a_run_out(tiny, desk, tmp_path):
    root = tiny(labels=[("q9", "apple", 2)])
    (tmp_path / "my.run").write_text(RUN)
    assert desk(root, "import", "tiny", "run", tmp_path / "my.run").code == 2
    assert not (root / "data/desk.duckdb").exists()


def test_the_name_of_a_configuration_is_taken(tiny, desk, tmp_path):
    (tmp_path / "my.run").write_text(RUN)
    answer = desk(tiny(), "import", "tiny", "run", tmp_path / "my.run", "--name", "sparse")
    assert answer.code == 2 and "a configuration called sparse itself" in answer.errors[0]


def test_threads_that_write_at_once_give_every_row_its_own_number(tiny, tmp_path):
    root = tiny()
    for number in range(6):
        (tmp_path / f"r{number}.run").write_text(RUN.replace("mine", f"run{number}"))

    def take(number):
        import_run(Workspace.at(root).collection("tiny"), tmp_path / f"r{number}.run")

    threads = [threading.Thread(target=take, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with duckdb.connect(str(store_of(root).path)) as connection:
        for table, column in (("executions", "execution_ref"), ("chunks", "chunk_ref")):
            sql = f"select count(*), count(distinct {column}) from {table}"
            rows, distinct = connection.execute(sql).fetchone()
            assert rows == distinct
        assert connection.execute("select count(*) from executions").fetchone() == (6,)


def test_an_execution_that_comes_in_twice_at_once_is_there_once(indexed, collection_of, tmp_path):
    root = indexed()
    (one,) = evaluate(collection_of(root))
    path = tmp_path / "one.parquet"
    export_execution(store_of(root), one.execution.id, path)
    store_of(root).path.unlink()
    results = []

    def take():
        try:
            results.append(import_execution(collection_of(root), path).new)
        except DeskError as error:
            results.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and sum(result not in (0,) for result in results) >= 1
    (there,) = executions.listed(store_of(root))
    assert there.id == one.execution.id and len(executions.rankings(store_of(root), there)[0]) == 2


def test_texts_stay_out_of_a_store_that_may_not_retain_them(indexed, collection_of, edit, tmp_path):
    root = indexed()
    (one,) = evaluate(collection_of(root))
    path = tmp_path / "one.json"
    export_execution(store_of(root), one.execution.id, path)
    assert "pruning" in path.read_text()
    store_of(root).path.unlink()
    edit(root / "data/tiny/collection.toml", "format = 1", "format = 1\nretain_text = false")
    import_execution(collection_of(root), path)
    with duckdb.connect(str(store_of(root).path)) as connection:
        assert connection.execute("select count(*) from texts").fetchone() == (0,)


def test_a_grade_given_while_a_file_was_read_is_not_overridden(
    tiny, collection_of, tmp_path, monkeypatch
):
    root = tiny(labels=[])
    (tmp_path / "l.csv").write_text("question,chunk,grade,reviewer\nq1,apple,0,ann\n")
    collection = collection_of(root)
    given = {
        "format": 1, "event": "live", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
        "kind": "grade", "question": "q1", "chunk": ["apple", "as-is-v1", "apple"], "grade": 2,
    }  # fmt: skip

    def meanwhile(*words, **more):
        collection.ledger.append("ann.jsonl", given)

    monkeypatch.setattr("app.flows.exchange.labels._try", meanwhile)
    found = import_labels(collection, tmp_path / "l.csv")
    assert (found.new, found.known) == (0, 1)
    labels = load(collection_of(root)).labels
    assert labels.pairs["q1", ChunkKey("apple", "as-is-v1", "apple")].grade == 2


def test_a_store_that_was_moved_away_is_made_anew(indexed, collection_of):
    root = indexed()
    for _ in range(5):
        evaluate(collection_of(root))
        assert len(executions.listed(store_of(root))) == 1
        store_of(root).path.unlink()


def test_a_failed_statement_is_told_as_it_is(tiny):
    store = store_of(tiny())
    with (
        pytest.raises(StoreError, match="Binder Error"),
        store.work() as unit,
        unit.transaction(),
    ):
        unit.run("hits_add", {"collection": "c", "execution": "e"}, [{"wrong": 1}])


def test_evidence_of_an_execution_that_is_gone_is_a_sentence(indexed, collection_of, desk):
    root = indexed()
    (one,) = evaluate(collection_of(root))
    assert desk(root, "delete", one.execution.id, "--yes").code == 0
    with pytest.raises(DeskError, match="is gone"):
        _ = one.scored.questions[0].ranking


@pytest.mark.parametrize("name", ["desk.duckdb", "desk.log", "-x", "A"])
def test_names_of_the_store_are_no_names_of_collections(tmp_path, desk, name):
    (tmp_path / "data").mkdir()
    (tmp_path / "c.jsonl").write_text('{"id":"a","text":"b"}\n')
    answer = desk(tmp_path, "import", "--", name, "corpus", tmp_path / "c.jsonl")
    assert answer.code == 2 and [p.name for p in (tmp_path / "data").iterdir()] in (
        [],
        ["desk.log"],
    )


def test_an_import_that_was_cut_short_can_be_made_again(tmp_path, desk, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "c.jsonl").write_text('{"id":"a","text":"b"}\n')
    words = (tmp_path, "import", "docs", "corpus", tmp_path / "c.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("app.flows.exchange.corpora.read_settings", lambda *words: 1 / 0)
        assert desk(*words).code == 2
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["desk.log"]
    assert desk(*words).code == 0


def test_beir_writes_over_no_labels(tmp_path, desk):
    (tmp_path / "data").mkdir()
    kept = tmp_path / "labels/docs/judgments/imported.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text("precious\n")
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id":"a","title":"","text":"b"}\n')
    (folder / "queries.jsonl").write_text('{"_id":"q","text":"b?"}\n')
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    answer = desk(tmp_path, "import", "docs", "beir", folder)
    assert answer.code == 2 and "there are labels of docs already" in answer.errors[0]
    assert kept.read_text() == "precious\n" and not (tmp_path / "data/docs").exists()
    assert desk(tmp_path, "import", "other", "beir", folder).code == 0


def test_formulas_that_were_never_computed_are_told(tiny, desk, tmp_path):
    book = openpyxl.Workbook()
    for row in (["id", "text"], ["q7", '="Is " & "it?"']):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    answer = desk(tiny(), "import", "tiny", "questions", tmp_path / "q.xlsx")
    assert answer.code == 2 and "the cell B2 holds a formula" in answer.errors[0]


@pytest.mark.parametrize(
    ("kind", "option"),
    [("run", "--grades=1=1"), ("questions", "--reviewer=x"), ("labels", "--order=score"),
     ("execution", "--name=x"), ("corpus", "--update")],
)  # fmt: skip
def test_options_of_other_kinds_are_refused(tiny, desk, tmp_path, kind, option):
    (tmp_path / "x.jsonl").write_text("{}\n")
    answer = desk(tiny(), "import", "tiny", kind, tmp_path / "x.jsonl", option)
    assert answer.code == 2
    assert f"{option.partition('=')[0]} means nothing for {kind}" in answer.errors[0]


def test_what_is_exported_is_never_the_workspace_itself(tiny, desk):
    assert "this is a folder" in desk(tiny(), "export", "tiny", "labels", ".").errors[0]


def test_a_bare_workspace_needs_no_collection(tmp_path, desk):
    root = tmp_path / "bare"
    assert desk(None, "init", root, "--bare").code == 0
    (tmp_path / "c.jsonl").write_text('{"id":"a","text":"b"}\n')
    assert desk(root, "import", "docs", "corpus", tmp_path / "c.jsonl").code == 0
    assert desk(root, "--no-serve").code == 2  # no question yet
    assert "docs" in desk(root, "check", "docs").out


def test_ranges_are_compared_as_ranges(indexed, collection_of, desk, tmp_path):
    root = indexed(labels=(("q1", "apple", 2), ("q2", "plum", 2)))
    evaluate(collection_of(root))
    (tmp_path / "my.run").write_text(RUN)
    desk(root, "import", "tiny", "run", tmp_path / "my.run")
    table = desk(root, "compare", "sparse", "mine").out
    assert any("-" in cell for cell in table.split() if cell[:2] == "0.")
    found = compare(Workspace.at(root), "sparse", "mine")
    assert any(delta.undecided for delta in found.deltas)


def test_a_question_of_two_splits_is_held_out(tmp_path, desk):
    (tmp_path / "data").mkdir()
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id":"a","title":"","text":"b"}\n')
    (folder / "queries.jsonl").write_text('{"_id":"q1","text":"b?"}\n{"_id":"q2","text":"c?"}\n')
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels/dev.tsv").write_text(f"{head}q1\ta\t1\nq2\ta\t1\n")
    (folder / "qrels/test.tsv").write_text(f"{head}q1\ta\t1\n")
    assert desk(tmp_path, "import", "docs", "beir", folder).code == 0
    lines = (tmp_path / "labels/docs/questions.jsonl").read_text().splitlines()
    splits = {one["id"]: one.get("split", "development") for one in map(json.loads, lines)}
    assert splits == {"q1": "held-out", "q2": "development"}


def test_publishing_takes_nothing_but_labels(runbooks, desk, git_settings):
    def git(*words):
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        return subprocess.run(
            ["git", *identity, "-C", str(runbooks), *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    git("init", "-q")
    git("config", "user.name", "Ann")
    git("config", "user.email", "ann@example.org")
    for name in (".env", ".DS_Store", "questions.jsonl~", "judgments/ana.jsonl.orig"):
        (runbooks / "labels/runbooks" / name).write_text("secret")
    assert desk(runbooks, "labels", "publish", "runbooks").code == 0
    files = git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert "labels/runbooks/questions.jsonl" in files
    assert not [name for name in files if not name.endswith((".jsonl", ".md"))]

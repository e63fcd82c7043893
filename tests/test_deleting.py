"""`desk delete`: executions go with all that only they needed, and nothing else changes."""

import os
import pty
import shutil
import signal
import subprocess
import sys

import duckdb
import pytest

from app.engines import store as store_module
from app.engines import upkeep
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.upkeep import deleting
from app.workspace import Workspace
from tests.conftest import DESK, surroundings

#: All there is of every execution, by names instead of numbers.
EXPORT = """
select
    executions.* exclude (execution_ref, corpus_ref),
    (select list_sort(list((text_hash, title, section, document, version, chunk)))
     from corpus_chunks join chunks using (chunk_ref)
     where corpus_chunks.corpus_ref = executions.corpus_ref) as corpus,
    (select list_sort(list((question, asked.text, failure)))
     from execution_questions as asked join questions using (question_ref)
     where asked.execution_ref = executions.execution_ref) as asked,
    (select list_sort(list((question, rank, document, version, chunk, score)))
     from hits join questions using (question_ref) join chunks using (chunk_ref)
     where hits.execution_ref = executions.execution_ref) as hits,
    (select list_sort(list((revision, hash, question, k, outcome, ndcg, bounds::varchar)))
     from scores join questions using (question_ref) join label_sets using (label_ref)
     join scorings using (scoring_ref)
     where scores.execution_ref = executions.execution_ref) as scores,
    (select list_sort(list((revision, question, document, chunk, state, low, high)))
     from label_pairs join label_sets using (label_ref) join questions using (question_ref)
     join chunks using (chunk_ref)
     where label_ref in (
         select label_ref from scorings_done
         where scorings_done.execution_ref = executions.execution_ref)) as labels
from executions order by execution
"""
KILLED = """
import os, sys
from pathlib import Path
from app.engines import upkeep
from app.engines.store import Store, Unit
at, path, ids = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
def dying(method):
    def run(unit, name, *words):
        found = method(unit, name, *words)
        if name == at:
            os.kill(os.getpid(), 9)
        return found
    return run
Unit.run, Unit.rows = dying(Unit.run), dying(Unit.rows)
if at == "committed":
    upkeep.room = lambda unit: os.kill(os.getpid(), 9)
upkeep.delete_executions(Store.at(path), ids)
"""


@pytest.fixture
def path(runbooks):
    return runbooks / "data/desk.duckdb"


@pytest.fixture(scope="module")
def revised(another_runbooks):
    """Two corpus revisions with executions, made once; their ids."""
    root = another_runbooks("deleting")
    found = evaluate(Workspace.at(root).collection("runbooks"), ["sparse"])
    source = root / "data/runbooks/corpus/worker-shutdown.md"
    source.write_text(source.read_text() + "\n## More\n\nA text that only this revision has.\n")
    index(Workspace.at(root).collection("runbooks"))
    found += evaluate(Workspace.at(root).collection("runbooks"), ["dense", "sparse"])
    return root, [one.execution.id for one in reversed(found)]


@pytest.fixture
def ids(runbooks, revised):
    """Executions of two corpus revisions, the newer ones first: sparse, dense, and older sparse."""
    root, found = revised
    shutil.copytree(root, runbooks, dirs_exist_ok=True)
    return list(found)


def export(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute(EXPORT).fetchall()
    assert all(all(part for part in row[-5:]) for row in rows)
    return {row[0]: row for row in rows}


def content(path):
    with Store(path).look() as unit:
        return upkeep.tables(unit)


def rows_of(path):
    return {name: table.rows for name, table in content(path).items()}


def is_sound(desk, root):
    answer = desk(root, "doctor", "--json")
    return [one for one in answer.json["findings"] if one["level"] == "error"] == []


def test_one_goes_and_the_others_are_as_they_were(runbooks, desk, ids, path):
    before, counted = export(path), rows_of(path)
    answer = desk(runbooks, "delete", ids[0][:6], "--yes")
    assert answer.code == 0 and answer.err == ""
    header, _, line, told, *rest = answer.out.splitlines()
    assert header.split() == ["execution", "collection", "configuration", "status", "started",
                              "questions", "hits", "scores"]  # fmt: skip
    assert line.split()[:4] == [ids[0], "runbooks", "sparse", "complete"]
    assert line.split()[5] == "9" and told == "Deleted 1 execution."
    assert export(path) == {name: row for name, row in before.items() if name != ids[0]}
    after = rows_of(path)
    assert after["hits"] == counted["hits"] - int(line.split()[6])
    assert after["scores"] == counted["scores"] - int(line.split()[7])
    assert {n for n in after if after[n] != counted[n]} == {
        "executions", "execution_questions", "hits", "scores", "scorings_done",
    }  # fmt: skip
    assert is_sound(desk, runbooks)


def test_what_only_a_corpus_revision_had_goes_with_its_last_execution(runbooks, desk, ids, path):
    before = export(path)
    answer = desk(runbooks, "delete", *ids[:2], "--yes")
    assert "Deleted 2 executions." in answer.out and "1 corpus revision, 1 text, " in answer.out
    assert export(path) == {ids[2]: before[ids[2]]}
    with duckdb.connect(str(path), read_only=True) as connection:
        texts = connection.execute("select text from texts").fetchall()
    assert len(texts) == 7 and not any("only this revision" in text for (text,) in texts)
    assert is_sound(desk, runbooks)


def test_with_the_last_execution_everything_goes(runbooks, desk, ids, path, collection_of):
    assert desk(runbooks, "delete", *ids, ids[0], "--yes").code == 0
    assert {name for name, rows in rows_of(path).items() if rows} == {"schema_version"}
    again = evaluate(collection_of(runbooks), ["sparse"])[0]
    assert list(export(path)) == [again.execution.id] and is_sound(desk, runbooks)


def test_the_newest_label_set_stays_while_there_are_executions(runbooks, desk, ids, path):
    """Another process may be about to store scores under it."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("delete from scores")
        connection.execute("delete from scorings_done")
        newest = connection.execute("select max(label_ref) from label_sets").fetchone()
    desk(runbooks, "delete", ids[0], "--yes")
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("select label_ref from label_sets").fetchall() == [newest]


@pytest.mark.parametrize("name", ["sparse", "none", "", "SPARSE", "%"])
def test_only_ids_are_names(runbooks, desk, ids, path, name):
    before = content(path)
    answer = desk(runbooks, "delete", ids[0], name, "--yes")
    assert answer.code == 2 and answer.out == ""
    assert answer.errors == [
        f'error: there is no execution "{name}". See their ids: desk executions.'
    ]
    assert content(path) == before


def test_a_beginning_of_two_is_refused(runbooks, desk, ids, path):
    with duckdb.connect(str(path)) as connection:
        for n, name in enumerate(ids):
            words = [f"ab{n}" if n else "ab", name]
            connection.execute("update executions set execution = ? where execution = ?", words)
    answer = desk(runbooks, "delete", "a", "--yes")
    assert answer.errors == ['error: 3 executions begin with "a". See their ids: desk executions.']
    assert "Deleted 1 execution." in desk(runbooks, "delete", "ab", "--yes").out
    assert set(export(path)) == {"ab1", "ab2"}


def test_without_a_store_there_is_none(runbooks, desk, path):
    assert desk(runbooks, "delete", "abc", "--yes").code == 2
    assert not path.exists()


def test_a_dry_run_and_a_pipe_delete_nothing(runbooks, desk, ids, path):
    before = content(path)
    answer = desk(runbooks, "delete", ids[0], "--dry-run")
    assert answer.code == 0 and ids[0] in answer.out and "Nothing was deleted." in answer.out
    refused = desk(runbooks, "delete", ids[0])
    assert refused.code == 2
    assert refused.errors == ["error: nothing was deleted: nobody can be asked. Add --yes."]
    assert content(path) == before


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 3), (b"\n", 3), (b"y\n", 2)])
def test_on_a_terminal_it_asks(runbooks, ids, path, answer, left):
    leader, follower = pty.openpty()
    words = [sys.executable, *DESK[1:], "--workspace", str(runbooks), "delete", ids[0]]
    process = subprocess.Popen(
        words, stdin=follower, stdout=subprocess.PIPE, env=surroundings({}), text=True
    )
    os.write(leader, answer)
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    assert process.returncode == 0 and "Delete for good?" in out
    assert ("Nothing was deleted." in out) is (left == 3) and len(export(path)) == left


def test_another_process_holds_the_store(runbooks, desk, ids, path, start, monkeypatch):
    script = "import duckdb, sys, time\nc = duckdb.connect(sys.argv[1])\nprint(1, flush=True)\n"
    before = content(path)
    found = deleting.find(Workspace.at(runbooks), ids[:1])
    holder = start(["-c", f"{script}time.sleep(60)", str(path)])
    holder.stdout.readline()
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.3)
    assert f"process {holder.pid} (" in desk(runbooks, "delete", found[0].id, "--yes").err
    holder.kill()
    holder.wait()
    assert content(path) == before


@pytest.mark.parametrize("at", [*upkeep._OWNED, *upkeep._SHARED])
def test_killed_inside_all_is_as_it_was(runbooks, desk, ids, path, start, at):
    before = content(path)
    assert start(["-c", KILLED, at, str(path), *ids]).wait(60) == -signal.SIGKILL
    assert content(path) == before and is_sound(desk, runbooks)


@pytest.mark.parametrize("at", ["store_checkpoint", "committed"])
def test_killed_after_the_transaction_all_is_done(runbooks, desk, ids, path, start, at):
    before = export(path)
    assert start(["-c", KILLED, at, str(path), *ids[:2]]).wait(60) == -signal.SIGKILL
    assert export(path) == {ids[2]: before[ids[2]]} and is_sound(desk, runbooks)


def test_every_table_that_points_to_another_is_looked_after():
    """A table that a later schema adds must be thought of here."""
    owned = {name.removeprefix("delete_") for name in upkeep._OWNED}
    sql = {
        name: store_module.statement(name)
        for name in ("integrity_refs", *upkeep._SHARED)
    }  # fmt: skip
    with duckdb.connect() as connection:
        for text in store_module.migrations():
            connection.execute(text)
        columns = connection.execute(
            "select table_name, column_name from duckdb_columns() where column_name like '%_ref'"
        ).fetchall()
    owner = {
        "execution_ref": "executions", "question_ref": "questions", "chunk_ref": "chunks",
        "corpus_ref": "corpora", "label_ref": "label_sets", "scoring_ref": "scorings",
    }  # fmt: skip
    for table, column in columns:
        if owner[column] == table:
            continue
        assert f"from {table} anti join {owner[column]} using ({column})" in sql["integrity_refs"]
        if column == "execution_ref":
            assert table in owned
        elif column != "label_ref" and (table, column) != ("corpus_chunks", "corpus_ref"):
            assert f"from {table})" in sql[f"unneeded_{owner[column]}"]

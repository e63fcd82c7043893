"""`desk doctor`: whatever the state of workspace and store, it reports and changes nothing."""

import hashlib
import json
import os
import shutil
import signal
import tempfile
from importlib import metadata
from pathlib import Path

import duckdb
import pytest

from app.core.judgments import now
from app.engines.store_errors import Holder
from app.flows.progress import marked
from app.flows.upkeep import doctor, doctor_store

HOLD = (
    "import duckdb, sys, time\n"
    "connection = duckdb.connect(sys.argv[1])\n"
    "connection.execute('insert into texts values (1, 2)')\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)
#: Examines a folder as somebody who may only read, also where the tests run as root.
READER = """
import os, sys
from pathlib import Path
from app.flows.upkeep import doctor
doctor.examine(Path(sys.argv[1]))  # all that is imported late is there now
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534)
    os.setuid(65534)
found = doctor.examine(Path(sys.argv[1]))
try:
    (Path(sys.argv[1]) / "data" / "written").touch()
except PermissionError:
    print(doctor.as_text(found))
"""


@pytest.fixture
def path(evaluated):
    return evaluated / "data/desk.duckdb"


@pytest.fixture
def examined(desk):
    """The findings of one level as sentences; makes sure that looking changes nothing."""

    def run(root, level, code):
        before = state(root)
        answer = desk(root, "doctor", "--json")
        assert state(root) == before and answer.code == code
        assert (answer.json["ok"], answer.json["format"]) == (code == 0, 1)
        return [
            f"{one['place']}: {one['message']}. {one['remedy']}"
            for one in answer.json["findings"] if one["level"] == level
        ]  # fmt: skip

    return run


def state(root):
    """Every file with its content and its time."""
    return {
        path: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).digest())
        for path in root.rglob("*") if path.is_file()
    } | {path: None for path in root.rglob("*") if path.is_dir()}  # fmt: skip


def run_sql(path, *statements):
    with duckdb.connect(str(path)) as connection:
        for sql in statements:
            connection.execute(sql)


def test_all_is_well(evaluated, desk, examined):
    assert examined(evaluated, "warning", 0) == []
    answer = desk(evaluated, "doctor")
    assert answer.code == 0 and answer.out.endswith("All is well.\n")
    assert f"duckdb {duckdb.__version__}, " in answer.out
    assert "data/desk.duckdb: 3 executions: 3 complete." in answer.out
    assert "data/runbooks/vectors: indexed for dense, sparse, hybrid." in answer.out
    versions = desk(evaluated, "doctor", "--json").json["versions"]
    assert versions["duckdb"] == duckdb.__version__ and versions["python"].startswith("3.")
    assert all(versions.values()) and {"streamlit", "qdrant-client", "pandas"} <= versions.keys()


def test_without_a_store(runbooks, examined):
    found = examined(runbooks, "ok", 0)
    assert "data/desk.duckdb: there is no store yet; desk evaluate makes it. " in found
    assert not (runbooks / "data/desk.duckdb").exists()


def test_without_a_workspace(tmp_path, desk):
    answer = desk(tmp_path, "doctor")
    assert answer.code == 1 and "there is no workspace here (no folder data)" in answer.out
    assert answer.out.startswith("program:\n  ok       relevance-desk ")
    assert answer.out.endswith("1 error.\n") and list(tmp_path.iterdir()) == []


def test_a_workspace_without_collections(tmp_path, examined):
    (tmp_path / "data").mkdir()
    (tmp_path / "labels/lost").mkdir(parents=True)
    there, labels = examined(tmp_path, "warning", 0)
    assert there == "data: there is no collection. Make a workspace: desk init DIR"
    assert labels.startswith("labels/lost: labels of a collection that is not there. Put ")


def test_a_package_that_is_missing(runbooks, examined, monkeypatch):
    version = metadata.version

    def found(name):
        if name == "tokenizers":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor.metadata, "version", found)
    (error,) = examined(runbooks, "error", 1)
    assert error.startswith(": tokenizers is not installed. Install it again: pip install ")


def test_another_process_has_the_store_open(evaluated, examined, path, start, monkeypatch):
    monkeypatch.setattr(doctor_store, "_WAIT", 0.2)
    holder = start(["-c", HOLD, str(path)])
    assert holder.stdout.readline() == "held\n"
    (warning,) = examined(evaluated, "warning", 0)
    assert warning.startswith(f"data/desk.duckdb: process {holder.pid} (")
    assert "which is running, has the store open; it was not looked into" in warning
    if os.path.isdir("/proc/self"):
        assert "import duckdb, sys, time" in warning  # the words it was started with
    holder.kill()
    assert holder.wait() == -signal.SIGKILL
    (left,) = examined(evaluated, "warning", 0)
    assert left == (
        "data/desk.duckdb.wal: changes by a process that was ended before it could put them into "
        "the store's file. Leave the file there: the next command takes them in"
    )


def test_a_holder_that_does_not_run_here(start):
    gone = start(["-c", ""])
    gone.wait()
    found = doctor_store._held(Holder(gone.pid, "python3"))
    assert found.level == "warning"
    assert f"process {gone.pid} (python3), which is not running on this machine" in str(
        found.problem
    )
    assert "another process has the store open" in str(doctor_store._held(None).problem)


def broken(path):
    path.write_bytes(b"something else entirely" * 1000)


def overwritten(path):
    raw = bytearray(path.read_bytes())
    raw[12288:] = b"\xa5" * (len(raw) - 12288)
    path.write_bytes(raw)


def newer(path):
    run_sql(path, "insert into schema_version values (99)")


def foreign(path):
    path.unlink()
    run_sql(path, "create table theirs as select 1 as a")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (broken, "data/desk.duckdb: the file is not a readable store. Put a backup in its place"),
        (overwritten, "data/desk.duckdb: the file is not a readable store. Put a backup in its pl"),
        (newer, "data/desk.duckdb: a newer version of this program wrote the store (schema 99, "),
        (foreign, "data/desk.duckdb: the file is a DuckDB file, but not a store of this program"),
    ],
)
def test_a_store_that_cannot_be_used(evaluated, path, examined, damage, words):
    damage(path)
    (error,) = examined(evaluated, "error", 1)
    assert error.startswith(words)


def test_a_folder_in_the_place_of_the_store(runbooks, examined):
    (runbooks / "data/desk.duckdb").mkdir()
    (error,) = examined(runbooks, "error", 1)
    assert error.startswith("data/desk.duckdb: the store failed: ")


def test_a_store_without_tables(runbooks, examined, desk):
    path = runbooks / "data/desk.duckdb"
    run_sql(path)
    assert any("the store is empty" in one for one in examined(runbooks, "ok", 0))
    path.unlink()
    path.with_name("desk.duckdb.wal").write_text("left")
    (warning,) = examined(runbooks, "warning", 0)
    assert warning.startswith("data/desk.duckdb.wal: changes to a store that is not there; ")


def test_a_store_of_an_older_program(evaluated, path, examined, monkeypatch):
    known = doctor_store.migrations()
    monkeypatch.setattr(doctor_store, "migrations", lambda: [*known, "create table more (a int)"])
    shutil.copy(path, path.with_name("desk.duckdb.before-1"))
    found = "\n".join(examined(evaluated, "ok", 0))
    assert f"its schema is {len(known)}; the next command brings it to {len(known) + 1}" in found
    assert "data/desk.duckdb.before-1: a copy from before the schema changed, " in found


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("delete from questions where question_ref = 1", "hits: rows that point to nothing in qu"),
        ("delete from chunks where chunk_ref = 1", "hits: rows that point to nothing in chunks: "),
        ("delete from corpora", "executions: rows that point to nothing in corpora: 3. "),
        ("delete from label_sets", "scores: rows that point to nothing in label_sets: 81. "),
        ("delete from scorings", "scorings_done: rows that point to nothing in scorings: 3. "),
        ("delete from executions where execution_ref = 2", "hits: rows that point to nothing in "),
        ("insert into executions from executions limit 1", "executions: rows that are there more"),
        ("insert into texts from texts limit 2", "texts: rows that are there more than once: 2. "),
        ("insert into hits from hits", "hits: rows that are there more than once: "),
        ("delete from execution_questions where execution_ref = 1", " has no questions. "),
        ("delete from execution_questions where question_ref = 1", "hits for questions it does n"),
        ("delete from corpus_chunks", " of runbooks has no chunks. "),
    ],
)
def test_what_does_not_fit_together(evaluated, path, examined, sql, words):
    run_sql(path, sql)
    errors = examined(evaluated, "error", 1)
    assert any(words in one for one in errors), errors
    assert all("Put a backup in its place" in one for one in errors if "more like" not in one)


def test_executions_of_a_collection_that_is_gone(evaluated, examined):
    (evaluated / "data/runbooks").rename(evaluated / "data/books")
    warnings = examined(evaluated, "warning", 0)
    assert any('3 executions of "runbooks", a collection that' in one for one in warnings)


def test_work_under_way_and_work_cut_short(evaluated, examined, monkeypatch):
    running = evaluated / "data/.running"
    with marked(running, "Working"):
        (running / "left.json").write_text(
            json.dumps({"what": "Indexing x", "pid": 7, "started": now(), "kept": "Vectors stay"})
        )
        (running / "torn.json").write_text("{")
        (evaluated / ".desk-backup-1").mkdir()
        (evaluated / "data/desk.duckdb.compact-1").touch()
        first, second, *others = examined(evaluated, "warning", 0)
        assert any("Working, started" in one for one in examined(evaluated, "ok", 0))
    assert "by process 7, did not finish. Vectors stay. Run it again" in first
    assert "work that an earlier process began, did not finish. Run it again" in second
    assert [one.partition(":")[0] for one in others] == [
        ".desk-backup-1", "data/desk.duckdb.compact-1",
    ]  # fmt: skip


def test_little_room_on_the_disk(evaluated, examined, monkeypatch):
    usage = shutil.disk_usage(evaluated)._replace(free=1_500_000)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda path: usage)
    assert examined(evaluated, "warning", 0) == [
        "data: 1.5 MB free on the disk. Make room: desk prune, desk delete, or another disk"
    ]


def test_a_workspace_that_can_only_be_read(evaluated, start):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        root = Path(folder, "ws")
        shutil.copytree(evaluated, root)
        Path(folder).chmod(0o755)
        for one in sorted(root.rglob("*"), reverse=True):
            one.chmod(0o555 if one.is_dir() else 0o444)
        root.chmod(0o555)
        before = state(root)
        out, err = start(["-c", READER, str(root)]).communicate(timeout=60)
        assert state(root) == before
        for one in (root, *root.rglob("*")):
            one.chmod(0o755)
    assert out, err or "the folder could be written"
    assert "error    data: this cannot be written. Mend its permissions" in out
    assert "data/desk.duckdb: everything in it fits together." in out
    assert ".sqlite: 11 vectors, " in out and "indexed for dense, sparse, hybrid" in out

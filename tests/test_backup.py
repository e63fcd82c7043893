"""`desk backup`: what cannot be made again, whole or not at all, and put back for real."""

import hashlib
import json
import os
import re
import shutil
import signal
import threading
import time
from zipfile import ZipFile

import duckdb
import pytest

from app.core.errors import InvalidInput, StoreError
from app.engines import store as store_module
from app.engines.store import Store, Unit
from app.engines.upkeep import tables
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.upkeep import backup
from app.flows.upkeep.backup import back_up
from app.workspace import Workspace

HOLD = (
    "import duckdb, sys, time\n"
    "connection = duckdb.connect(sys.argv[1])\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)
LEDGER = "labels/runbooks/judgments/sample-reviewer.jsonl"


@pytest.fixture
def evaluated(evaluated):
    """The runbooks with three executions, and a lock file among the labels."""
    (evaluated / f"{LEDGER}.lock").touch()
    return evaluated


def listed(desk, root):
    return desk(root, "executions", "--json").json["executions"]


def left_over(root):
    return [path.name for path in root.rglob("*") if "backup" in path.name or path.suffix == ".zip"]


def restore(file, root):
    with ZipFile(file) as archive:
        archive.extractall(root, [n for n in archive.namelist() if n != "backup.json"])


def test_it_holds_what_cannot_be_made_again(evaluated, desk, tmp_path):
    file = tmp_path / "kept.zip"
    answer = desk(evaluated, "backup", file)
    assert answer.code == 0 and answer.err == ""
    with ZipFile(file) as archive:
        contents = json.loads(archive.read("backup.json"))
        raw = {name: archive.read(name) for name in archive.namelist() if name != "backup.json"}
    labels = {
        path.relative_to(evaluated).as_posix()
        for path in (evaluated / "labels").rglob("*") if path.is_file() and path.suffix != ".lock"
    }  # fmt: skip
    assert raw.keys() == {"data/desk.duckdb", "data/runbooks/collection.toml", *labels}
    assert raw[LEDGER] == (evaluated / LEDGER).read_bytes()
    assert contents["members"] == [
        {"name": name, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        for name, text in raw.items()
    ]
    assert contents["format"] == 1 and contents["schema"] >= 1
    assert contents["counts"]["store"]["executions"] == 3
    assert contents["counts"]["label_lines"] == raw[LEDGER].count(b"\n")
    assert "3 executions" in answer.out and "Not in it: source texts" in answer.out
    assert f"unzip -o {file} -x backup.json -d {evaluated}" in answer.out
    assert left_over(evaluated) == []


def test_the_name_is_the_time_unless_it_is_given(evaluated, desk):
    answer = desk(evaluated, "backup", "--json")
    (file,) = evaluated.glob("*.zip")
    assert re.fullmatch(r"desk-backup-\d{8}T\d{6}Z\.zip", file.name)
    assert answer.json["file"] == str(file) and answer.json["bytes"] == file.stat().st_size
    assert answer.json["format"] == 1 and answer.json["notices"] == []
    assert answer.json["counts"]["store"]["hits"] > 0


def test_a_backup_put_into_an_empty_workspace(evaluated, desk, collection_of, tmp_path):
    before, file, fresh = listed(desk, evaluated), tmp_path / "kept.zip", tmp_path / "fresh"
    assert desk(evaluated, "backup", file).code == 0
    shutil.copytree(evaluated / "data/runbooks/corpus", fresh / "data/runbooks/corpus")
    restore(file, fresh)
    examined = desk(fresh, "doctor")
    assert examined.code == 0 and "everything in it fits together" in examined.out
    assert listed(desk, fresh) == before
    index(collection_of(fresh))
    again = evaluate(collection_of(fresh), reuse=True)
    assert [one.execution.id for one in again] == [one["execution"] for one in reversed(before)]
    assert all(one.reused for one in again)


def test_a_backup_put_over_a_broken_workspace(evaluated, desk, tmp_path):
    before, file = listed(desk, evaluated), tmp_path / "kept.zip"
    desk(evaluated, "backup", file)
    (evaluated / "data/desk.duckdb").write_bytes(b"broken" * 5000)
    (evaluated / LEDGER).write_text("broken")
    assert desk(evaluated, "doctor").code == 1
    restore(file, evaluated)
    assert desk(evaluated, "doctor").code == 0
    assert listed(desk, evaluated) == before


def test_a_wal_of_the_store_before_is_named_and_can_be_moved_away(evaluated, desk, start, tmp_path):
    before, file, path = listed(desk, evaluated), tmp_path / "b.zip", evaluated / "data/desk.duckdb"
    desk(evaluated, "backup", file)
    script = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('delete from texts')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert start(["-c", script, str(path)]).wait(30) == -signal.SIGKILL
    wal = path.with_name("desk.duckdb.wal")
    assert wal.exists()
    restore(file, evaluated)
    for command in ("doctor", "executions"):
        answer = desk(evaluated, command)
        assert answer.code == {"doctor": 1, "executions": 2}[command]
        assert "data/desk.duckdb.wal: the file belongs to another store" in answer.out + answer.err
    wal.rename(tmp_path / "aside")
    assert desk(evaluated, "doctor").code == 0 and listed(desk, evaluated) == before


def test_the_copy_is_compact_and_the_same(evaluated, tmp_path):
    path = evaluated / "data/desk.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table filler as select range as a, sha256(range::varchar) as b "
            "from range(200000)"
        )
        connection.execute("create table after_it as select * from texts")
        connection.execute("checkpoint")
        connection.execute("drop table filler")
    made = back_up(Workspace.at(evaluated), tmp_path / "kept.zip")
    restore(made.path, tmp_path / "r")
    copy = tmp_path / "r/data/desk.duckdb"
    assert copy.stat().st_size < path.stat().st_size / 2
    with Store(copy).look() as one, Store(path).look() as other:
        assert tables(one) == tables(other)
    assert made.store.rows["after_it"] == 7


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("there.zip", "there is such a file already. Name another one, or add --force."),
        ("folder", "this is a folder. Name a file in it."),
        ("none/x.zip", "there is no such folder. Make it, or name another."),
        ("labels/x.zip", "a backup among the labels would be in the next backup."),
    ],
)
def test_places_that_are_refused(evaluated, desk, name, words):
    (evaluated / "there.zip").write_text("old")
    (evaluated / "folder").mkdir()
    answer = desk(evaluated, "backup", evaluated / name)
    assert answer.code == 2 and f"error: {evaluated / name}: {words}" in answer.err
    assert (evaluated / "there.zip").read_text() == "old" and left_over(evaluated) == ["there.zip"]


def test_a_file_that_is_there_is_replaced_when_told_to(evaluated, desk, tmp_path):
    file = tmp_path / "kept.zip"
    file.write_text("old")
    assert desk(evaluated, "backup", file, "--force").code == 0
    assert ZipFile(file).testzip() is None


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder nobody writes to")
def test_a_folder_that_cannot_be_written(evaluated, desk):
    answer = desk(evaluated, "backup", "/proc/kept.zip")
    assert answer.code == 2 and answer.out == ""
    assert answer.err.startswith("error: /proc/kept.zip: the backup cannot be written: ")


def test_a_store_that_another_process_holds(evaluated, desk, start, monkeypatch, tmp_path):
    holder = start(["-c", HOLD, str(evaluated / "data/desk.duckdb")])
    assert holder.stdout.readline() == "held\n"
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.3)
    answer = desk(evaluated, "backup", tmp_path / "kept.zip")
    assert answer.code == 2 and f"process {holder.pid} (" in answer.err
    assert left_over(tmp_path) == []


def test_a_store_that_cannot_be_read(evaluated, desk, tmp_path):
    (evaluated / "data/desk.duckdb").write_bytes(b"broken" * 5000)
    answer = desk(evaluated, "backup", tmp_path / "kept.zip")
    assert answer.code == 2 and "is not a readable store" in answer.err
    assert left_over(tmp_path) == []


def test_without_a_store_there_still_are_labels(runbooks, desk, tmp_path):
    answer = desk(runbooks, "backup", tmp_path / "kept.zip", "--json")
    assert answer.code == 0
    assert (answer.json["schema"], answer.json["counts"]["store"]) == (None, None)
    assert LEDGER in [member["name"] for member in answer.json["members"]]
    assert not (runbooks / "data/desk.duckdb").exists()
    assert "none yet" in desk(runbooks, "backup", tmp_path / "more.zip").out


def test_labels_behind_a_link(evaluated, desk, tmp_path):
    (evaluated / "labels").rename(tmp_path / "elsewhere")
    (evaluated / "labels").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(tmp_path / "elsewhere")
    members = desk(evaluated, "backup", tmp_path / "kept.zip", "--json").json["members"]
    assert [one["name"] for one in members].count(LEDGER) == 1


def test_a_last_line_that_is_not_whole_is_left_out_and_told(evaluated, desk, tmp_path):
    path, event = evaluated / LEDGER, b'{"format":1}'
    saved = path.read_bytes()
    path.write_bytes(saved + b'{"format":1,"ev')
    answer = desk(evaluated, "backup", tmp_path / "torn.zip")
    assert answer.notes == [
        f"note: {LEDGER}: the last line is not whole (15 bytes) and not in the backup. It was not "
        "confirmed as saved."
    ]
    path.write_bytes(saved + event)  # an editor leaves a last line so
    assert desk(evaluated, "backup", tmp_path / "whole.zip").notes == []
    with ZipFile(tmp_path / "torn.zip") as torn, ZipFile(tmp_path / "whole.zip") as whole:
        assert torn.read(LEDGER) == saved and whole.read(LEDGER) == saved + event


def test_labels_that_are_being_saved_are_whole_lines(evaluated, tmp_path):
    path, ended = evaluated / LEDGER, threading.Event()
    line = json.dumps({"format": 1, "note": "x" * 200}).encode() + b"\n"

    def save():
        """Slower than the product's one write, so that most reads meet half a line."""
        with path.open("ab", buffering=0) as file:
            while not ended.is_set():
                file.write(line[:100])
                time.sleep(0.002)
                file.write(line[100:])

    thread = threading.Thread(target=save)
    thread.start()
    try:
        made = [back_up(Workspace.at(evaluated), tmp_path / f"{n}.zip") for n in range(5)]
    finally:
        ended.set()
        thread.join()
    assert any(one.notices for one in made)
    for one in made:
        with ZipFile(one.path) as archive:
            raw = archive.read(LEDGER)
        assert raw.endswith(b"\n") and path.read_bytes().startswith(raw)


def test_a_copy_that_is_not_the_same_is_no_backup(evaluated, tmp_path, monkeypatch):
    run = Unit.run

    def damaged(unit, name, *words):
        run(unit, name, *words)
        if name == "store_copy":
            unit._cursor.execute("update copied.hits set score = 0 where rank = 1")

    monkeypatch.setattr(Unit, "run", damaged)
    with pytest.raises(StoreError, match="the copy does not hold what the store holds"):
        back_up(Workspace.at(evaluated), tmp_path / "kept.zip")
    assert left_over(tmp_path) == []


def test_a_file_that_does_not_read_as_written_is_no_backup(evaluated, tmp_path, monkeypatch):
    fsync = os.fsync

    def damaged(descriptor):
        os.pwrite(descriptor, b"\xff" * 64, 200)
        fsync(descriptor)

    monkeypatch.setattr(backup.os, "fsync", damaged)
    with pytest.raises(InvalidInput, match=r"data/desk\.duckdb does not read as it was written"):
        back_up(Workspace.at(evaluated), tmp_path / "kept.zip")
    assert list(tmp_path.glob("*.zip")) == []


def test_killed_before_it_is_whole(evaluated, start, desk):
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from app.flows.upkeep import backup\n"
        "from app.workspace import Workspace\n"
        "backup._verify = lambda *words: os.kill(os.getpid(), 9)\n"
        "backup.back_up(Workspace.at(Path(sys.argv[1])))\n"
    )
    assert start(["-c", script, str(evaluated)]).wait(60) == -signal.SIGKILL
    assert list(evaluated.glob("*.zip")) == []
    (folder,) = evaluated.glob(".desk-backup-*")
    assert f"{folder.name}: left by a backup that was cut short" in desk(evaluated, "doctor").out
    assert desk(evaluated, "backup").code == 0 and len(list(evaluated.glob("*.zip"))) == 1

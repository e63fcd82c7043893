"""`desk delete --compact`: a smaller file takes the store's place, and nobody loses anything."""

import os
import shutil
import signal
import threading

import duckdb
import pytest

from app.core.errors import StoreError
from app.engines import executions, upkeep
from app.engines import store as store_module
from app.engines.store import Store, Unit
from app.flows.evaluating import evaluate

AGAIN = """
import sys
from pathlib import Path
from app.flows.evaluating import evaluate
from app.workspace import Workspace
collection = Workspace.at(Path(sys.argv[1])).collection("runbooks")
while True:
    print(evaluate(collection, ["sparse"])[0].execution.id, flush=True)
"""
KILLED = """
import os, sys
from pathlib import Path
from app.engines import upkeep
from app.engines.store import Store
take = upkeep._take_place
def dying(beside, path):
    if sys.argv[1] == "after":
        take(beside, path)
    os.kill(os.getpid(), 9)
upkeep._take_place = dying
upkeep.compact(Store.at(Path(sys.argv[2])))
"""


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """A store with room inside: much was in it, and a little behind that is left."""
    path = tmp_path_factory.mktemp("roomy") / "data/desk.duckdb"
    add(path, *(f"question {n}" for n in range(50_000)))
    add(path, "last")
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table filler as select sha256(range::varchar) from range(99999)")
        connection.execute("checkpoint")
        connection.execute("create table behind as select random() from range(9999)")
        connection.execute("checkpoint")
        connection.execute("drop table filler")
    return path


@pytest.fixture
def path(roomy, tmp_path):
    """A copy of such a store."""
    shutil.copytree(roomy.parent, tmp_path / "data")
    return tmp_path / "data/desk.duckdb"


def add(path, *names):
    with Store(path).work() as unit:
        unit.run("questions_add", {"collection": "c"}, [{"question": name} for name in names])


def content(path):
    with Store(path).look() as unit:
        return upkeep.tables(unit)


def beside(path):
    return sorted(one.name for one in path.parent.iterdir() if one != path)


def test_the_file_is_smaller_and_holds_the_same(path):
    before, size = content(path), path.stat().st_size
    path.chmod(0o640)
    upkeep.compact(Store.at(path))
    assert path.stat().st_size < size / 2 and content(path) == before
    assert path.stat().st_mode & 0o777 == 0o640 and beside(path) == []
    add(path, "more")
    assert content(path)["questions"].rows == before["questions"].rows + 1


def test_the_command_says_how_large_the_file_is(evaluated, desk):
    ids = [one.id for one in executions.listed(Store.at(evaluated / "data/desk.duckdb"))]
    answer = desk(evaluated, "delete", ids[0], "--yes", "--compact")
    assert answer.code == 0 and "free inside" not in answer.out
    assert answer.out.splitlines()[-1].startswith("data/desk.duckdb is compact: ")
    assert [one["execution"] for one in desk(evaluated, "executions", "--json").json["executions"]]
    assert desk(evaluated, "doctor").code == 0


def meanwhile(monkeypatch, start, path, times):
    """Another process comes in `times` times, between the copy and the lock."""
    locked, names = upkeep._locked, [f"meanwhile {n}" for n in range(times)]
    script = (
        "import duckdb, sys\n"
        "with duckdb.connect(sys.argv[1]) as c:\n"
        "    c.execute('insert into questions values (99, ?, ?)', ['c', sys.argv[2]])\n"
    )

    def late(one):
        if names:
            assert start(["-c", script, str(path), names.pop(0)]).wait(30) == 0
        return locked(one)

    monkeypatch.setattr(upkeep, "_locked", late)


def test_what_is_written_meanwhile_is_kept(path, start, monkeypatch):
    meanwhile(monkeypatch, start, path, 2)
    rows, size = content(path)["questions"].rows, path.stat().st_size
    upkeep.compact(Store.at(path))
    assert content(path)["questions"].rows == rows + 2
    assert path.stat().st_size < size / 2 and beside(path) == []


def test_where_others_keep_writing_all_stays_as_it_is(path, start, monkeypatch):
    meanwhile(monkeypatch, start, path, 9)
    rows = content(path)["questions"].rows
    with pytest.raises(StoreError, match="kept writing to the store; it was not made compact"):
        upkeep.compact(Store.at(path))
    assert content(path)["questions"].rows == rows + 3 and beside(path) == []


def test_a_wal_left_meanwhile_is_not_separated_from_its_file(path, start, monkeypatch):
    script = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('''insert into questions values (99, 'c', 'in the wal')''')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    locked, rows = upkeep._locked, content(path)["questions"].rows

    def late(one):
        if not beside(path)[1:]:
            assert start(["-c", script, str(path)]).wait(30) == -signal.SIGKILL
        return locked(one)

    monkeypatch.setattr(upkeep, "_locked", late)
    with pytest.raises(StoreError, match="kept writing"):
        upkeep.compact(Store.at(path))
    assert content(path)["questions"].rows == rows + 3


@pytest.mark.slow
def test_every_execution_acknowledged_meanwhile_survives(runbooks, collection_of, start):
    evaluate(collection_of(runbooks), ["sparse"])
    path = runbooks / "data/desk.duckdb"
    busy, done = start(["-c", AGAIN, str(runbooks)]), 0
    told = [busy.stdout.readline().strip()]
    for _ in range(8):
        try:
            upkeep.compact(Store.at(path))
            done += 1
        except StoreError:
            continue
        told.append(busy.stdout.readline().strip())
    busy.kill()
    told += busy.stdout.read().split()
    assert busy.wait() == -signal.SIGKILL and done
    kept = {one.id for one in executions.listed(Store.at(path))}
    assert len(told) > 1 and set(told) <= kept
    with Store(path).look() as unit:
        assert upkeep.faults(unit) == []


def test_threads_of_this_process_wait(path):
    store, errors = Store.at(path), []
    ended, rows = threading.Event(), content(path)["questions"].rows

    def work():
        try:
            while not ended.is_set():
                with store.work() as unit:
                    unit.run("questions_add", {"collection": "t"}, [{"question": "once"}])
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(3):
        upkeep.compact(store)
    ended.set()
    thread.join(30)
    assert errors == [] and content(path)["questions"].rows == rows + 1


def test_no_thread_is_inside_when_the_file_is_replaced(path, monkeypatch):
    """Closing one of its files takes a process's locks away, so another thread's, too."""
    store, inside, take = Store.at(path), threading.Event(), upkeep._take_place

    def enter():
        with store.work():
            inside.set()

    thread = threading.Thread(target=enter)

    def late(*words):
        thread.start()
        assert not inside.wait(0.3)
        take(*words)

    monkeypatch.setattr(upkeep, "_take_place", late)
    upkeep.compact(store)
    assert inside.wait(30)
    thread.join(30)


def test_nobody_has_the_file_open_when_it_is_replaced(path, start, monkeypatch):
    before, inode, locked = content(path), path.stat().st_ino, upkeep._locked
    script = "import duckdb, sys, time\nc = duckdb.connect(sys.argv[1])\nprint(1, flush=True)\n"

    def late(one):
        holder = start(["-c", f"{script}time.sleep(60)", str(path)])
        assert holder.stdout.readline() == "1\n"
        holders.append(holder)
        return locked(one)

    holders = []
    monkeypatch.setattr(upkeep, "_locked", late)
    monkeypatch.setattr(upkeep, "LOCK_SECONDS", 0.3)
    with pytest.raises(StoreError, match="another process has held the store for 0 s"):
        upkeep.compact(Store.at(path))
    holders[0].kill()
    holders[0].wait()
    assert path.stat().st_ino == inode and content(path) == before and beside(path) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_the_old_file_is_there_or_the_new_one(path, start, when):
    before, size = content(path), path.stat().st_size
    assert start(["-c", KILLED, when, str(path)]).wait(60) == -signal.SIGKILL
    assert (path.stat().st_size < size) is (when == "after") and content(path) == before
    left = [name for name in beside(path) if name.startswith("desk.duckdb.compact-")]
    assert len(left) == (when == "before")


def test_no_room_for_the_copy(path, monkeypatch):
    before, run = content(path), Unit.run

    def full(unit, name, *words):
        if name == "store_copy":
            raise duckdb.IOException("IO Error: Could not write: No space left on device")
        run(unit, name, *words)

    monkeypatch.setattr(Unit, "run", full)
    with pytest.raises(StoreError, match=r"No space left on device\. Check the disk's space"):
        upkeep.compact(Store.at(path))
    monkeypatch.undo()
    assert beside(path) == [] and content(path) == before


@pytest.mark.parametrize("opened", [True, False])
def test_a_file_that_was_replaced_while_it_was_opened(path, tmp_path, monkeypatch, opened):
    """Whoever opened the old file a moment before must not go on with it."""
    other, connect = tmp_path / "other.duckdb", duckdb.connect
    upkeep.copy_store(Store(path), other)
    add(other, "in the new file")

    def late(*words, **more):
        monkeypatch.setattr(store_module.duckdb, "connect", connect)
        connection = connect(*words, **more)
        os.replace(other, path)
        if opened:
            return connection
        connection.close()
        raise duckdb.IOException("IO Error: WAL does not match database file.")

    monkeypatch.setattr(store_module.duckdb, "connect", late)
    add(path, "added to it")
    with connect(str(path), read_only=True) as connection:
        query = "select question from questions where starts_with(question, 'question') = false"
        found = connection.execute(query).fetchall()
    assert sorted(found) == [("added to it",), ("in the new file",), ("last",)]

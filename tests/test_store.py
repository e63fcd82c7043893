"""The DuckDB file: shared by threads, between processes, across versions."""

import threading
import time

import duckdb
import pytest

from app.core.errors import StoreCorrupt, StoreError, StoreLocked, StoreNewer
from app.engines import store as module
from app.engines.store import Store, migrations

HOLD = (
    "import duckdb, sys, time\n"
    "connection = duckdb.connect(sys.argv[1])\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)
BUSY = (
    "import sys, threading, time\n"
    "from pathlib import Path\n"
    "from app.engines.store import Store\n"
    "store = Store.at(Path(sys.argv[1]))\n"
    "def work():\n"
    "    while True:\n"
    "        with store.work() as unit:\n"
    "            unit.rows('schema_version_get')\n"
    "            time.sleep(0.3)\n"
    "threads = [threading.Thread(target=work, daemon=True) for _ in range(20)]\n"
    "for thread in threads: thread.start()\n"
    "time.sleep(1)\n"
    "print('busy', flush=True)\n"
    "time.sleep(60)\n"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "desk.duckdb"


@pytest.fixture
def store(path):
    return Store(path)


def add(unit, *names):
    unit.run("questions_add", {"collection": "c"}, [{"question": name} for name in names])


def version_of(unit):
    ((version,),) = (row.values() for row in unit.rows("schema_version_get"))
    return version


def added(path):
    """The questions in the file, read by DuckDB alone."""
    with duckdb.connect(str(path)) as connection:
        query = "select question from questions order by question"
        return [name for (name,) in connection.execute(query).fetchall()]


def failing(error, store):
    with pytest.raises(error) as caught, store.work():
        pass
    return str(caught.value)


def test_one_store_per_file(tmp_path):
    assert Store.at(tmp_path / "a") is Store.at(tmp_path / "x" / ".." / "a")
    assert Store.at(tmp_path / "a") is not Store.at(tmp_path / "b")


def test_the_first_work_makes_the_schema_and_the_last_leaves_the_file_free(store, path):
    with store.work() as unit:
        assert version_of(unit) == len(migrations())
        add(unit, "q1", "q2", "q1")
    assert added(path) == ["q1", "q2"]


def test_values_are_bound_never_read_as_sql(store, path):
    nasty = "'); drop table questions; --"
    with store.work() as unit:
        add(unit, nasty, '"; select 1', "$1")
    assert nasty in added(path)


def test_no_rows_are_no_work(store, path):
    with store.work() as unit:
        add(unit)
    assert added(path) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_transaction_is_all_or_nothing(store, path, error):
    def broken(unit):
        with unit.transaction():
            add(unit, "lost")
            raise error

    with store.work() as unit:
        with unit.transaction():
            add(unit, "kept")
        with pytest.raises(error):
            broken(unit)
    assert added(path) == ["kept"]


def test_nested_work_of_a_thread_enters_at_once(store, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.0)
    began = time.monotonic()
    with store.work():
        time.sleep(0.05)
        with store.work() as inner:
            assert inner.rows("schema_version_get")
    assert time.monotonic() - began < 1


def test_a_failure_inside_is_told_and_the_file_is_free_again(store, path):
    with pytest.raises(StoreError) as caught, store.work() as unit:
        unit.rows("corpora_find", {"collection": "c"})
    sentence = str(caught.value)
    assert sentence.startswith("data/desk.duckdb: the store failed: ")
    assert sentence.endswith(
        "Check the disk's space and permissions; data/desk.log has the details."
    )
    assert added(path) == []


def test_threads_get_their_own_answers(store, path):
    wrong = []

    def work(number):
        for turn in range(15):
            with store.work() as unit:
                name = f"c{number}-{turn}"
                unit.run("corpora_add", {"collection": name, "revision": "r", "points": number,
                                         "eligible": turn})  # fmt: skip
                if len(unit.rows("corpora_find", {"collection": name, "revision": "r"})) != 1:
                    wrong.append(name)
                if unit.rows("corpora_find", {"collection": name, "revision": "other"}):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    with duckdb.connect(str(path)) as connection:
        rows = connection.execute("select collection, points, eligible from corpora").fetchall()
    assert sorted(rows) == sorted((f"c{n}-{t}", n, t) for n in range(8) for t in range(15))


def test_another_process_holds_the_file(store, path, start, monkeypatch):
    with store.work():
        pass
    holder = start(["-c", HOLD, str(path)])
    assert holder.stdout.readline() == "held\n"
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.3)
    sentence = failing(StoreLocked, store)
    assert sentence.startswith(f"data/desk.duckdb: process {holder.pid} (python")
    assert sentence.endswith(
        ") has held the store for 0 s. Wait for it to end or stop it, then try again."
    )
    holder.kill()
    holder.wait()
    with store.work() as unit:
        assert unit.rows("schema_version_get")


def test_a_short_hold_of_another_process_is_waited_out(store, path, start):
    with store.work():
        pass
    holder = start(["-c", HOLD.replace("60", "0.5"), str(path)])
    holder.stdout.readline()
    with store.work() as unit:
        add(unit, "after")
    assert holder.wait(10) == 0 and added(path) == ["after"]


@pytest.mark.slow
def test_a_busy_process_does_not_starve_another(store, path, start):
    busy = start(["-c", BUSY, str(path)])
    assert busy.stdout.readline() == "busy\n"
    waited = []
    for _ in range(2):
        began = time.monotonic()
        with store.work() as unit:
            assert unit.rows("schema_version_get")
        waited.append(time.monotonic() - began)
    assert busy.poll() is None and max(waited) < 8


def test_a_file_that_is_no_store(store, path):
    path.parent.mkdir()
    path.write_bytes(b"something else entirely" * 1000)
    assert failing(StoreCorrupt, store) == (
        "data/desk.duckdb: the file is not a readable store. Put a backup in its place, or move it "
        "away: labels are kept elsewhere, and executions of your own configurations can be run "
        "again."
    )
    assert path.read_bytes().startswith(b"something else")


def test_a_store_whose_middle_was_overwritten(store, path):
    with store.work() as unit:
        add(unit, *(f"question {n}" for n in range(20_000)))
    raw = bytearray(path.read_bytes())
    raw[4096:-4096] = b"\xa5" * (len(raw) - 8192)
    path.write_bytes(raw)
    with pytest.raises(StoreCorrupt), Store(path).work() as unit:
        add(unit, "one more")


def test_a_store_moved_away_while_the_process_runs_is_made_anew(store, path):
    with store.work() as unit:
        add(unit, "old")
    path.rename(path.with_name("aside"))
    with store.work() as unit:
        add(unit, "new")
    assert added(path) == ["new"]


def test_a_folder_in_the_place_of_the_store(store, path):
    path.mkdir(parents=True)
    assert failing(StoreError, store).startswith("data/desk.duckdb: the store failed: ")


def test_a_store_of_a_newer_program(store, path):
    with store.work():
        pass
    with duckdb.connect(str(path)) as connection:
        connection.execute("insert into schema_version values (99)")
    assert failing(StoreNewer, Store(path)) == (
        "data/desk.duckdb: the store was written by a newer version of this program (schema 99). "
        "Update: pip install --upgrade relevance-desk."
    )
    assert [file.name for file in path.parent.iterdir()] == ["desk.duckdb"]


@pytest.fixture
def newer(monkeypatch):
    """A program with one more schema version."""
    known = migrations()

    def add_one(sql):
        monkeypatch.setattr(module, "migrations", lambda: [*known, sql])
        return len(known) + 1

    return add_one


def test_an_older_store_is_migrated_after_a_backup_copy(store, path, newer):
    with store.work() as unit:
        add(unit, "q1")
    version = newer("alter table questions add column note varchar; create table extra (a integer)")
    with Store(path).work() as unit:
        assert version_of(unit) == version
    backup = path.with_name(f"desk.duckdb.before-{version}")
    assert added(path) == ["q1"] and added(backup) == ["q1"]
    with duckdb.connect(str(backup)) as connection, pytest.raises(duckdb.Error):
        connection.execute("select note from questions")
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("select note from questions").fetchall() == [(None,)]


def test_a_migration_that_fails_leaves_the_store_as_it_was(store, path, newer):
    with store.work() as unit:
        add(unit, "q1")
    newer("create table extra (a integer); select no_such_function()")
    assert "the store failed: Catalog Error" in failing(StoreError, Store(path))
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("select max(version) from schema_version").fetchone() == (1,)
        with pytest.raises(duckdb.Error):
            connection.execute("select * from extra")


def test_two_processes_that_migrate_at_once(store, path, newer, monkeypatch):
    """Between the copy and the migration another process may have done it all."""
    with store.work() as unit:
        add(unit, "q1")
    version = newer("create table extra (a integer)")
    copy = module.shutil.copy2

    def overtaken(*words):
        copy(*words)
        monkeypatch.setattr(module.shutil, "copy2", copy)
        with Store(path).work():
            pass

    monkeypatch.setattr(module.shutil, "copy2", overtaken)
    with Store(path).work() as unit:
        assert version_of(unit) == version
    assert added(path) == ["q1"]

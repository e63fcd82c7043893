"""The ledger: what was acknowledged is there, once, whatever happens to the process or the disk."""

import ctypes
import itertools
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput, LabelConflict, LabelNotSaved
from app.core.judgments import Judgment
from app.core.ledger import Ledger
from app.core.questions import parse_record
from app.core.text import canonical

PLACE = "labels/demo/judgments"


def open_ledger(folder):
    return Ledger(Path(folder), PLACE, lambda *arguments: parse_record(Judgment, *arguments))


def file_in(folder):
    """Where the ledger of ann will be, in a folder that is new."""
    folder.mkdir()
    return folder / "ann.jsonl"


def record(event, **more):
    time = f"2024-05-01T12:00:00.{int.from_bytes(event.encode(), 'big') % 1000:03}Z"
    pair = {"kind": "grade", "question": "q1", "chunk": ["d", "v", "c"], "grade": 2}
    return {"format": 1, "event": event, "time": time, "author": "ann", **pair, **more}


def lines(*events):
    return b"".join(canonical(record(event)).encode() + b"\n" for event in events)


def events(ledger):
    return [placed.event.event for placed in ledger.read().events]


def places(ledger):
    return [placed.place.removeprefix(f"{PLACE}/") for placed in ledger.read().events]


def problems(ledger):
    with pytest.raises(InvalidInput) as caught:
        ledger.read()
    return [str(problem).removeprefix(f"{PLACE}/") for problem in caught.value.problems]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "judgments"


@pytest.fixture
def ledger(folder):
    return open_ledger(folder)


@pytest.fixture
def path(folder):
    return file_in(folder)


def test_what_is_appended_is_read(ledger, folder):
    assert events(ledger) == [] and ledger.append("ann.jsonl", record("e1", note="é\n😀")) is None
    ledger.append("bob.jsonl", record("e2", author="bob"))
    ledger.append("ann.jsonl", record("e3"))
    assert events(ledger) == ["e1", "e3", "e2"]
    assert places(ledger) == ["ann.jsonl:1", "ann.jsonl:2", "bob.jsonl:1"]
    assert (folder / "bob.jsonl").read_text() == canonical(record("e2", author="bob")) + "\n"


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_appends_of_another_ledger_are_seen(tmp_path_factory, authors, reads):
    folder = tmp_path_factory.mktemp("ledger")
    ledger, writer = open_ledger(folder), open_ledger(folder)
    for number, author in enumerate(authors):
        writer.append(f"{author}.jsonl", record(f"e{number}"))
        if reads[number]:
            assert len(events(ledger)) == number + 1
    assert ledger.read() == open_ledger(folder).read()
    assert sorted(events(ledger)) == sorted(f"e{i}" for i in range(len(authors)))


def in_a_process(function, *arguments):
    """The command that calls a function of this file, and where it finds its imports."""
    call = (
        f"import sys; from tests import test_ledger; test_ledger.{function.__name__}(*sys.argv[1:])"
    )
    command = [sys.executable, "-c", call, *map(str, arguments)]
    return {"args": command, "env": {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}}


def run(function, *arguments):
    command = in_a_process(function, *arguments)
    return subprocess.run(**command, check=True, stdout=subprocess.PIPE, text=True).stdout


def append_and_tell(path):
    try:
        open_ledger(Path(path).parent).append("ann.jsonl", record("e2"))
    except LabelNotSaved as error:
        print(error)


def with_room_for(room, path):
    before, limit = Path(path).read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + int(room), limit[1]))
    append_and_tell(path)
    assert Path(path).read_bytes() == before
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    open_ledger(Path(path).parent).append("ann.jsonl", record("e3"))


def without_root_rights(path):
    # Root may write anywhere, unless its process has lost CAP_DAC_OVERRIDE (1), which it does at
    # an exec when the capability is out of the bounding set (PR_CAPBSET_DROP, 24).
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
    command = in_a_process(append_and_tell, path)
    os.execve(sys.executable, command["args"], command["env"])


@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_leaves_the_file_as_it_was(path, room):
    path.write_bytes(lines("e1"))
    message = run(with_room_for, room, path)
    assert message.startswith(f"{PLACE}/ann.jsonl: nothing was saved: ")
    assert "Free some space or mend the folder's permissions, then try again.\n" in message
    assert path.read_bytes() == lines("e1", "e3")


def test_a_folder_that_may_not_be_written(path):
    path.write_bytes(lines("e1"))
    path.parent.chmod(0o555)
    message = run(without_root_rights, path)
    path.parent.chmod(0o755)
    assert message.startswith(f"{PLACE}/ann.jsonl: nothing was saved: Permission denied. ")
    assert [one.name for one in path.parent.iterdir()] == ["ann.jsonl"]
    assert path.read_bytes() == lines("e1")


def test_a_lock_that_another_holds(ledger, path, monkeypatch):
    monkeypatch.setattr("app.core.ledger.LOCK_SECONDS", 0.1)
    with FileLock(f"{path}.lock"), pytest.raises(LabelNotSaved) as caught:
        ledger.append("ann.jsonl", record("e1"))
    said = "another process has held the file for 0 s; nothing was saved. Try again."
    assert str(caught.value) == f"{PLACE}/ann.jsonl: {said}"
    ledger.append("ann.jsonl", record("e2"))
    assert events(ledger) == ["e2"]


def test_a_check_that_refuses_writes_nothing(ledger, path):
    path.write_bytes(lines("e1") + b'{"torn')

    def check(snapshot):
        raise LabelConflict(f"{len(snapshot.events)} before you")

    with pytest.raises(LabelConflict, match="1 before you"):
        ledger.append("ann.jsonl", record("e2"), check)
    assert path.read_bytes() == lines("e1") + b'{"torn'


def test_a_check_sees_the_file_that_is_written_and_no_other(ledger, path):
    path.write_bytes(lines("e1"))
    path.with_name("bob.jsonl").write_bytes(lines("e2") + b"{\n")
    seen = []
    assert ledger.append("ann.jsonl", record("e3"), seen.append) is None
    assert [one.event.event for one in seen[0].events] == ["e1"]


def append_many(folder, name):
    for number in range(50):
        open_ledger(folder).append("shared.jsonl", record(f"{name}-{number}", author=name))


def test_many_processes_lose_nothing_and_write_nothing_twice(ledger, folder):
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=append_many, args=(folder, f"p{i}")) for i in range(4)]
    [worker.start() for worker in workers]
    seen = []
    while any(worker.is_alive() for worker in workers):
        before, seen = seen, events(ledger)
        assert seen[: len(before)] == before
    written = [json.loads(raw)["event"] for raw in (folder / "shared.jsonl").read_text().split()]
    assert events(ledger) == written and len(written) == 200
    for i in range(4):
        assert [e for e in written if e.startswith(f"p{i}-")] == [f"p{i}-{n}" for n in range(50)]


def append_for_ever(folder):
    for number in itertools.count():
        open_ledger(folder).append("ann.jsonl", record(f"e{number}", note="x" * 2000))
        print(f"e{number}", flush=True)


@pytest.mark.parametrize("acknowledged", [1, 20, 150])
def test_what_was_acknowledged_survives_kill_9(ledger, folder, acknowledged):
    command = in_a_process(append_for_ever, folder)
    with subprocess.Popen(**command, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline().strip() for _ in range(acknowledged)]
        os.kill(process.pid, signal.SIGKILL)
        told += process.stdout.read().split()
    kept = events(ledger)
    assert kept[: len(told)] == told and len(kept) <= len(told) + 1
    ledger.append("ann.jsonl", record("last"))
    assert events(open_ledger(folder)) == [*kept, "last"]

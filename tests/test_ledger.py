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
    folder.mkdir()
    return folder / "ann.jsonl"


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


def test_blank_lines_are_passed_over_and_counted(ledger, path):
    path.write_bytes(b"\n" + lines("e1") + b"  \r\n" + lines("e2").replace(b"\n", b"\r\n"))
    assert places(ledger) == ["ann.jsonl:2", "ann.jsonl:4"]


def test_an_event_that_arrives_twice_is_one_event(ledger, path):
    path.write_bytes(lines("e1", "e2", "e1"))
    path.with_name("bob.jsonl").write_bytes(lines("e2", "e3"))
    assert events(ledger) == ["e1", "e2", "e3"]


@pytest.mark.parametrize("after", ["", "e1", "x1 x2", "e0 e1 e2", "x1 x2 e3", "e2 e1", "x1 e2"])
@pytest.mark.parametrize("how", ["replaced", "rewritten", "removed first"])
def test_a_file_changed_by_others_is_read_again(ledger, path, how, after):
    path.write_bytes(lines("e1", "e2"))
    assert events(ledger) == ["e1", "e2"]
    if how == "replaced":
        path.with_suffix(".new").write_bytes(lines(*after.split()))
        path.with_suffix(".new").replace(path)
    else:
        if how == "removed first":
            path.unlink()
        path.write_bytes(lines(*after.split()))
    assert events(ledger) == after.split()


def test_a_line_corrected_in_place_is_read_again(ledger, path):
    path.write_bytes(lines("e1", "e2").replace(b'"grade":2', b'"grade":7', 1))
    assert problems(ledger) == ["ann.jsonl:1: grade 7 is outside 0..2. Correct the line."]
    path.write_bytes(lines("e1", "e2"))
    assert events(ledger) == ["e1", "e2"]


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (b'{"a": 1', "the line is not JSON (Expecting ',' delimiter at column 8). Correct or "),
        (b"\xff", "the line is not UTF-8 (byte 1 of the line). Correct or remove the line."),
        (b"[1]", "the line is list, not an object in braces. Correct or remove the line."),
        (lines("e9").strip().replace(b":2", b":7"), "grade 7 is outside 0..2. Correct the line."),
    ],
)
def test_a_bad_line_in_the_middle_is_told_with_its_place(ledger, path, bad, sentence):
    path.write_bytes(lines("e1") + bad + b"\n" + lines("e2"))
    (told,) = problems(ledger)
    assert told.startswith(f"ann.jsonl:2: {sentence}")
    assert problems(ledger) == [told]


def test_every_bad_line_of_every_file_is_told(ledger, path):
    path.write_bytes(b"{\n" + lines("e1") + b"{\n")
    path.with_name("bob.jsonl").write_bytes(canonical(record("e2", grade=7)).encode())
    path.with_name("cyd.jsonl").write_bytes(b"{\n")
    told = [problem.split(": ")[0] for problem in problems(ledger)]
    assert told == ["ann.jsonl:1", "ann.jsonl:3", "bob.jsonl:1", "cyd.jsonl:1"]


def test_a_torn_last_line_is_told_and_moved_aside_at_the_next_append(ledger, path):
    torn = lines("e2")[:40]
    path.write_bytes(lines("e1") + torn)
    assert ledger.read().notices == (
        f"{PLACE}/ann.jsonl:2: the last line is cut short (40 bytes). It was never "
        "confirmed as saved and is not counted; the next save moves it to ann.jsonl.torn.",
    )
    assert ledger.append("ann.jsonl", record("e3")) == (
        f"{PLACE}/ann.jsonl: a line that was cut short was moved to ann.jsonl.torn."
    )
    assert path.read_bytes() == lines("e1", "e3")
    assert path.with_name("ann.jsonl.torn").read_bytes() == torn + b"\n"
    assert events(ledger) == ["e1", "e3"] and ledger.read().notices == ()


@settings(deadline=None)
@given(st.integers(0, len(lines("e2")) - 1))
def test_a_line_cut_anywhere_is_whole_or_not_there(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("ledger") / "ann.jsonl"
    path.write_bytes(lines("e1") + lines("e2")[:cut])
    ledger = open_ledger(path.parent)
    whole = ["e1", "e2"] if cut == len(lines("e2")) - 1 else ["e1"]
    assert events(ledger) == whole
    ledger.append("ann.jsonl", record("e3"))
    assert events(ledger) == events(open_ledger(path.parent)) == [*whole, "e3"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_a_last_line_without_its_end_is_kept(ledger, path, mark):
    path.write_bytes(mark + lines("e1")[:-1])
    assert events(ledger) == ["e1"]
    assert ledger.append("ann.jsonl", record("e2")) is None
    assert events(ledger) == events(open_ledger(path.parent)) == ["e1", "e2"]
    assert not path.with_name("ann.jsonl.torn").exists()


def in_a_process(function, *arguments):
    """The command that calls a function of this file, and where it finds its imports."""
    call = f"import sys; from tests import test_ledger; test_ledger.{function.__name__}(*sys.argv[1:])"
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
    assert message.startswith(f"{PLACE}/ann.jsonl: the label was not saved: ")
    assert "Free some space or mend the folder's permissions, then grade again.\n" in message
    assert path.read_bytes() == lines("e1", "e3")


def test_a_folder_that_may_not_be_written(path):
    path.write_bytes(lines("e1"))
    path.parent.chmod(0o555)
    message = run(without_root_rights, path)
    path.parent.chmod(0o755)
    assert message.startswith(f"{PLACE}/ann.jsonl: the label was not saved: Permission denied. ")
    assert [one.name for one in path.parent.iterdir()] == ["ann.jsonl"]
    assert path.read_bytes() == lines("e1")


def test_a_lock_that_another_holds(ledger, path, monkeypatch):
    monkeypatch.setattr("app.core.ledger.LOCK_SECONDS", 0.1)
    with FileLock(f"{path}.lock"), pytest.raises(LabelNotSaved) as caught:
        ledger.append("ann.jsonl", record("e1"))
    said = "another process has held the file for 0 s; nothing was saved. Grade again."
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

"""Ledger.append_lines: many lines at once, all of them or none."""

import json
import resource

import pytest
from filelock import FileLock, Timeout

from app.core.errors import InvalidInput, LabelNotSaved
from app.core.ledger import Ledger
from tests.conftest import judgment
from tests.exchanging import json_lines, tree
from tests.exchanging import ledger as grades_of
from tests.test_ledger import PLACE, events, file_in, in_a_process, lines, open_ledger, record


@pytest.fixture
def ledger(tmp_path):
    return open_ledger(tmp_path / "judgments")


@pytest.fixture
def path(tmp_path):
    return file_in(tmp_path / "judgments")


def adding(*names):
    return lambda snapshot: [lines(name) for name in names]


def test_lines_are_appended_in_their_order(ledger, tmp_path):
    assert ledger.append_lines("ann.jsonl", adding("e2", "e1")) is None
    assert ledger.append_lines("ann.jsonl", adding("e3")) is None
    assert (tmp_path / "judgments/ann.jsonl").read_bytes() == lines("e2", "e1", "e3")
    assert events(ledger) == ["e2", "e1", "e3"]


@pytest.mark.parametrize("before", [None, b"", lines("e1"), lines("e1") + b'{"torn'])
def test_no_lines_leave_the_file_alone(ledger, path, before):
    if before is not None:
        path.write_bytes(before)
    assert ledger.append_lines("ann.jsonl", adding()) is None
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("error", [InvalidInput("no"), ValueError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 2])
def test_what_the_lines_raise_writes_nothing(ledger, path, error, after):
    path.write_bytes(lines("e1") + b'{"torn')
    before = tree(path.parent)

    def broken(snapshot):
        yield from [lines("e2"), lines("e3")][:after]
        raise error

    with pytest.raises(type(error)):
        ledger.append_lines("ann.jsonl", broken)
    assert {n: raw for n, raw in tree(path.parent).items() if n != "ann.jsonl.lock"} == before
    ledger.append_lines("ann.jsonl", adding("e4"))
    assert events(ledger) == ["e1", "e4"]


def test_lines_are_chosen_by_the_file_as_it_is_under_the_lock(ledger, path):
    path.write_bytes(lines("e1"))
    assert events(ledger) == ["e1"]
    path.write_bytes(lines("e1", "e2"))
    seen = []

    def choose(snapshot):
        with pytest.raises(Timeout), FileLock(f"{path}.lock", timeout=0):
            pass
        seen.extend(placed.event.event for placed in snapshot().events)
        return [lines("e3")]

    ledger.append_lines("ann.jsonl", choose)
    assert seen == ["e1", "e2"] and events(ledger) == ["e1", "e2", "e3"]


def test_a_broken_file_that_is_read_takes_no_line(ledger, path):
    path.write_bytes(lines("e1") + b"{\n")
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=f"{PLACE}/ann.jsonl:2: the line is not JSON"):
        ledger.append_lines("ann.jsonl", lambda snapshot: snapshot().events and [lines("e2")])
    assert path.read_bytes() == before


def test_a_torn_line_is_set_aside_once(ledger, path):
    path.write_bytes(lines("e1") + b'{"torn')
    notice = ledger.append_lines("ann.jsonl", adding("e2", "e3"))
    assert notice == f"{PLACE}/ann.jsonl: a line that was cut short was moved to ann.jsonl.torn."
    assert path.read_bytes() == lines("e1", "e2", "e3")
    assert path.with_name("ann.jsonl.torn").read_bytes() == b'{"torn\n'


def test_a_whole_last_line_without_its_end_is_kept(ledger, path):
    path.write_bytes(lines("e1").rstrip(b"\n"))
    assert ledger.append_lines("ann.jsonl", adding("e2", "e3")) is None
    assert path.read_bytes() == lines("e1", "e2", "e3")


@pytest.mark.parametrize("room", [1, 5_000])
def test_a_full_disk_takes_all_lines_or_none(path, room, start):
    path.write_bytes(lines("e1"))
    command = in_a_process(fill, path, room)["args"]
    code = command[2].replace("test_ledger", "test_ledger_lines")
    out, err = start(["-c", code, *command[3:]]).communicate(timeout=60)
    assert (out.strip(), err) == ("none", "")
    assert path.read_bytes() == lines("e1")


def fill(path, room):
    size = len(lines("e1")) + int(room)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        open_ledger(path.rpartition("/")[0]).append_lines(
            "ann.jsonl", adding(*(f"e{number}" for number in range(2, 60)))
        )
    except LabelNotSaved:
        print("none")


def test_a_lock_that_another_holds_writes_nothing(ledger, path, monkeypatch):
    monkeypatch.setattr("app.core.ledger.LOCK_SECONDS", 0.1)
    called = []
    with FileLock(f"{path}.lock"), pytest.raises(LabelNotSaved, match="nothing was saved"):
        ledger.append_lines("ann.jsonl", lambda snapshot: called.append(1) or [])
    assert called == [] and not path.exists()


def test_many_lines_are_one_append(ledger, tmp_path):
    names = [f"e{number}" for number in range(20_000)]
    ledger.append_lines("ann.jsonl", adding(*names))
    assert events(open_ledger(tmp_path / "judgments")) == names


def test_two_processes_with_one_file_lose_and_double_nothing(tiny, tmp_path, desk_process):
    root = tiny(labels=[judgment("q1", "apple", 2, "first")])
    ours = [
        judgment("q1", chunk, 1, f"{author}-{number}-{chunk}", author=author)
        for number in range(300)
        for author in ("ann", "bob", "cid")
        for chunk in ("apple", "pear")
    ]
    (tmp_path / "l.jsonl").write_text(json_lines(ours))
    words = ("import", "tiny", "labels", str(tmp_path / "l.jsonl"))
    processes = [desk_process(root, *words) for _ in range(2)]
    told = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    kept = [
        json.loads(line)["event"]
        for path in sorted((root / "labels/tiny/judgments").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    assert len(kept) == len(set(kept)) and set(kept) == {"efirst", *(one["event"] for one in ours)}


def test_a_grade_that_came_meanwhile_is_not_doubled(tiny, tmp_path, desk, monkeypatch):
    root = tiny(labels=[])
    (tmp_path / "l.csv").write_text("question,chunk,grade\nq1,apple,2\n")
    words = (root, "import", "tiny", "labels", tmp_path / "l.csv")
    append = Ledger.append_lines

    def second(*arguments):
        monkeypatch.setattr(Ledger, "append_lines", append)
        assert desk(*words).code == 0
        return append(*arguments)

    monkeypatch.setattr(Ledger, "append_lines", second)
    assert desk(*words).code == 0
    assert [one["grade"] for one in grades_of(root, "imported")] == [2]


def test_a_record_is_one_line(ledger, tmp_path):
    ledger.append_lines("ann.jsonl", adding("e1"))
    (line,) = (tmp_path / "judgments/ann.jsonl").read_text().splitlines()
    assert json.loads(line) == record("e1")

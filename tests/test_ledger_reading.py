"""Reading the ledger: whole lines, torn lines, bad lines, and files that others changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.core.text import canonical
from tests.test_ledger import PLACE, events, file_in, lines, open_ledger, places, problems, record


@pytest.fixture
def path(tmp_path):
    return file_in(tmp_path / "judgments")


@pytest.fixture
def ledger(path):
    return open_ledger(path.parent)


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
        (b"[1]", "the line is JSON, but not an object in braces. Correct or remove the line."),
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
        f"{PLACE}/ann.jsonl:2: the last line is cut short (40 bytes) and not counted. A line that "
        "a crash cut was never confirmed as saved: the next save moves it to ann.jsonl.torn. One "
        "that was whole before: put it back from git or a backup.",
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


def test_one_file_can_be_read_alone(ledger, path):
    path.write_bytes(lines("e1"))
    path.with_name("bob.jsonl").write_bytes(lines("e2") + lines("e3")[:40])
    assert [one.event.event for one in ledger.read("ann.jsonl").events] == ["e1"]
    assert ledger.read("ann.jsonl").notices == ()
    bob = ledger.read("bob.jsonl")
    assert [one.place for one in bob.events] == [f"{PLACE}/bob.jsonl:1"] and len(bob.notices) == 1
    assert ledger.read("cyd.jsonl").events == ()
    assert events(ledger) == ["e1", "e2"]


def test_a_bad_line_of_another_file_does_not_keep_a_file_from_being_read(ledger, path):
    path.write_bytes(lines("e1"))
    path.with_name("bob.jsonl").write_bytes(b"{\n")
    assert [one.event.event for one in ledger.read("ann.jsonl").events] == ["e1"]
    with pytest.raises(InvalidInput, match="bob.jsonl:1: the line is not JSON"):
        ledger.read("bob.jsonl")
    assert len(problems(ledger)) == 1


@pytest.mark.parametrize("other", ["ann.jsonl", "bob.jsonl"])
def test_one_id_for_two_events_is_told_with_both_places(ledger, path, other):
    changed = canonical(record("e1", grade=0)).encode() + b"\n"
    path.write_bytes(lines("e1", "e2"))
    with path.with_name(other).open("ab") as file:
        file.write(lines("e2") + changed + lines("e3"))
    line = 4 if other == "ann.jsonl" else 2
    assert problems(ledger) == [
        f'{other}:{line}: the event id "e1" was used at {PLACE}/ann.jsonl:1 for something else. '
        "Give this line an id of its own."
    ]


def test_one_id_for_two_events_is_told_for_a_last_line_without_its_end(ledger, path):
    path.write_bytes(lines("e1") + canonical(record("e1", note="other")).encode())
    (told,) = problems(ledger)
    assert told.startswith('ann.jsonl:2: the event id "e1" was used at ')


def test_a_file_that_cannot_be_opened_is_told_with_the_others(ledger, path):
    path.write_bytes(lines("e1"))
    path.with_name("bob.jsonl").mkdir()
    path.with_name("cyd.jsonl").write_bytes(b"{\n")
    first, second = problems(ledger)
    assert first == (
        "bob.jsonl: the file cannot be read: Is a directory. Mend it or its permissions."
    )
    assert second.startswith("cyd.jsonl:1: ")
    assert [one.event.event for one in ledger.read("ann.jsonl").events] == ["e1"]

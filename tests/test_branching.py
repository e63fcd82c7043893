"""The union of two ledgers, and which side a file is taken from."""

import json

import pytest

from app.core.errors import InvalidInput
from app.flows.sharing.branching import merged, union

PLACE = "labels/c/judgments/ann.jsonl"


def line(name, **more):
    return json.dumps({"event": name, **more}).encode() + b"\n"


def both(theirs, ours):
    return union(theirs, ours, PLACE, "side")


def test_theirs_first_in_order_then_what_is_missing():
    assert both(line("a") + line("b"), line("z") + line("b") + line("y")) == (
        line("a") + line("b") + line("z") + line("y")
    )
    assert both(b"", line("a")) == line("a")
    assert both(line("a"), b"") == line("a")


def test_one_event_written_twice_is_one():
    spaced = b'{"grade":1,   "event":"a"}\n'
    theirs = line("a", grade=1)
    assert both(theirs, spaced + line("b") + line("b")) == theirs + line("b")


def test_line_ends_and_marks_of_other_systems():
    theirs = b'{"event":"a"}'  # an editor left the last line without its end
    ours = b'\xef\xbb\xbf{"event": "b"}\r\n\r\n{"event": "a"}'
    assert both(theirs, ours) == theirs + b"\n" + line("b")


def test_what_cannot_be_read_stays_there_and_is_not_taken_from_here():
    assert both(b"{there\n", b"{here\n" + line("a")) == b"{there\n" + line("a")


def test_one_id_for_two_things():
    with pytest.raises(InvalidInput) as error:
        both(line("a", grade=1), line("b") + line("a", grade=2))
    assert str(error.value) == (
        f"{PLACE}:2: the event a reads otherwise on the branch side. Put the line back as it is "
        "there, or give it an event id of its own."
    )


def taken(base, there, here, name="guidelines.md", head=None):
    """What becomes of a file: `kept`, `removed`, its new content, or `refused`."""
    path = f"labels/c/{name}"
    sides = [{} if text is None else {path: text.encode()} for text in (base, there, here, head)]
    bases = [sides[0], *sides[3:]] if head else sides[:1]
    try:
        found = merged(sides[1], sides[2], bases, "side", "labels/")
    except InvalidInput:
        return "refused"
    if path not in found:
        return "kept"
    return "removed" if found[path] is None else found[path].decode()


@pytest.mark.parametrize(
    ("base", "there", "here", "outcome"),
    [
        ("1", "1", "1", "kept"),
        ("1", "1", "2", "2"),
        ("1", "2", "1", "kept"),
        ("1", "2", "2", "kept"),
        ("1", "2", "3", "refused"),
        (None, None, "1", "1"),
        (None, "1", None, "kept"),
        (None, "1", "2", "refused"),
        ("1", "1", None, "removed"),
        ("1", None, "1", "kept"),
        ("1", None, "2", "refused"),
        ("1", "2", None, "refused"),
        ("1\n", "1\r\n", "1\n", "kept"),
    ],
)
def test_a_file_is_taken_from_the_side_that_changed_it(base, there, here, outcome):
    assert taken(base, there, here) == outcome


def test_what_we_have_seen_of_the_branch_may_be_changed_here():
    assert taken("1", "2", "3", head="2") == "3"


@pytest.mark.parametrize(
    ("base", "there", "here", "outcome"),
    [
        ("a\n", "a\nb\n", "a\nb\nc\n", "a\nb\nc\n"),
        ("a\n", "a\nb\nc\n", "a\nb\n", "kept"),
        ("a\n", "a\nb\n", "a\nc\n", "refused"),
        ("a\nx\n", "a\n", "a\nx\nb\n", "refused"),
        (None, "a\n", "a\nb\n", "a\nb\n"),
    ],
)
def test_a_file_of_lines_may_have_grown_on_both_sides(base, there, here, outcome):
    assert taken(base, there, here, name="questions.jsonl") == outcome


def test_a_ledger_is_never_taken_away_and_every_refusal_is_told():
    theirs = {"labels/c/judgments/a.jsonl": line("a"), "labels/c/x.md": b"1", "labels/c/y.md": b"1"}
    assert merged({"labels/c/judgments/a.jsonl": line("a")}, {}, [{}], "side", "labels/") == {}
    with pytest.raises(InvalidInput) as error:
        merged(theirs, {"labels/c/x.md": b"2", "labels/c/y.md": b"2"}, [{}], "side", "labels/")
    assert [problem.place for problem in error.value.problems] == ["labels/c/x.md", "labels/c/y.md"]

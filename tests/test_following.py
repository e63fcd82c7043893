"""Each event of a ledger once, whatever happens to its files."""

import json

import pytest

from app.core.following import Follower
from tests.conftest import judgment, lines_of


@pytest.fixture
def ledger(tiny, collection_of):
    """A ledger whose files can be written by hand; returns its folder, a writer and a follower."""
    collection = collection_of(tiny(labels=[]))
    folder = collection.labels_folder / "judgments"

    def write(name, *records, end="\n"):
        text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
        (folder / f"{name}.jsonl").write_text(text + end, encoding="utf-8")

    return write, Follower(collection.ledger), collection.ledger


def names(added):
    return [event.event for _, event in added.events]


ONE, TWO, THREE = (judgment("q1", chunk, 1, n) for n, chunk in enumerate(("apple", "pear", "plum")))


def test_what_was_added_comes_once(ledger):
    write, follower, _ = ledger
    write("ann", ONE)
    first = follower.poll()
    assert (names(first), first.anew) == (["e0"], True)
    assert names(follower.poll()) == []
    write("ann", ONE, TWO)
    second = follower.poll()
    assert (names(second), second.anew) == (["e1"], False)
    write("bob", THREE)
    assert names(follower.poll()) == ["e2"]
    assert [position for position, _ in second.events] == [("ann.jsonl", 1)]


@pytest.mark.parametrize("change", ["edited", "shorter", "gone"])
def test_after_a_change_of_what_was_read_everything_comes_again(ledger, change):
    write, follower, kept = ledger
    write("ann", ONE, TWO)
    write("bob", THREE)
    follower.poll()
    if change == "edited":
        write("ann", {**ONE, "grade": 2}, TWO)
    elif change == "shorter":
        write("ann", ONE)
    else:
        (kept.folder / "ann.jsonl").unlink()
    again = follower.poll()
    expected = {"edited": ["e0", "e1", "e2"], "shorter": ["e0", "e2"], "gone": ["e2"]}[change]
    assert again.anew and names(again) == expected
    assert follower.poll().events == []


def test_a_last_line_without_an_end_comes_once_and_again_if_it_was_changed(ledger):
    write, follower, _ = ledger
    write("ann", ONE, TWO, end="")
    assert names(follower.poll()) == ["e0", "e1"]
    write("ann", ONE, TWO, THREE)
    added = follower.poll()
    assert (names(added), added.anew) == (["e2"], False)
    write("bob", {**ONE, "event": "b0"}, end="")
    assert names(follower.poll()) == ["b0"]
    write("bob", {**ONE, "event": "b0", "grade": 0})
    again = follower.poll()
    assert again.anew and names(again) == ["e0", "e1", "e2", "b0"]


def test_one_event_in_two_files_is_one(ledger):
    write, follower, _ = ledger
    write("ann", ONE)
    write("merged", ONE, TWO)
    assert names(follower.poll()) == ["e0", "e1"]


def test_refused_and_torn_lines_are_told_and_stop_nothing(ledger):
    write, follower, _ = ledger
    write("ann", ONE, "{", TWO)
    write("bob", THREE, '{"format": 1, "ev', end="")
    added = follower.poll()
    assert names(added) == ["e0", "e1", "e2"] and added.refused == 1
    assert "bob.jsonl:2: the last line is cut short" in added.notices[0]


def test_what_this_process_appends_is_not_read_again(ledger, monkeypatch):
    write, follower, kept = ledger
    write("ann", ONE)
    follower.poll()
    opened = []
    plain = type(kept.folder).open

    def spy(path, mode="r", *arguments, **options):
        opened.append((path.name, mode))
        return plain(path, mode, *arguments, **options)

    monkeypatch.setattr(type(kept.folder), "open", spy)
    kept.append("ann.jsonl", TWO)
    before = len([one for one in opened if one == ("ann.jsonl", "rb")])
    assert names(follower.poll()) == ["e1"]
    data = (kept.folder / "ann.jsonl").read_bytes()
    assert data.decode().count("\n") == 2 == lines_of([ONE, TWO]).count("\n")
    after = [one for one in opened if one == ("ann.jsonl", "rb")]
    # The poll opens the file to look at its state and reads nothing of it.
    assert len(after) - before <= 2


def test_lines_of_another_process_between_two_of_ours_are_not_lost(ledger):
    write, follower, kept = ledger
    kept.append("ann.jsonl", ONE)
    with (kept.folder / "ann.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(TWO) + "\n")
    kept.append("ann.jsonl", THREE)
    assert names(follower.poll()) == ["e0", "e1", "e2"]
    assert [p.event.event for p in kept.read().events] == ["e0", "e1", "e2"]

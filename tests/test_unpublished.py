"""What a ledger file gained, and what the page says of it: cheap, quiet, never in the way."""

import json
from functools import partial

import pytest

from app.flows.sharing.unpublished import Growth, Watch, growth, is_ledger, is_published
from tests.repositories import asked, git, grade, repository


def line(name, grade=1, **more):
    return json.dumps({"event": name, "grade": grade, **more}).encode() + b"\n"


def names(events):
    return [event["event"] for event in events]


def test_lines_that_were_added():
    before = line("a") + line("b")
    found = growth(before, before + line("c") + line("d") + line("c"))
    assert names(found.new) == ["c", "d"]
    assert (found.missing, found.changed) == ((), ())
    assert growth(before, before) == Growth()
    assert names(growth(b"", before).new) == ["a", "b"]


def test_events_count_not_lines():
    """Merged, moved, reformatted or doubled lines are still the same events."""
    before = line("a") + line("b") + line("c")
    spaced = b'{"grade": 1,\t"event": "b"}\r\n'
    now = line("c") + spaced + b"\n" + line("a") + line("a") + line("new")
    assert growth(before, now) == Growth(new=({"event": "new", "grade": 1},))


def test_lines_that_are_gone_or_edited():
    found = growth(line("a") + line("b") + line("c"), line("b", 2) + line("c") + line("d"))
    assert names(found.new) == ["d"]
    assert (found.missing, found.changed) == (("a",), ("b",))


def test_a_doubled_id_that_was_mended_is_no_change():
    found = growth(line("a", 0) + line("a", 2), line("z", 0) + line("a", 2))
    assert (names(found.new), found.missing, found.changed) == (["z"], (), ())


def test_lines_that_cannot_be_read_are_passed_over():
    found = growth(b"{broken\n" + line("a"), line("a") + b'[1]\n{"event":3}\n' + line("b"))
    assert found == Growth(new=({"event": "b", "grade": 1},))


@pytest.mark.parametrize("count", [1, 40])
def test_an_id_spelled_otherwise_is_the_same_id(count):
    odd = [f"é-{n}" for n in range(count)]
    before = b"".join(line(name) for name in odd)  # json.dumps escapes é
    again = b"".join(json.dumps({"grade": 1, "event": n}, ensure_ascii=False).encode() + b"\n"
                     for n in odd)  # fmt: skip
    assert b"\\u00e9" in before and b"\\u00e9" not in again
    assert growth(before, before + again) == Growth()


@pytest.mark.parametrize("count", [3, 40])
def test_many_new_lines_of_which_some_are_known(count):
    before = line("known") + line("other")
    fresh = b"".join(line(f"n{n}") for n in range(count))
    found = growth(before, before + fresh + b'{"event" : "known", "grade": 1}\n')
    assert len(found.new) == count and not found.changed


def test_which_files_are_ledgers_and_which_are_never_published():
    assert is_ledger("judgments/ana.jsonl") and is_ledger("events/ana.jsonl")
    assert is_published("judgments/ana.jsonl") and is_published("events/ana.jsonl")
    for name in ("questions.jsonl", "guidelines.md", "baseline.toml", "complete/x.jsonl"):
        assert not is_ledger(name) and is_published(name)
    for name in ("ana.jsonl.lock", "ana.jsonl.torn", ".ana.jsonl.4711", "ana.jsonl.orig", "x.csv"):
        assert not is_published(f"judgments/{name}")
    for name in (".env", ".DS_Store", "questions.jsonl~", ".questions.jsonl.swp", "sub/x.jsonl"):
        assert not is_published(name)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watched(tiny, collection_of, clock, git_settings, monkeypatch):
    """A committed workspace: its folder, what the page would say, and how git was asked."""
    words = asked(monkeypatch)

    def build(**more):
        root = repository(tiny(), **more)
        watch, collection = Watch(clock), collection_of(root)
        return root, partial(watch.look, collection), words

    return build


def test_nothing_to_say_where_everything_is_published(watched):
    _, look, _ = watched()
    assert look() is None


def test_new_labels_are_counted_without_asking_git_again(watched, clock):
    root, look, words = watched()
    assert look() is None
    first = len(words)
    grade(root, "bob", 1)
    assert look().words == "1 unpublished"
    grade(root, "bob", 2)
    grade(root, "ann", 3)
    (root / "labels/tiny/judgments/bob.jsonl.lock").touch()
    said = look()
    assert said.words == "3 unpublished"
    assert said.help == (
        "Not committed to git yet: 3 labels (an undo counts as one). To publish, type "
        "`desk labels publish tiny` in a terminal."
    )
    assert len(words) == first
    clock.now = 5
    assert look() == said
    assert words[first:] == ["rev-parse", "rev-parse"]


def test_a_commit_is_noticed_after_some_seconds(watched, clock):
    root, look, _ = watched()
    grade(root, "bob", 1)
    assert look().words == "1 unpublished"
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "labels")
    clock.now = 3
    assert look().words == "1 unpublished"
    clock.now = 5
    assert look() is None


def test_other_files_are_named(watched):
    root, look, _ = watched()
    with (root / "labels/tiny/questions.jsonl").open("a") as file:
        file.write("\n")
    (root / "labels/tiny/guidelines.md").write_text("Be strict.\n")
    assert look().words == "guidelines.md and questions.jsonl unpublished"
    grade(root, "bob", 1)
    assert look().words == "1 unpublished"
    assert "1 label and guidelines.md and questions.jsonl" in look().help


def test_a_repository_without_a_commit_has_published_nothing(watched):
    _, look, _ = watched(commit=False)
    assert look().words == "3 unpublished"


def test_ignored_labels_are_not_nagged_about(watched):
    root, look, _ = watched(commit=False)
    (root / ".git/info/exclude").write_text("labels/\n")
    assert look() is None


def test_without_git_nothing_is_said_and_git_is_left_alone_for_a_minute(
    tiny, collection_of, clock, git_settings, monkeypatch
):
    words = asked(monkeypatch)
    root = tiny()
    watch, collection = Watch(clock), collection_of(root)
    for clock.now in (0, 5, 59):
        assert watch.look(collection) is None
    assert len(words) == 1
    repository(root, commit=False)
    clock.now = 61
    assert watch.look(collection).words == "3 unpublished"


def test_a_git_that_fails_later_breaks_nothing(watched, clock, monkeypatch):
    root, look, _ = watched()
    grade(root, "bob", 1)
    assert look().words == "1 unpublished"
    monkeypatch.setenv("PATH", "")
    clock.now = 5
    assert look() is None
    monkeypatch.undo()


def test_nobody_waits_for_somebody_elses_look(watched, clock):
    root, look, _ = watched()
    grade(root, "bob", 1)
    said = look()
    grade(root, "bob", 2)
    with look.func.__self__._lock:
        assert look() == said
    assert look().words == "2 unpublished"

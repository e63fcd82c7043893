"""Labeling: durable grades, undo, and nothing but the reviewer's own file."""

import json

import pytest

from app.core.errors import InvalidInput, LabelConflict
from app.flows import labeling
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.loading import load
from app.flows.own import Own
from app.flows.pooling import pool_of

FILE = "labels/tiny/judgments/ann.jsonl"


@pytest.fixture
def desk_of(tiny, collection_of):
    """A tiny workspace without labels; returns its folder and what reads it anew."""

    def build(labels=(), **more):
        root = tiny(labels=labels, **more)
        return root, lambda: load(collection_of(root))

    return build


def lines(root, name="ann"):
    path = root / f"labels/tiny/judgments/{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def append(root, name="ann", text=None, **record):
    path = root / f"labels/tiny/judgments/{name}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write((text or json.dumps(record)) + "\n")


def by_hand(event, grade, chunk="apple", **more):
    return {
        "format": 1, "event": event, "time": "2026-01-01T10:20:30.000Z", "author": "ann",
        "kind": "grade", "question": "q1", "chunk": [chunk, "as-is-v1", chunk], "grade": grade,
        **more,
    }  # fmt: skip


def item_of(loaded, chunk, question="q1"):
    key = next(key for key in loaded.corpus.eligible if key.chunk == chunk)
    return labeling.item(loaded, question, key)


def grade(read, chunk, value, reviewer="ann", question="q1"):
    loaded = read()
    return labeling.grade(loaded, reviewer, item_of(loaded, chunk, question), value).event


def undo(read, reviewer="ann"):
    """Take back the newest judgment, as the page does."""
    loaded = read()
    own = Own(loaded, reviewer)
    return labeling.undo(loaded, own, own.last.event).event


def last(read, reviewer="ann"):
    return Own(read(), reviewer).last


def bench(read):
    loaded = read()
    return Bench(loaded, pool_of(loaded), Claims())


def turn(read, reviewer="ann", question=None):
    return bench(read).turn(reviewer, Wish(question))


def in_force(read, reviewer="ann"):
    return {(q, j.key.chunk): j for (q, _), j in Own(read(), reviewer).fresh.items()}


def conflict(job, *words):
    with pytest.raises(LabelConflict) as caught:
        job(*words)
    return str(caught.value)


def test_a_grade_is_pinned_to_what_was_read(desk_of):
    root, read = desk_of()
    (root / "labels/tiny/guidelines.md").write_text("Grade fairly.")
    saved = labeling.grade(read(), "ann", item_of(read(), "apple"), 2)
    (line,) = lines(root)
    assert saved.notice is None and line == saved.event.model_dump()
    chunk = next(c for k, c in read().corpus.chunks.items() if k.chunk == "apple")
    assert (line["author"], line["grade"], line["blind"]) == ("ann", 2, True)
    assert line["text_hash"] == chunk.text_hash and line["replaces"] is None
    assert line["question_hash"] == read().questions["q1"].hash
    assert line["guidelines"] == read().collection.guidelines_version()
    assert read().labels.relevant("q1") == (chunk.key,)


def test_every_text_is_offered_once_until_all_are_judged(desk_of):
    texts = {"a": "one", "twin": "one", "b": "two", "c": "three"}
    root, read = desk_of(texts=texts)
    told, seen = [], []
    for _ in range(6):
        found = turn(read)
        seen.append((found.item.question, found.item.text))
        labeling.grade(read(), "ann", found.item, 0)
        count = turn(read, question="q1").progress
        told.append((count.question_mine, count.mine, count.left))
    assert sorted(seen) == [(q, t) for q in ("q1", "q2") for t in ("one", "three", "two")]
    assert len({question for question, _ in seen[:3]}) == 1
    assert [mine for _, mine, _ in told] == [1, 2, 3, 4, 5, 6]
    assert turn(read).item is None and turn(read).progress.left == 0
    assert turn(read, "bob").progress.left < 6  # what needs a second judgment


def test_a_second_tab_is_told_what_the_first_one_saved(desk_of):
    root, read = desk_of()
    loaded = read()
    shown = item_of(loaded, "apple")
    first = labeling.grade(loaded, "ann", shown, 2).event
    assert conflict(labeling.grade, loaded, "ann", shown, 0) == (
        f"apple was already judged at {first.time[11:19]} UTC (grade 2), perhaps in another "
        "tab. Nothing was saved: look at it again to change it."
    )
    assert len(lines(root)) == 1
    assert labeling.grade(loaded, "bob", shown, 0).event.author == "bob"  # no affair of ann's


def test_what_changed_since_it_was_shown_is_not_graded(desk_of, edit):
    root, read = desk_of()
    shown = item_of(read(), "apple")
    edit(root / "data/tiny/corpus.jsonl", "An apple tree", "Each apple tree")
    assert conflict(labeling.grade, read(), "ann", shown, 2) == (
        "the chunk apple has changed since it was shown. "
        "Nothing was saved: read it again and grade again."
    )
    shown = item_of(read(), "apple")
    edit(root / "labels/tiny/questions.jsonl", "When is an", "When is any")
    assert conflict(labeling.grade, read(), "ann", shown, 2) == (
        'the question "q1" has changed since it was shown. '
        "Nothing was saved: read it again and grade again."
    )
    assert lines(root) == []


def test_undo_withdraws_and_the_item_is_open_again(desk_of):
    root, read = desk_of()
    event = grade(read, "apple", 2)
    taken = undo(read)
    assert (taken.kind, taken.grade, taken.replaces) == ("withdraw", None, event.event)
    assert in_force(read) == {} and last(read) is None
    assert turn(read).progress.mine == 0
    assert read().labels.kinds["q1"] == "undecided"
    assert grade(read, "apple", 0).grade == 0 and len(lines(root)) == 3
    undo(read)
    assert in_force(read) == {}  # not back to the first one


def test_repeated_undo_steps_back(desk_of):
    _, read = desk_of()
    for chunk, value in (("apple", 2), ("pear", 0), ("plum", 1)):
        grade(read, chunk, value)
    assert [undo(read).key.chunk for _ in range(3)] == ["plum", "pear", "apple"]
    assert last(read) is None


def test_what_was_replaced_meanwhile_is_not_undone(desk_of):
    root, read = desk_of()
    event = grade(read, "apple", 2)
    stale = read()
    undo(read)
    sentence = "the judgment of apple was already taken back or replaced. Look at the item again."
    assert conflict(labeling.undo, stale, Own(stale, "ann"), event.event) == sentence
    other = grade(read, "apple", 1)
    append(root, **by_hand("later", 0, replaces=other.event))
    assert conflict(labeling.undo, stale, Own(stale, "ann"), other.event) == sentence
    assert len(lines(root)) == 4
    sentence = "there is nothing of yours to undo. Go on grading."
    assert conflict(labeling.undo, read(), Own(read(), "ann"), "nope") == sentence


WHOLE = {"note": "see the table", "blind": False}


@pytest.mark.parametrize(
    "before",
    [
        by_hand("e1", 1, note="see the table"),
        by_hand("e1", 1, blind=False),
        by_hand("e1", 1, evidence=[{"quote": "in winter", "facts": ["when"]}], **WHOLE),
        by_hand("e1", None, kind="cannot-judge", reason="broken text", note="no words"),
    ],
)
def test_undo_brings_back_whole_what_was_replaced(desk_of, before):
    root, read = desk_of()
    append(root, **before)
    one = next(iter(in_force(read).values())).model_dump()
    append(root, **by_hand("e2", 2, replaces="e1"))
    back = undo(read).model_dump()
    changed = {"event", "time", "replaces", "undoes"}
    assert {k for k in one if one[k] != back[k]} <= changed and one.keys() == back.keys()
    assert back["replaces"] == "e2" and back["event"] not in ("e1", "e2")
    assert [j.event for j in in_force(read).values()] == [back["event"]]


def test_undo_goes_on_behind_what_it_brought_back(desk_of):
    """Each press steps back: it never returns to what an earlier press took away."""
    root, read = desk_of()
    grade(read, "pear", 0)
    append(root, **by_hand("e1", 1))
    append(root, **by_hand("e2", 2, replaces="e1"))
    assert undo(read).grade == 1
    assert undo(read).kind == "withdraw" and ("q1", "apple") not in in_force(read)
    assert undo(read).key.chunk == "pear" and in_force(read) == {}


def test_undo_writes_nothing_for_anybody_else(desk_of):
    root, read = desk_of()
    append(root, **by_hand("e1", 1, author="bob"))
    assert last(read) is None and in_force(read) == {}
    assert conflict(labeling.undo, read(), Own(read(), "ann"), "e1").endswith(".")
    assert len(lines(root)) == 1 and not (root / "labels/tiny/judgments/bob.jsonl").exists()


def test_the_newest_judgment_is_the_last_line_of_the_file_not_of_the_clock(desk_of):
    root, read = desk_of()
    first = grade(read, "apple", 2)
    append(root, **by_hand("old", 0, chunk="pear"))
    assert (last(read).event, first.event < "old") == ("old", True)
    append(root, **by_hand("later", None, chunk="plum", kind="later"))
    assert last(read).event == "later"


def test_changed_guidelines_open_the_items_again_where_they_matter(desk_of):
    root, read = desk_of(settings="[labels]\nguidelines_matter = true")
    path = root / "data/tiny/collection.toml"
    guidelines = root / "labels/tiny/guidelines.md"
    guidelines.write_text("Grade fairly.")
    grade(read, "apple", 2)
    assert ("q1", "apple") in in_force(read)
    guidelines.write_text("Grade strictly.")
    assert in_force(read) == {} and last(read) is None
    assert turn(read, question="q1").progress.question_mine == 0
    again = grade(read, "apple", 1)
    assert again.guidelines == read().collection.guidelines_version()
    assert [label.grade for label in read().labels.pairs.values()] == [1]
    guidelines.write_text("Grade as you like.")
    path.write_text(path.read_text().replace("guidelines_matter = true", ""))
    assert ("q1", "apple") in in_force(read)


def test_a_bad_line_of_another_keeps_nobody_from_grading(desk_of, desk):
    root, read = desk_of()
    append(root, "bob", text="{")
    append(root, "cid", **by_hand("c1", 2, author="cid", question="q9"))
    event = grade(read, "apple", 2)
    assert undo(read).replaces == event.event and len(lines(root)) == 2
    assert desk(root, "index", "tiny").code == 0
    bad = "error: labels/tiny/judgments/bob.jsonl:1: the line is not JSON"
    assert desk(root, "evaluate", "tiny").err.startswith(bad)
    checked = desk(root, "check", "tiny")
    assert checked.code == 2 and f"  {bad}" in checked.out
    (root / "labels/tiny/judgments/bob.jsonl").unlink()
    bad = 'labels/tiny/judgments/cid.jsonl:1: the question "q9" is unknown'
    assert bad in desk(root, "evaluate", "tiny").err and bad in desk(root, "check", "tiny").out
    assert not (root / "data/desk.duckdb").exists()


def test_a_bad_line_of_one_s_own_is_told(desk_of):
    root, read = desk_of()
    shown = item_of(read(), "apple")
    append(root, text="{")
    with pytest.raises(InvalidInput, match=rf"{FILE}:1: the line is not JSON"):
        labeling.grade(read(), "ann", shown, 2)
    assert (root / FILE).read_text() == "{\n"

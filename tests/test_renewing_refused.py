"""Stale judgments: what is not known of them, and what is not confirmed."""

from functools import partial

import pytest

from app.core.errors import InvalidInput
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.renewing import confirm, groups
from tests.conftest import lines_of
from tests.renewing import FILE, Desk, conflict, rows, text_of


@pytest.fixture
def desk_of(tiny, collection_of):
    return partial(Desk.of, tiny, collection_of)


# --- What is not known ------------------------------------------------------


def test_texts_that_are_not_retained_are_not_shown_and_the_words_say_so(desk_of):
    desk = desk_of()
    path = desk.root / "data/tiny/collection.toml"
    path.write_text(path.read_text().replace("[source]", "retain_text = false\n[source]", 1))
    desk.grade("c0", 2)
    desk.keep()
    desk.corpus(*rows("9 June"))
    (one,) = desk.stale()
    assert (one.old_text, one.text_parts) == (None, ())
    assert one.unknown == (
        "Not kept is the text that was judged: retain_text is false in data/tiny/collection.toml."
    )
    assert not list(desk.root.glob("data/tiny/vectors/texts*"))
    confirm(desk.load(), "ann", [one])
    assert desk.stale() == [] and not list(desk.root.glob("data/tiny/vectors/texts*"))


def test_without_an_archive_the_store_of_executions_is_asked(desk_of):
    desk = desk_of(texts=rows(count=3))
    desk.grade("c0", 2)
    collection = desk.load().collection
    index(collection)
    evaluate(collection)
    (desk.root / "data/tiny/vectors/texts.db").unlink()
    desk.corpus(*rows("9 June", 3))
    assert [one.old_text for one in desk.stale()] == [text_of(0)]
    (desk.root / "data/desk.duckdb").unlink()
    (one,) = desk.stale()
    assert one.unknown == "Not known here any more is the text that was judged."


def test_unknown_old_texts_are_never_one_change(desk_of):
    desk = desk_of()
    for number in range(3):
        desk.grade(f"c{number}", 1)
    desk.corpus(*rows("9 June"))
    assert [len(group.items) for group in groups(desk.stale())] == [1, 1, 1]


# --- What is refused --------------------------------------------------------


def test_a_second_tab_is_told_and_nothing_is_saved(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.grade("c1", 2)
    desk.corpus(*rows("9 June"))
    loaded, found = desk.load(), desk.stale()
    confirm(loaded, "ann", found[:1])
    assert conflict(loaded, "ann", found) == (
        "your judgment of d c0 was confirmed, changed or taken back meanwhile, perhaps in another "
        "tab. Nothing was saved: look at what is left and confirm again."
    )
    assert len(desk.lines()) == 3
    desk.grade("c1", 0)  # the chunk as it is now, without naming what it replaces
    assert "d c1 was confirmed, changed" in conflict(loaded, "ann", found[1:])


def test_what_changed_since_it_was_shown_is_not_confirmed(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.corpus(*rows("9 June"))
    found = desk.stale()
    desk.corpus(*rows("10 June"))
    assert "the chunk d c0 has changed since it was shown" in conflict(desk.load(), "ann", found)
    desk.ask("q1", text="Other?")
    assert 'the question "q1" has changed' in conflict(
        desk.load(), "ann", desk.stale()[:0] or found
    )
    assert len(desk.lines()) == 1


def test_only_who_may_grade_confirms(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.corpus(*rows("9 June"))
    with pytest.raises(InvalidInput, match="no judgment was chosen"):
        confirm(desk.load(), "ann", [])
    (desk.root / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["bob"]\n')
    with pytest.raises(InvalidInput, match="you may read but not grade"):
        confirm(desk.load(), "ann", desk.stale())
    assert len(desk.lines()) == 1


def test_nobody_elses_judgment_is_read_or_found(desk_of):
    desk = desk_of()
    desk.grade("c0", 2, reviewer="bob")
    desk.grade("c1", 1)
    desk.corpus(*rows("9 June"))
    (desk.root / FILE.format("bob")).write_text("not a line\n")
    assert [one.event.author for one in desk.stale()] == ["ann"]
    assert desk.stale("eve") == []


def test_what_is_retired_or_put_off_is_not_asked_again(desk_of):
    desk = desk_of()
    retired = desk.grade("c0", 2)
    desk.grade("c1", 1, kind="later", grade=None)
    desk.grade("c2", 1)
    folder = desk.root / "labels/tiny/events"
    folder.mkdir(exist_ok=True)
    line = {
        "format": 1, "event": "r1", "time": "t", "author": "bob", "kind": "retire-label",
        "question": "q1", "chunk": ["d", "v1", "c0"], "note": "gone",
        "text_hash": retired.text_hash,
    }  # fmt: skip
    (folder / "bob.jsonl").write_text(lines_of([line]))
    desk.corpus(*rows("9 June"))
    assert [one.key.chunk for one in desk.stale()] == ["c2"]

"""Practice items for a new reviewer: they label nothing, and are offered once."""

import json

import pytest

from app.core.errors import InvalidInput
from app.flows.loading import load
from app.flows.practice import finish, has_practised, practice_items
from tests.labelpage import buttons, chunk_on_screen, lines, press, shown

EVENTS = "labels/runbooks/events/ana.jsonl"


def item(id, **more):
    base = {"format": 1, "id": id, "question": "What?", "text": "This.", "grade": 2, "why": "So."}
    return json.dumps(base | more)


def test_the_general_set_has_five_items_of_every_grade(tiny, collection_of):
    items = practice_items(collection_of(tiny()))
    assert len(items) == 5 and {one.grade for one in items} == {0, 1, 2}
    assert all(len(one.why) > 60 for one in items)


def test_a_collection_can_have_items_of_its_own(tiny, collection_of):
    root = tiny()
    path = root / "labels/tiny/practice.jsonl"
    path.write_text(item("a") + "\n" + item("b", grade=0) + "\n")
    assert [one.id for one in practice_items(collection_of(root))] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "practice.jsonl:2: the line is not JSON"),
        (item("b", grade=3), "practice.jsonl:2: grade 3 is outside 0..2"),
        (item("a"), "the id a is used twice"),
        (item("b", why=" "), "practice.jsonl:2: why is blank"),
    ],
)
def test_a_bad_item_is_told_with_its_place(tiny, collection_of, line, words):
    root = tiny()
    (root / "labels/tiny/practice.jsonl").write_text(item("a") + "\n" + line + "\n")
    with pytest.raises(InvalidInput) as caught:
        practice_items(collection_of(root))
    assert words in str(caught.value)


def test_who_has_graded_or_practised_is_not_new(tiny, collection_of):
    loaded = load(collection_of(tiny()))
    assert has_practised(loaded, "ann") and not has_practised(loaded, "bob")
    finish(loaded, "bob", {"a": 1})
    assert has_practised(loaded, "bob") and not has_practised(loaded, "cid")
    assert not (loaded.collection.labels_folder / "judgments/bob.jsonl").exists()
    assert loaded.labels.judgments == 3


def test_a_new_reviewer_practises_and_then_grades(page, runbooks):
    at = page("label", reviewer="Ana")
    assert "Practise first?" in shown(at) and chunk_on_screen(at) is None
    at.button(key="practise").click().run()
    for number in range(5):
        assert f"Practice {number + 1} of 5" in shown(at)
        press(at, "give-1")
        assert "You gave 1" in shown(at) and buttons(at, "give-1") == []
        press(at, "next")
    assert "1 of 5 as explained" in shown(at)
    at.button(key="end-practice").click().run()
    assert chunk_on_screen(at) is not None and len(buttons(at, "grade")) == 3
    (event,) = lines(runbooks / EVENTS)
    assert event["kind"] == "practice" and set(event["given"].values()) == {1}
    assert not (runbooks / "labels/runbooks/judgments/ana.jsonl").exists()
    again = page("label", reviewer="ana")
    assert "Practise first?" not in shown(again)


def test_practice_is_passed_over_with_one_press(page, runbooks):
    at = page("label", reviewer="Ana")
    at.button(key="skip-practice").click().run()
    assert chunk_on_screen(at) is not None
    (event,) = lines(runbooks / EVENTS)
    assert (event["skipped"], event["given"]) == (True, {})


def test_a_link_to_an_item_is_followed_at_once(page):
    at = page("label", reviewer="Ana", question="retry-budget")
    assert chunk_on_screen(at) is not None

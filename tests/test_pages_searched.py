"""What the corpus was searched for before a question is marked unsupported is written down."""

import json

import pytest

from app.flows import asking
from app.flows.drafts import Draft
from app.flows.indexing import index
from app.flows.loading import load
from tests.labelpage import chunk_on_screen
from tests.reviewing import filled, opened, said, shown

PANEL = "unsupported-tiny-q2"


@pytest.fixture
def root(tiny, collection_of):
    root = filled(tiny, said("ann", "apple", 2))
    index(collection_of(root))
    return root


@pytest.fixture
def panel(root, monkeypatch):
    """The panel Unsupported of q2, unfolded."""
    at = opened(root, monkeypatch, "questions", "ann", question="q2")
    at.session_state[PANEL] = True
    return at.run()


def field(at):
    return at.text_area(key=f"{PANEL}-searched")


def press(at, label):
    (button,) = [one for one in at.button if one.label == label]
    return button.click().run()


def search(at, words):
    at.text_input(key="search-tiny-q2-in-place").set_value(words)
    return press(at, "Search")


def test_what_this_session_searched_for_is_added_to_what_is_typed(panel):
    at = panel
    assert field(at).value == ""
    at.session_state["searched"] = {("tiny", "q2"): ["dried plums"], ("tiny", "q1"): ["trees"]}
    at.run()
    assert field(at).value == "dried plums"
    field(at).set_value("dried plums\nsomething else").run()
    at.session_state["searched"][("tiny", "q2")].append("jam")
    at.run()
    assert field(at).value == "dried plums\nsomething else\njam"
    field(at).set_value("").run()
    assert field(at).value == ""


def test_the_corpus_is_searched_in_the_panel_and_the_search_is_written_down(panel, root):
    at = search(panel, "pruned in winter")
    assert field(at).value == "pruned in winter" and "desk-found" in shown(at)
    assert "found for “pruned in winter”, in no order" in shown(at)
    at = search(at, "dried plums")
    field(at).set_value("pruned in winter\ndried plums\nasked the growers").run()
    at.checkbox(key=f"{PANEL}-sure").check().run()
    press(at, "Mark unsupported")
    (line,) = (root / "labels/tiny/events/ann.jsonl").read_text().splitlines()
    assert json.loads(line)["searched"] == ["pruned in winter", "dried plums", "asked the growers"]
    assert at.session_state[PANEL] and "q2 is unsupported." in shown(at)


def test_a_chunk_that_was_found_is_opened_on_the_view_grade_and_back(panel, root):
    at = search(panel, "plums")
    field(at).set_value("plums\nasked the growers").run()
    (chunk,) = [one for one in at.button if one.key.startswith("grade-q2-")]
    chunk.click().run()
    assert at.segmented_control(key="pick-view").value == "grade"
    assert "plums" in (chunk_on_screen(at) or "").lower()
    assert at.query_params["question"] == "q2" and "plum" in at.query_params["chunk"]
    at.segmented_control(key="pick-view").set_value("questions").run()
    assert field(at).value == "plums\nasked the growers" and "found for “plums”" in shown(at)


def test_a_question_nearly_alike_that_is_answered_is_told_before_the_mark(
    panel, root, collection_of
):
    told = "reads nearly alike and has relevant evidence"
    assert told not in shown(panel)
    loaded = load(collection_of(root))
    asking.edit(loaded, "bob", loaded.questions["q2"], Draft("When is the apple tree pruned",
                "general"))  # fmt: skip
    assert f"The question q1 {told}: “{loaded.questions['q1'].text}”" in shown(panel.run())

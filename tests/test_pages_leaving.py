"""From one view of page Label to another: what of an item stays in the address."""

import pytest

from app.core.model import ChunkKey
from app.core.trec import key_token
from tests.labelpage import chunk_on_screen
from tests.reviewing import filled, opened, said, shown


@pytest.fixture
def root(tiny):
    """Bob and Cid dispute the apple; nothing of the second question is in dispute."""
    return filled(tiny, said("bob", "apple", 2), said("cid", "apple", 0))


@pytest.fixture
def grading(root, monkeypatch):
    """Opens the view Grade with the plum and the second question."""

    def run(question="q2", name="plum"):
        at = opened(root, monkeypatch, "grade", "ann", question=question, chunk=token(name))
        for one in at.button:
            if one.key == "skip-practice":
                one.click().run()
                break
        assert address(at) == (question, token(name))
        return at

    return run


def token(name):
    return key_token(ChunkKey(name, "as-is-v1", name))


def address(at):
    found = (at.query_params.get(name) for name in ("question", "chunk"))
    return tuple(one[0] if isinstance(one, list) else one for one in found)


def go(at, view):
    at.segmented_control(key="pick-view").set_value(view).run()
    assert not at.exception
    return at


def test_the_view_questions_puts_its_own_question_into_the_address_without_a_chunk(grading):
    at = go(grading(), "questions")
    assert address(at) == ("q2", None)
    # The same question: Grade goes on with its item.
    assert address(go(at, "grade")) == ("q2", token("plum"))
    at = go(at, "questions")
    at.button(key="open-q1").click().run()
    assert address(at) == ("q1", None)
    at = go(at, "grade")
    assert address(at)[0] == "q1" and "When is an apple tree pruned?" in shown(at)


def test_a_question_that_is_looked_at_and_left_again_leaves_grading_where_it_was(grading):
    at = go(grading(), "questions")
    for name in ("q1", "q2"):
        at.button(key=f"open-{name}").click().run()
    assert address(go(at, "grade")) == ("q2", token("plum"))
    assert "Plums are dried" in chunk_on_screen(at)


@pytest.mark.parametrize("view", ["agreement", "exchange", "history"])
def test_views_without_an_item_have_none_in_the_address_and_lead_back_to_it(grading, view):
    at = go(grading(), view)
    assert address(at) == (None, None) and "The link names" not in shown(at)
    assert address(go(at, "grade")) == ("q2", token("plum"))


@pytest.mark.parametrize(("question", "name"), [("q2", "plum"), ("q1", "pear"), ("q1", "apple")])
@pytest.mark.parametrize("by", [[], ["questions"]])
def test_what_grade_left_in_the_address_is_no_wrong_link_to_a_dispute(grading, question, name, by):
    at = grading(question, name)
    for view in [*by, "disputes"]:
        go(at, view)
    assert "The link names" not in shown(at) and "1 of 1" in shown(at)
    assert address(at) == ("q1", token("apple"))


def test_what_history_showed_is_no_wrong_link_either(root, monkeypatch):
    query = {"question": "q2", "chunk": token("plum")}
    at = opened(root, monkeypatch, "history", "ann", **query)
    assert "The link names" not in shown(go(at, "disputes"))
    at = opened(root, monkeypatch, "history", "ann", **query)
    assert address(go(at, "exchange")) == (None, None)


def test_a_link_to_a_dispute_that_is_not_there_is_told(root, monkeypatch):
    at = opened(root, monkeypatch, "disputes", "ann", question="q2", chunk=token("plum"))
    assert "The link names &quot;q2&quot; as question, which is not there." in shown(at)

"""From the view Grade to the view Questions: what was searched for goes along."""

import pytest

from tests.reviewing import filled, opened, said, shown


@pytest.fixture
def root(tiny):
    return filled(tiny, said("ann", "apple", 2))


def field(at):
    return at.text_area(key="unsupported-q2-searched")


def test_what_this_session_searched_for_stands_in_the_field_until_something_is_typed(
    root, monkeypatch
):
    at = opened(root, monkeypatch, "questions", "ann", question="q2")
    assert field(at).value == ""
    assert "view=grade&amp;reviewer=ann&amp;question=q2" in shown(at)
    assert "Search the corpus (key s)" in shown(at)
    at.session_state["searched"] = {("tiny", "q2"): ["dried plums"], ("tiny", "q1"): ["trees"]}
    at.run()
    assert field(at).value == "dried plums"
    at.session_state["searched"][("tiny", "q2")].append("prunes")
    at.run()
    assert field(at).value == "dried plums\nprunes"
    field(at).set_value("something else").run()
    at.session_state["searched"][("tiny", "q2")].append("jam")
    at.run()
    assert field(at).value == "something else"
    field(at).set_value("").run()
    assert field(at).value == ""

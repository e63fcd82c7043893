"""The view Disputes: what of a pair is shown, to whom, and what stands beside it."""

import json
from functools import partial

import pytest

from app.core.model import ChunkKey
from app.core.trec import key_token
from tests.conftest import QUESTIONS
from tests.reviewing import filled, opened, said, shown

FACT = {"id": "when", "text": "The <season> of pruning"}


@pytest.fixture
def root(tiny):
    """Apple is disputed by Ann and Bob, plum by Ann and Cem; q1 has a fact that Ann quotes."""
    quote = [{"quote": "pruning in winter", "facts": ["when", "gone"]}]
    asked = [
        {"format": 1, "id": name, "category": "general", "text": words, "facts": facts}
        for (name, words), facts in zip(QUESTIONS.items(), ([FACT], []), strict=True)
    ]
    root = filled(
        tiny,
        said("ann", "apple", 2, evidence=quote, question_hash=None),
        said("bob", "apple", 0, question_hash=None),
        said("ann", "plum", 0, "q2"), said("cem", "plum", 1, "q2"),
        questions=asked,
    )  # fmt: skip
    (root / "labels/tiny/guidelines.md").write_text("A table fragment is a **1**.")
    return root


@pytest.fixture
def page(root, monkeypatch):
    return partial(opened, root, monkeypatch, "disputes")


def named(root):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nadjudicators = ["eve"]\n')


APPLE = {"question": "q1", "chunk": key_token(ChunkKey("apple", "as-is-v1", "apple"))}


def test_facts_and_guidelines_stand_beside_the_pair_and_quotes_name_facts_in_words(page):
    text = shown(page("ann"))
    assert "<b>when</b>: The &lt;season&gt; of pruning" in text
    assert "supports when (The &lt;season&gt; of pruning), gone" in text
    assert "How to grade" in text and "A table fragment is a <strong>1</strong>." in text


def test_a_pair_the_viewer_has_not_judged_is_held_back_until_asked_for(page):
    at = page("cem", **APPLE)
    text = shown(at)
    assert "You have not judged 1 of 2 pairs here." in text and "kept as not blind" in text
    assert "Not shown: you have not judged this pair yet" in text and "Grade it first" in text
    assert "An apple tree needs" not in text and "Reviewer A" not in text and not at.text_area
    (button,) = [b for b in at.button if b.label == "Show it"]
    text = shown(button.click().run())
    assert "An apple tree needs" in text and "Reviewer A" in text and at.text_area


def test_without_a_link_the_first_pair_that_may_be_shown_comes_first(page):
    text = shown(page("cem"))
    assert "2 of 2" in text and "Plums are dried" in text


def test_a_named_adjudicator_is_told_and_shown_at_once(page, root):
    named(root)
    text = shown(page("eve"))
    assert "You have not judged 2 of 2 pairs here." in text and "An apple tree needs" in text


def test_who_judged_every_pair_is_told_nothing_of_it(page):
    text = shown(page("ann"))
    assert "You have not judged" not in text and "1 of 2" in text


def test_a_judgment_that_is_stale_holds_the_pair_back(page, root):
    path = root / "labels/tiny/judgments/ann.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["question_hash"] = "as it was"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    named(root)
    text = shown(page("cem"))
    assert "Nothing you have judged is in dispute." in text


def test_examples_of_decisions_that_are_held_back_are_counted_and_not_shown(page):
    at = page("ann")
    (area,) = [a for a in at.text_area if a.key.startswith("rationale-")]
    area.set_value("Half of the rule.")
    (button,) = [b for b in at.button if b.label.startswith("Decide **1**")]
    button.click().run()
    (button,) = [b for b in at.button if b.label == "Propose as an example"]
    button.click().run()
    assert "Half of the rule." in shown(page("bob", show="decided"))
    at = page("cem", show="decided")
    assert "1 decision, 1 not shown" in shown(at) and "1 example not shown" in shown(at)
    assert "Half of the rule." not in shown(at)
    at.toggle(key="show-unjudged-decisions").set_value(True).run()
    assert "Half of the rule." in shown(at) and "not shown" not in shown(at)

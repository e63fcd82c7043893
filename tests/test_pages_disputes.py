"""The view Disputes: what waits, the decision, and what follows it."""

import json

import pytest

from app.core.model import ChunkKey
from app.core.trec import key_token
from app.flows.adjudicating import disputes
from tests.reviewing import filled, opened, read, said, shown, write

NOTE = "Only <b>half</b>, $x$ :red[no]"


@pytest.fixture
def root(tiny):
    """Apple is disputed 0 to 2, plum 0 to 1; pear is unsettled."""
    quote = [{"quote": "pruning in <winter>", "facts": ["when"]}]
    return filled(
        tiny,
        said("ann", "apple", 2, evidence=quote), said("bob", "apple", 0, note=NOTE),
        said("ann", "plum", 0, "q2"), said("bob", "plum", 1, "q2"),
        said("ann", "pear", 1), said("bob", "pear", 2),
    )  # fmt: skip


@pytest.fixture
def page(root, monkeypatch):
    """Opens the view for a viewer, who asks for the pair where it is held back."""

    def open_and_show(viewer, **query):
        return show_it(opened(root, monkeypatch, "disputes", viewer, **query))

    return open_and_show


def show_it(at):
    for button in [b for b in at.button if b.label == "Show it"]:
        button.click().run()
    return at


def chunk(name):
    return key_token(ChunkKey(name, "as-is-v1", name))


def decide(at, grade, words):
    (area,) = [a for a in at.text_area if a.key.startswith("rationale-")]
    area.set_value(words)
    (button,) = [b for b in at.button if b.key and b.key.startswith(f"decide-{grade}-")]
    return button.click().run()


def test_the_widest_dispute_comes_first_without_names(page):
    text = shown(page("cem"))
    assert "1 of 2, widest first" in text and "When is an apple tree pruned?" in text
    assert "An apple tree needs pruning in winter." in text
    assert "Reviewer A" in text and "Reviewer B" in text
    assert "2 answers" in text and "0 does not help" in text
    assert "Only &lt;b&gt;half&lt;/b&gt;, $x$ :red[no]" in text
    assert "pruning in &lt;winter&gt;" in text and "supports when" in text
    assert "ann" not in text.replace("cannot", "") and "bob" not in text


def test_next_and_a_link_lead_to_a_pair(page):
    at = page("cem")
    show_it(at.button(key="dispute-Next").click().run())
    assert "2 of 2" in shown(at) and "Plums are dried" in shown(at)
    assert (at.query_params["question"], at.query_params["chunk"]) == ("q2", chunk("plum"))
    again = page("cem", question="q2", chunk=chunk("plum"))
    assert "2 of 2" in shown(again) and "The link names" not in shown(again)
    assert again.button(key="dispute-Next").disabled


def test_unsettled_pairs_are_behind_a_filter(page):
    assert "A pear ripens" not in shown(page("cem"))
    at = page("cem", show="unsettled", question="q1", chunk=chunk("pear"))
    assert "A pear ripens" in shown(at) and "unsettled: the lower grade is used" in shown(at)


def test_a_decision_is_saved_shown_under_names_and_taken_back(page, root):
    at = decide(page("cem"), 1, "Half of the rule.")
    (line,) = map(json.loads, (root / "labels/tiny/judgments/cem.jsonl").read_text().splitlines())
    assert (line["grade"], line["note"], line["adjudication"]) == (1, "Half of the rule.", True)
    text = shown(at)
    assert f"Saved {line['time'][11:19]} UTC: decided 1 for apple." in text and "1 of 1" in text
    decided = page("cem", show="decided")
    for words in ("Decided by cem", "Half of the rule.", "ann", "bob"):
        assert words in shown(decided)
    at.button(key="undo-decision").click().run()
    assert "taken back for apple" in shown(at) and "1 of 2" in shown(at)
    assert len(disputes(read(root))) == 2


def test_a_decision_without_a_rationale_is_refused_in_a_sentence(page, root):
    at = decide(page("cem"), 1, " ")
    assert "The rationale is missing. Say in a sentence why this is the grade." in shown(at)
    assert not (root / "labels/tiny/judgments/cem.jsonl").exists()


def place_of(at, words):
    """Where on the page the element with these words stands, from the top."""
    told = [
        str(getattr(e, "label", "")) + str(getattr(getattr(e, "proto", None), "body", ""))
        for e in at.main
    ]
    return next(n for n, one in enumerate(told) if words in one)


def test_what_failed_is_told_beside_the_buttons(page):
    at = decide(page("cem"), 1, "")
    assert (
        place_of(at, "Decide **2**") < place_of(at, "is missing") < place_of(at, "Retire the pair")
    )


def test_after_a_decision_the_next_dispute_is_announced_beside_its_buttons(page, root):
    at = decide(page("ann"), 1, "Half of the rule.")
    (told,) = [t.value for t in at.text if t.value.startswith("Saved ")]
    assert told.endswith("decided 1 for apple. What is shown now is the next dispute.")
    places = [place_of(at, words) for words in (">Decide<", "Take back", "Decide **2**")]
    assert places == sorted(places)
    at.button(key="undo-decision").click().run()
    assert "the next dispute" not in shown(at) and "taken back for apple" in shown(at)


def test_a_pair_that_was_judged_while_it_was_on_screen_is_not_decided(page, root):
    at = page("cem")
    write(root, said("dan", "apple", 2))
    decide(at, 1, "Half.")
    assert "was judged or decided since it was shown. Nothing was saved" in shown(at)


def test_a_pair_is_retired_with_a_note(page, root):
    at = page("cem")
    (area,) = [a for a in at.text_area if a.key.startswith("note-")]
    area.set_value("The text is broken.")
    (button,) = [b for b in at.button if b.label == "Retire the pair"]
    button.click().run()
    assert "retired apple" in shown(at) and "1 of 1" in shown(at)
    assert "Retired by cem" in shown(page("cem", show="decided"))
    # In the same session the last decision stands above the list: both have their buttons.
    at.segmented_control(key="pick-show").set_value("decided").run()
    assert not at.exception and "Something unexpected" not in shown(at)
    assert len([b for b in at.button if b.label == "Bring back"]) == 2
    back = page("ann", show="decided")
    (button,) = [b for b in back.button if b.label == "Bring back"]
    text = shown(button.click().run())
    assert "brought back apple" in text and "Retired by" not in text
    assert "1 of 2" in shown(page("ann"))


def test_a_decision_is_proposed_as_an_example(page):
    decide(page("cem"), 1, "Half of the rule.")
    at = page("ann", show="decided")
    assert "None yet." in shown(at)
    (button,) = [b for b in at.button if b.label == "Propose as an example"]
    button.click().run()
    text = shown(at)
    assert "Proposed as an example by ann" in text
    assert "To be taken over into labels/tiny/guidelines.md by hand" in text
    assert not [b for b in at.button if b.label in ("Propose as an example", "Take back")]
    assert "taken back since" not in text
    again = page("cem", show="decided")
    (button,) = [b for b in again.button if b.label == "Take back"]
    assert "1 helps, not enough alone (taken back since)" in shown(button.click().run())


def test_who_may_not_adjudicate_sees_what_they_judged_and_decides_nothing(page, root):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nadjudicators = ["eve"]\n')
    write(root, said("dan", "apple", 2))
    at = page("dan")
    text = shown(at)
    assert "you may read but not adjudicate" in text.lower()
    assert "1 pair not shown: you have not judged it" in text and "1 of 1" in text
    assert not at.text_area and not [b for b in at.button if b.key and "decide" in b.key]


def test_nothing_in_dispute_says_so_and_what_to_do(tiny, monkeypatch):
    root = filled(tiny, said("ann", "apple", 2))
    text = shown(opened(root, monkeypatch, "disputes", "ann"))
    assert "Nothing is in dispute." in text and "see Agreement" in text
    assert "No pair has been decided yet." in shown(
        opened(root, monkeypatch, "disputes", "ann", show="decided")
    )


def test_a_store_that_cannot_be_read_keeps_nobody_from_deciding(page, root):
    (root / "data/desk.duckdb").write_bytes(b"no store")
    at = page("cem")
    assert "What hangs on each pair is not known now." in shown(at)
    assert "decided 0 for apple" in shown(decide(at, 0, "Winter is not said."))

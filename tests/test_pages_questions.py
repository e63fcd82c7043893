"""Page Label, view Questions, run as Streamlit runs it but without a browser."""

import pytest

from app.flows import asking
from app.flows.drafts import Draft
from app.flows.loading import load
from tests.labelpage import shown
from tests.questionspage import HOSTILE, events, field, listed, opener, press, unfold, workspace


@pytest.fixture
def root(tiny, monkeypatch):
    root = workspace(tiny)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def view(root, repository):
    return opener(repository)


def test_the_list_counts_and_narrows_by_the_link(view):
    at = view()
    assert listed(at) == ["q1", "q2", "odd"]
    assert "3 questions: 1 answerable, 1 no evidence yet, 1 undecided." in shown(at)
    at = view(words="PLUMS")
    assert listed(at) == ["q2"] and "1 question shown." in shown(at)
    assert listed(view(category="fruit", split="held-out", kind="undecided")) == ["odd"]
    at = view(words="nothing like it")
    assert listed(at) == [] and "No question is like that." in shown(at)


def test_words_of_a_question_are_data(view):
    at = view(question="odd")
    (label,) = [one.label for one in at.button if one.key == "open-odd"]
    assert r"\$5 \<b\>enough" in label and r"\[x\]\(y\)" in label and r"\:red\[z\]" in label
    assert field(at, "-text").value == HOSTILE


def test_an_edit_says_what_it_does_and_is_saved_once_that_is_confirmed(view, root):
    at = view(question="q1")
    assert field(at, "-text").value == "When is an apple tree pruned?"
    field(at, "-text").set_value("When is a tree pruned?").run()
    assert "makes its 1 label stale" in shown(at)
    press(at, "Save the question")
    assert events(root) == [] and "and that is not confirmed" in shown(at)
    field(at, "-stale", "checkbox").check().run()
    field(at, "-note", "text_input").set_value("any tree").run()
    press(at, "Save the question")
    (event,) = events(root)
    assert (event["value"]["text"], event["note"]) == ("When is a tree pruned?", "any tree")
    assert event["value"]["facts"] == [{"id": "f1", "text": "Winter."}]
    assert "Saved" in shown(at) and "the question q1." in shown(at)
    assert field(at, "-text").value == "When is a tree pruned?"
    assert "changed the text from" in shown(at)


def test_facts_are_added_and_removed_row_by_row(view, root):
    at = view(question="q2")
    press(at, "Add a fact")
    press(at, "Add a fact")
    field(at, "-fact-0", "text_input").set_value("Prunes.").run()
    field(at, "-fact-1", "text_input").set_value("Jam.").run()
    field(at, "-remove-0", "button").click().run()
    press(at, "Add a fact")
    field(at, "-fact-2-id", "text_input").set_value("x").run()
    field(at, "-fact-2", "text_input").set_value("Wine.").run()
    field(at, "-stale", "checkbox").check().run()
    press(at, "Save the question")
    (event,) = events(root)
    assert event["value"]["facts"] == [{"id": "f1", "text": "Jam."}, {"id": "x", "text": "Wine."}]


def test_what_is_typed_survives_a_look_elsewhere_and_a_change_by_somebody_else(
    view, root, collection_of
):
    at = view(question="q2")
    field(at, "-text").set_value("Mine?").run()
    at.button(key="open-odd").click().run()
    at.button(key="open-q2").click().run()
    assert field(at, "-text").value == "Mine?"
    loaded = load(collection_of(root))
    asking.edit(loaded, "bob", loaded.questions["q2"], Draft("Theirs?", "general"))
    at.run()
    assert field(at, "-text").value == "Mine?" and "Somebody has changed this question" in shown(at)
    field(at, "-stale", "checkbox").check().run()
    press(at, "Save the question")
    assert "was changed by bob since it was shown" in shown(at) and events(root) == []
    press(at, "Save mine over it")
    assert events(root)[0]["value"]["text"] == "Mine?" == field(at, "-text").value
    field(at, "-text").set_value("Dropped?").run()
    loaded = load(collection_of(root))
    asking.edit(loaded, "bob", loaded.questions["q2"], Draft("Theirs!", "general"))
    press(at.run(), "Drop mine and show what is there now")
    assert field(at, "-text").value == "Theirs!"


def test_retired_and_brought_back(view, root):
    at = unfold(view(question="q2"), "retire", "q2")
    press(at, "Retire the question")
    assert "a note is missing" in shown(at).lower() and events(root) == []
    field(at, "retire-tiny-q2-why", "text_input").set_value("asked twice").run()
    press(at, "Retire the question")
    assert listed(at) == ["q1", "odd"] and "1 retired" in shown(at)
    assert not at.text_area and "What becomes of dried plums?" in shown(at)
    at = view(kind="retired", question="q2")
    assert listed(at) == ["q2"] and "asked twice" in shown(at)
    press(at, "Bring it back")
    assert [one["kind"] for one in events(root)] == ["retire-question", "question"]
    assert field(at, "-text").value == "What becomes of dried plums?"


def test_unsupported_asks_for_a_search_and_is_refused_beside_relevant_evidence(view, root):
    at = unfold(view(question="q1"), "unsupported", "q1")
    assert "It cannot be marked unsupported: the question &quot;q1&quot; has relevant" in shown(at)
    at = unfold(view(question="q2"), "unsupported", "q2")
    press(at, "Mark unsupported")
    assert "It is not confirmed that the corpus was searched" in shown(at)
    field(at, "-sure", "checkbox").check().run()
    press(at, "Mark unsupported")
    assert "what the corpus was searched for is missing" in shown(at).lower()
    field(at, "-searched").set_value("plums\nprunes").run()
    press(at, "Mark unsupported")
    (event,) = events(root)
    assert event["searched"] == ["plums", "prunes"] and event["value"]["unsupported_as_of"]
    assert "1 unsupported" in shown(at)
    press(at, "Take the mark back")
    assert "unsupported_as_of" not in events(root)[1]["value"]


def test_what_is_refused_in_a_panel_is_told_in_it_and_it_stays_open(view, root):
    at = unfold(view(question="q2"), "unsupported", "q2")
    for button, panel, told in (
        ("Mark unsupported", "unsupported", "It is not confirmed that the corpus was searched"),
        ("Retire the question", "retire", "A note is missing"),
    ):
        unfold(at, panel, "q2")
        press(at, button)
        (found,) = [one for one in at.expander if one.label.lower() == panel]
        inside = [one.proto.body for one in found.get("html")]
        assert at.session_state[f"{panel}-tiny-q2"] and told in inside[-1]
        assert shown(at).count(told) == 1


def test_what_was_done_to_a_question_is_not_told_under_another(view):
    at = view(question="q2")
    field(at, "-tags", "text_input").set_value("jam").run()
    press(at, "Save the question")
    assert "Saved" in shown(at)
    at.button(key="open-odd").click().run()
    assert "Saved" not in shown(at)
    at.button(key="open-q2").click().run()
    assert "the question q2." in shown(at)


def test_a_question_the_list_leaves_out_is_not_edited(view):
    at = view(question="q1", words="plums")
    assert listed(at) == ["q2"] and not at.text_area and not at.expander
    assert "No question chosen" in shown(at) and "The question q1 is not in it" in shown(at)
    press(at, "Show all questions")
    assert listed(at) == ["q1", "q2", "odd"]
    field(at, "-need").set_value("The month.").run()
    at.text_input(key="words").set_value("plums").run()
    assert not at.text_area and "What you typed there is not saved." in shown(at)
    at.text_input(key="words").set_value("").run()
    assert field(at, "-need").value == "The month."


def test_a_change_that_takes_a_question_out_of_the_list_is_still_told(view):
    at = view(question="q2", category="general")
    (picker, chosen) = [one for one in at.selectbox if one.label == "Category"]
    assert picker.key == "pick-category"
    chosen.set_value("fruit").run()
    press(at, "Save the question")
    assert listed(at) == ["q1"] and "No question chosen" in shown(at)
    assert "Saved" in shown(at) and "the question q2." in shown(at)


def test_who_may_not_grade_sees_everything_and_changes_nothing(view, root):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["bob"]\n')
    at = view(question="q1")
    assert "You may read but not grade" in shown(at) and listed(at) == ["q1", "q2", "odd"]
    assert "f1: Winter." in shown(at) and not at.text_area
    assert [one.label for one in at.button if one.key and not one.key.startswith("open-")] == []
    at = view(task="many")
    assert "You may read but not grade" in shown(at) and not at.text_area


def test_a_collection_without_questions_says_what_to_do(view, root):
    (root / "labels/tiny/questions.jsonl").write_text("")
    (root / "labels/tiny/judgments/ann.jsonl").write_text("")
    assert "There are no questions yet. Add one or many above" in shown(view())

"""Page Label, view Questions, run as Streamlit runs it but without a browser."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from app.flows import asking
from app.flows.drafts import Draft
from app.flows.loading import load
from tests.conftest import judgment
from tests.labelpage import shown

HOSTILE = "Is $5 <b>enough</b> for [x](y) & :red[z]?"


@pytest.fixture
def root(tiny, monkeypatch):
    """A workspace with q1 (grade 2), q2 (grade 0) and a question of hostile words."""
    questions = [
        {"format": 1, "id": "q1", "category": "general", "text": "When is an apple tree pruned?",
         "need": "The season.", "facts": [{"id": "f1", "text": "Winter."}]},
        {"format": 1, "id": "q2", "category": "general", "text": "What becomes of dried plums?"},
        {"format": 1, "id": "odd", "category": "fruit", "text": HOSTILE, "split": "held-out"},
    ]  # fmt: skip
    labels = [judgment("q1", "apple", 2, 1), judgment("q2", "pear", 0, 2)]
    root = tiny(questions=questions, labels=labels)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def view(root, repository):
    """Opens the view; `**query` is what the link asks for."""

    def run(**query):
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        for key, value in {"view": "questions", "reviewer": "ann", **query}.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        return at

    return run


def events(root, author="ann"):
    path = root / f"labels/tiny/events/{author}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def field(at, ending, kind="text_area"):
    """The one widget whose key ends that way."""
    (found,) = [one for one in getattr(at, kind) if one.key and one.key.endswith(ending)]
    return found


def unfold(at, panel, question):
    """Open a panel below the fields, as a click on its name does."""
    at.session_state[f"{panel}-tiny-{question}"] = True
    return at.run()


def press(at, label):
    (button,) = [one for one in at.button if one.label == label]
    return button.click().run()


def listed(at):
    return [one.key.removeprefix("open-") for one in at.button if str(one.key).startswith("open-")]


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


def test_one_is_added_with_a_new_category_and_opened(view, root):
    at = view(task="one")
    field(at, "-text").set_value("When are apple trees pruned, the apple tree?").run()
    field(at, "-category", "selectbox").set_value("").run()
    field(at, "-new-category", "text_input").set_value("Fruits").run()
    assert "There is fruit already." in shown(at)
    field(at, "-new-category", "text_input").set_value("trees").run()
    press(at, "Add the question")
    (event,) = events(root)
    assert (event["question"], event["value"]["category"]) == (
        "when-are-apple-trees-pruned-the", "trees",
    )  # fmt: skip
    assert field(at, "-text").value == "" and "is added" in shown(at)


def test_many_are_tried_told_and_added_as_the_user_says(view, root):
    at = view(task="many")
    pasted = (
        "text\tcategory\nWhere do figs grow?\tgeneral\nIs an apple tree pruned\tgeneral\n"
        "A?\tgenerell\n"
    )
    field(at, "many-pasted-0").set_value(pasted).run()
    assert "3 rows read: 2 new, 0 there already, 1 refused, 1 almost like" in shown(at)
    assert "pasted.tsv:4: there is no category &quot;generell&quot; yet." in shown(at)
    (button,) = [one for one in at.button if one.label == "Add 2 questions"]
    assert button.disabled
    (skip,) = [one for one in at.checkbox if one.label == "Leave out the 1 refused row"]
    skip.check().run()
    press(at, "Add 2 questions")
    assert len(events(root)) == 2 and "2 questions added" in shown(at)
    assert field(at, "many-pasted-1").value == ""


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

"""Page Label, view Questions: adding one and adding many."""

import pytest

from tests.labelpage import shown
from tests.questionspage import events, field, opener, press, workspace


@pytest.fixture
def root(tiny, monkeypatch):
    root = workspace(tiny)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def view(root, repository):
    return opener(repository)


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


def test_without_a_category_that_is_said_beside_the_field(view, root):
    at = view(task="one")
    assert "Choose a category." not in shown(at)
    field(at, "-text").set_value("Where do figs grow?").run()
    press(at, "Add the question")
    assert events(root) == [] and "No category is chosen. Choose a category." in shown(at)
    assert shown(at).count("Choose a category.") == 2  # the other one stands in the field's column
    field(at, "-category", "selectbox").set_value("").run()
    assert "Choose a category." not in shown(at) and "Name the new category." in shown(at)
    field(at, "-category", "selectbox").set_value("fruit").run()
    assert "Choose a category." not in shown(at) and "Name the new" not in shown(at)
    press(at, "Add the question")
    assert events(root)[0]["value"]["category"] == "fruit"


def test_one_that_is_there_almost_alike_is_told_before_anything_is_saved(view, root):
    at = view(task="one")
    field(at, "-category", "selectbox").set_value("general").run()
    # (What is typed and the press may come in one run: the hint was never on screen then.)
    field(at, "-text").set_value("When is the apple tree pruned")
    press(at, "Add the question")
    assert events(root) == [] and "The question q1 asks almost the same." in shown(at)
    assert "q1 asks almost the same: “When is an apple tree pruned?”" in shown(at)
    field(at, "-apart-q1", "checkbox").check().run()
    press(at, "Add the question")
    assert len(events(root)) == 1 and "is added" in shown(at)


def test_rows_without_a_category_are_refused_until_one_is_chosen(view, root):
    at = view(task="many")
    assert field(at, "many-category-tiny-0", "selectbox").value is None
    field(at, "many-pasted-0").set_value("Where do figs grow?\n").run()
    assert "pasted.tsv:1: the row has no category. Fill the cell, or choose" in shown(at)
    assert [one.disabled for one in at.button if one.label == "Add 0 questions"] == [True]
    field(at, "many-category-tiny-0", "selectbox").set_value("fruit").run()
    press(at, "Add 1 question")
    assert events(root)[0]["value"]["category"] == "fruit"

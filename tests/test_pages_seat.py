"""Page Label when somebody else sits down, another collection is picked, or another page links."""

import shutil

import pytest
from streamlit.testing.v1 import AppTest

from app.flows.evaluating import evaluate
from app.workspace import Workspace
from tests.labelpage import controls, lines, press, send, shown
from tests.reviewing import filled, opened


def test_another_collection_begins_without_the_item_of_the_one_before(page, runbooks):
    for folder in ("data", "labels"):
        shutil.copytree(runbooks / folder / "runbooks", runbooks / folder / "second")
    path = runbooks / "labels/second/questions.jsonl"
    path.write_text(path.read_text().replace('"drain-deadline"', '"other"'))
    at = page("label", reviewer="Ana", question="drain-deadline", collection="runbooks")
    assert "drain deadline" in shown(at)
    at.selectbox(key="pick-collection").select_index(1).run()
    assert at.query_params["collection"] == ["second"] or at.query_params["collection"] == "second"
    assert "The link names" not in shown(at)


def test_a_link_that_names_what_is_not_there_is_still_told(page):
    at = page("label", reviewer="Ana", question="no-such")
    assert "The link names" in shown(at)


def test_what_failed_does_not_stand_beside_an_old_success(page, monkeypatch):
    at = page("label", reviewer="Ana", question="drain-deadline")
    press(at, "grade-1")
    assert controls(at)["status"]["saved"]

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.core.ledger.write", full)
    press(at, "grade-2")
    assert "No space left on device" in shown(at) and controls(at)["status"]["saved"] is None


def test_a_press_under_a_name_that_was_changed_meanwhile_saves_nothing(page, runbooks):
    at = page("label", reviewer="Ana", question="drain-deadline")
    item = controls(at)["item"]
    # The browser sends the name that was typed with the press that followed it.
    at.text_input(key="reviewer").set_value("Ben")
    send(at, {"act": "grade-2", "item": item, "value": None})
    assert "the name was changed while" in shown(at).lower()
    assert not (runbooks / "labels/runbooks/judgments/ana.jsonl").exists()
    assert not (runbooks / "labels/runbooks/judgments/ben.jsonl").exists()


@pytest.mark.parametrize("act", ["later", "next"])
def test_what_comes_back_comes_last_and_leads_to_nothing_judged(tiny, monkeypatch, act):
    root = filled(tiny)
    at = opened(root, monkeypatch, "grade", "ann", question="q1")
    first = controls(at)["item"]
    press(at, act)
    many = 0
    while controls(at)["item"] not in ("", first) and many < 20:
        press(at, "grade-1")
        many += 1
    assert controls(at)["item"] == first and many > 2
    press(at, "grade-2")
    assert controls(at)["item"] == "" and "Nothing is left for you" in shown(at)
    events = lines(root / "labels/tiny/judgments/ann.jsonl")
    assert [one["grade"] for one in events if one["kind"] == "grade"] == [1] * many + [2]
    press(at, "back")
    press(at, "back")
    press(at, "grade-0")
    # From a look back one goes on to what is open: here to nothing.
    assert controls(at)["item"] == ""


def test_an_undo_that_was_sent_twice_takes_back_one(page, runbooks):
    at = page("label", reviewer="Ana", question="drain-deadline")
    for _ in range(3):
        press(at, "grade-1")
    acts = controls(at)["acts"]
    press(at, "undo")
    # A server that hangs gets the same key again, sent for the same screen.
    press(at, "undo", acts=acts)
    assert "before the last one was done" in shown(at)
    events = lines(runbooks / "labels/runbooks/judgments/ana.jsonl")
    assert [one["kind"] for one in events] == ["grade"] * 3 + ["withdraw"]


def test_practice_goes_on_where_it_was_when_somebody_else_sat_there(page):
    at = page("label", reviewer="Ana")
    at.button(key="practise").click().run()
    press(at, "give-1")
    press(at, "next")
    assert "Practice 2 of 5" in shown(at)
    at.text_input(key="reviewer").set_value("Ben").run()
    at.button(key="skip-practice").click().run()
    at.text_input(key="reviewer").set_value("Ana").run()
    assert "Practice 2 of 5" in shown(at)


def test_practice_that_cannot_be_ended_says_why(page, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    at = page("label", reviewer="Ana")
    at.button(key="practise").click().run()
    monkeypatch.setattr("app.core.ledger.write", full)
    press(at, "stop")
    assert "No space left on device" in shown(at) and "Practice 1 of 5" in shown(at)


def test_review_leads_back_under_the_name_that_was_typed(page, runbooks, repository):
    for _ in range(2):
        evaluate(Workspace.at(runbooks).collection("runbooks"))
    at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
    at.query_params["reviewer"] = "nora b"
    at.run()
    at.switch_page("pages/review.py").run()
    assert "compare=" in shown(at) and "reviewer=nora+b" in shown(at)
    monk = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60).run()
    monk.query_params["compare"] = "a..b"
    assert "comes first then" in shown(monk.run())

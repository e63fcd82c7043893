"""What is kept of a run on page Retrieve, and the ways out of it and back."""

import re
from urllib.parse import parse_qsl, urlsplit

from app.core.trec import items_of
from tests import test_pages_retrieve as retrieve
from tests import test_pages_retrieve_odd as odd
from tests.labelpage import lines, press, shown
from tests.test_pages_retrieve import CRASH, alerts, change_label, heading, hits, link_of, table

open_page = retrieve.open_page
apples, open_in = odd.apples, odd.open_in


def test_a_typed_question_is_saved_and_is_the_one_on_screen(open_page, runbooks):
    at = open_page(ask="How long are messages kept?", configuration="sparse")
    at.button(key="keep-question").click().run()
    assert alerts(at) == ["Your name is missing. Enter it, then save."]
    # A name that was just typed comes with the press.
    at.text_input(key="keep-reviewer-question").set_value("Ana")
    at.button(key="keep-question").click().run()
    assert alerts(at) == ["The category is missing. Pick or type one, then save."]
    at.selectbox(key="keep-category").select("conditions").run()
    at.text_area(key="keep-need").set_value("The days.").run()
    at.button(key="keep-question").click().run()
    assert alerts(at) == [] and heading(at) == "How long are messages kept?"
    (event,) = lines(runbooks / "labels/runbooks/events/ana.jsonl")
    name = event["question"]
    assert f"The question {name} is saved." in shown(at)
    link = link_of(at)
    assert link["question"] == name and "ask" not in link and "The days." in shown(at)
    assert (
        f"question {name}" in shown(at)
        and "category conditions" in shown(at)
        and "Not applicable" in shown(at)
    )
    assert len([one for one in at.button if one.label == "Grade here"]) > 0
    assert heading(open_page(**link)) == heading(at)


def test_a_question_that_asks_almost_the_same_must_be_confirmed(open_page, runbooks):
    at = open_page(ask=CRASH.replace("lost", "really lost"), configuration="sparse")
    at.text_input(key="keep-reviewer-question").set_value("Ana").run()
    at.selectbox(key="keep-category").select("paraphrase").run()
    assert "restart-recovery asks almost the same" in shown(at)
    at.button(key="keep-question").click().run()
    assert "restart-recovery asks almost the same" in alerts(at)[0]
    at.checkbox[0].check().run()
    at.button(key="keep-question").click().run()
    assert "is saved." in shown(at) and "really lost" in heading(at)


def test_settings_are_saved_under_a_name_and_picked_then(open_page, runbooks):
    path = runbooks / "data/runbooks/collection.toml"
    before = path.read_bytes()
    at = open_page(question="restart-recovery", configuration="dense", mode="sparse", depth="9")
    at.button(key="keep-settings").click().run()
    assert alerts(at) == ["A name for the settings is missing. Write one, then save."]
    at.text_input(key="keep-name").set_value("words").run()
    at.button(key="keep-settings").click().run()
    assert "The configuration words is saved." in shown(at) and alerts(at) == []
    assert path.read_bytes() == before + b'\n[configurations.words]\nmode = "sparse"\ndepth = 9\n'
    link = link_of(at)
    assert link["configuration"] == "words" and not {"mode", "depth"} & link.keys()
    assert "words: searched in" in shown(at) and "words, changed" not in shown(at)
    assert change_label(at) == "Change for this run" and table(at)["nDCG@3"][0] == "1.000"
    at.selectbox(key="pick-exact").select("yes").run()  # which mode sparse takes, too
    at.text_input(key="keep-name").set_value("words").run()
    at.button(key="keep-settings").click().run()
    assert "there is a configuration &quot;words&quot; already" in alerts(at)[0].lower()


def test_both_can_be_saved_of_one_run_by_one_name(open_page, runbooks):
    at = open_page(ask="How long are messages kept?", configuration="dense", mode="sparse")
    assert alerts(at) == [] and hits(at)
    at.text_input(key="keep-reviewer-question").set_value("Ana").run()
    assert alerts(at) == []
    at.text_input(key="keep-name").set_value("words").run()
    at.button(key="keep-settings").click().run()
    assert "The configuration words is saved." in shown(at)
    assert link_of(at)["ask"] == "How long are messages kept?"


def test_all_ranks_are_shown_where_that_is_asked_for(open_page):
    at = open_page(question="restart-recovery", configuration="dense", k="1")
    assert len(hits(at)) == 6
    at.selectbox(key="pick-ranks").select("all").run()
    assert len(hits(at)) == 7 and link_of(at)["ranks"] == "all"
    assert len(hits(open_page(**link_of(at)))) == 7


def links(at):
    return [one.replace("&amp;", "&") for one in re.findall(r'<a href="([^"]*)"', shown(at))]


def test_from_the_open_hits_of_a_case_the_way_back_leads_to_that_case(apples, open_in):
    root = apples(("a0", 2))
    at = open_in(root, k="2", beside="sparse", reviewer="Ana")
    to_label = next(one for one in links(at) if "items=" in one)
    asked = dict(parse_qsl(urlsplit(to_label).query))
    assert asked["reviewer"] == "ana" and len(items_of(asked["items"])) == 1
    tab = open_in(root, "label", **asked)
    press(tab, "grade-0")
    (back,) = [one for one in links(tab) if one.startswith("/retrieve?")]
    found = dict(parse_qsl(urlsplit(back).query))
    assert (found["question"], found["k"], found["beside"]) == ("q1", "2", "sparse")
    assert "Provisional" not in shown(open_in(root, **found)).split("Lost evidence")[0]

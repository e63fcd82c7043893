"""Page Retrieve: which question and which configurations are on screen, and what is tried."""

import re
import shutil

import pytest

from app.flows.indexing import index
from app.workspace import Workspace
from tests.labelpage import shown

CRASH = "Is unfinished work lost when a process crashes and comes back up?"


def heading(at):
    """The question on screen."""
    found = re.findall(r'<h2 class="desk-question">(.*?)</h2>', shown(at))
    assert len(found) == 1
    return found[0]


def content(at):
    """All that is shown, without the times it took and what a link tells of the session."""
    return re.sub(r"\b(?:\w+ed) in [\d.]+ ms,? ?|&amp;seen=[\w-]+", "", shown(at))


def hits(at):
    """The hits on screen as HTML."""
    return re.findall(r'<section class="desk-hit.*?</section>', shown(at), re.DOTALL)


def alerts(at):
    return re.findall(r'<p role="alert".*?>(.*?)</p>', shown(at))


def table(at, title="metric"):
    """The rows of a table by their first cell."""
    (found,) = re.findall(rf'<th scope="col">{title}</th>.*?</table>', shown(at))
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", found)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return {name: rest for name, *rest in cells}


def link_of(at):
    """What the address says."""
    found = {key: at.query_params[key] for key in at.query_params}
    found.pop("view", None)  # of page Label, which AppTest opens first
    return {k: v[0] if isinstance(v, list) else v for k, v in found.items()}


def change_label(at):
    def walk(block):
        for child in block.children.values():
            yield child
            if hasattr(child, "children"):
                yield from walk(child)

    protos = [one.proto for one in walk(at.main) if type(one.proto).__name__ == "Block"]
    labels = [p.popover.label for p in protos if p.WhichOneof("type") == "popover"]
    (found,) = [one for one in labels if one.startswith("Change for this run")]
    return found


@pytest.fixture
def open_page(page):
    """Opens Retrieve with what a link says."""

    def run(**query):
        return page("retrieve", **query)

    return run


def test_a_link_opens_its_question_configuration_and_k(open_page):
    at = open_page(question="restart-recovery", configuration="sparse", k="1")
    assert heading(at) == CRASH and "Scores at K = 1" in shown(at)
    assert "sparse: searched in " in shown(at) and "embedded in" not in shown(at)
    assert table(at)["nDCG@1"][0] == "1.000" and alerts(at) == []
    assert "K = 1: what follows is not scored" in shown(at)


def test_ones_own_words_have_hits_but_neither_labels_nor_scores(open_page):
    at = open_page(ask="  lost   messages ", configuration="dense")
    assert heading(at) == "lost   messages"
    assert "typed here, not in the collection" in shown(at) and len(hits(at)) == 7
    assert all('desk-unjudged">unjudged<' in one for one in hits(at))
    assert "This is no question of the collection: nobody has judged" in shown(at)
    assert "nDCG" not in shown(at) and "Lost evidence" not in shown(at)
    assert "Judge the" not in shown(at)
    assert [b for b in at.button if b.label == "Grade here"] == []
    assert at.selectbox(key="pick-question").disabled and at.button(key="step-next").disabled
    at.text_input(key="pick-ask").set_value(" ").run()
    assert not at.selectbox(key="pick-question").disabled and "ask" not in link_of(at)
    assert "nDCG@3" in shown(at)


def test_the_text_of_a_question_is_that_question(open_page):
    at = open_page(ask=f" {CRASH} ", configuration="sparse")
    picked = open_page(question="restart-recovery", configuration="sparse")
    assert content(at) == content(picked) and "restart-recovery" in shown(at)
    # It is there already: there is nothing to save.
    assert [b for b in at.button if b.key == "keep-question"] == []


def test_two_configurations_stand_side_by_side_with_moves_and_differences(open_page):
    at = open_page(question="restart-recovery", configuration="dense", beside="sparse")
    assert table(at)["nDCG@3"][:3] == ["0.000", "1.000", "+1.000"]
    assert table(at)["Judged@3"][2] == "+0.000"
    assert "sparse - dense" in shown(at)
    assert "1 higher than in sparse (rank 2)" in hits(at)[0]
    assert "not returned by sparse" in hits(at)[2]
    assert sum('data-move="only here"' in one for one in hits(at)) > 0
    assert "4 higher than in dense (rank 5)" in shown(at)
    at.selectbox(key="pick-beside").select("").run()
    assert "sparse - dense" not in shown(at) and "beside" not in link_of(at)
    assert "data-move" not in shown(at)


def test_a_configuration_beside_itself_is_the_same(open_page):
    at = open_page(question="restart-recovery", configuration="dense", beside="dense")
    assert table(at)["nDCG@3"][:3] == ["0.000", "0.000", "+0.000"]
    assert "dense, again" in shown(at) and len(hits(at)) == 14 and alerts(at) == []
    at.text_input(key="pick-depth").set_value("7").run()
    assert "dense, changed" in shown(at) and "dense, again" not in shown(at)


def test_k_decides_what_is_scored_and_drawn(open_page):
    at = open_page(question="restart-recovery", configuration="dense")
    assert "Scores at K = 3" in shown(at)
    assert at.selectbox(key="pick-k").options == ["1", "2", "3", "5", "10", "20"]
    at.selectbox(key="pick-k").select("5").run()
    assert "K = 5: what follows is not scored" in shown(at) and link_of(at)["k"] == "5"
    assert table(at)["RR@5"] == ["0.200", "first relevant at rank 5: 1 / 5"]
    assert "None: every relevant chunk is within K." in shown(at)


def test_the_address_holds_all_of_what_is_on_screen(evaluated, open_page):
    at = open_page()
    at.selectbox(key="pick-execution").select_index(2).run()
    at.button(key="step-next").click().run()
    at.selectbox(key="pick-category").select("conditions").run()
    at.selectbox(key="pick-configuration").select("sparse").run()
    at.selectbox(key="pick-beside").select("hybrid").run()
    at.selectbox(key="pick-k").select("1").run()
    at.selectbox(key="pick-mode").select("dense").run()
    at.selectbox(key="pick-exact").select("yes").run()
    at.text_input(key="pick-threshold").set_value("0.3").run()
    at.text_input(key="pick-depth").set_value("12").run()
    at.multiselect(key="pick-filter-runbooks-type").select('"note"').run()
    link = link_of(at)
    assert {k: v for k, v in link.items() if k not in ("execution", "question")} == {
        "category": "conditions", "configuration": "sparse", "beside": "hybrid", "k": "1",
        "mode": "dense", "exact": "yes", "threshold": "0.3", "depth": "12",
        "filter": '{"status":["published"],"type":["runbook","note"]}',
    }  # fmt: skip
    other = open_page(**link)
    assert content(other) == content(at) and link_of(other) == link
    assert change_label(at) == change_label(other) == "Change for this run (5)"
    # Ones own words are in it, too.
    at.text_input(key="pick-ask").set_value("lost messages").run()
    assert content(open_page(**link_of(at))) == content(at)
    assert heading(at) == "lost messages"


def test_changes_are_for_the_first_configuration_and_for_this_run(open_page, runbooks):
    settings = (runbooks / "data/runbooks/collection.toml").read_bytes()
    at = open_page(question="restart-recovery", configuration="dense", beside="dense")
    at.selectbox(key="pick-mode").select("sparse").run()
    assert change_label(at) == "Change for this run (1)"
    assert "dense, changed: searched in" in shown(at)
    assert table(at)["nDCG@3"][:3] == ["1.000", "0.000", "-1.000"]
    assert "what is changed for this run is not part of it" in shown(at)
    at.button(key="as-configured").click().run()
    assert table(at)["nDCG@3"][0] == "0.000" and "mode" not in link_of(at)
    assert change_label(at) == "Change for this run"
    assert (runbooks / "data/runbooks/collection.toml").read_bytes() == settings


def test_a_threshold_is_drawn_with_what_it_cuts_and_none_takes_it_away(open_page, runbooks, edit):
    path = runbooks / "data/runbooks/collection.toml"
    edit(path, '"dense"\nembedder = "bundled"', '"dense"\nembedder = "bundled"\nthreshold = 0.35')
    at = open_page(question="restart-recovery", configuration="dense", k="5")
    assert "Threshold 0.35: what scores below it is cut" in shown(at)
    assert [">cut</span>" in one for one in hits(at)] == [False] * 2 + [True] * 5
    assert "5 hits below the threshold were cut." in shown(at)
    assert "cut by the threshold: score 0.2782, threshold 0.35; rank 5 without it" in shown(at)
    at.text_input(key="pick-threshold").set_value("0.32").run()
    assert "Threshold 0.32:" in shown(at)
    at.text_input(key="pick-threshold").set_value("9").run()
    assert "Nothing is left: the threshold cuts every hit. That is a scored miss" in shown(at)
    at.text_input(key="pick-threshold").set_value("none").run()
    assert "Threshold" not in shown(at) and ">cut</span>" not in shown(at)
    assert "K = 5: what follows is not scored" in shown(at)
    assert change_label(at).endswith("(1)") and link_of(at)["threshold"] == "none"


def test_another_filter_is_for_all_of_the_run_and_told(open_page):
    at = open_page(question="restart-recovery", configuration="dense", beside="sparse", k="5")
    at.multiselect(key="pick-filter-runbooks-type").set_value([]).run()
    at.multiselect(key="pick-filter-runbooks-status").set_value([]).run()
    assert "11 chunks are eligible, 7 under the collection&#x27;s own." in shown(at)
    assert change_label(at) == "Change for this run (1)"
    assert sum("status draft" in one for one in hits(at)) > 1
    at.button(key="as-configured").click().run()
    assert "Another filter" not in shown(at) and "filter" not in link_of(at)
    assert change_label(at) == "Change for this run"
    assert at.multiselect(key="pick-filter-runbooks-type").value == ['"runbook"']


def test_what_is_tried_is_still_there_after_another_page(open_page):
    at = open_page(question="restart-recovery", configuration="dense", depth="9")
    at.multiselect(key="pick-filter-runbooks-type").select('"note"').run()
    before = content(at)
    assert "Another filter for this run" in before
    at.switch_page("pages/review.py").run()
    at.switch_page("pages/retrieve.py").run()
    assert content(at) == before


def test_the_filter_of_one_collection_is_not_that_of_another(open_page, runbooks, edit):
    for part in ("data", "labels"):
        shutil.copytree(runbooks / part / "runbooks", runbooks / part / "second")
    path = runbooks / "data/second/collection.toml"
    edit(path, 'type = "runbook"', 'type = ["runbook", "note"]')
    index(Workspace.at(runbooks).collection("second"))
    at = open_page(collection="runbooks", configuration="sparse", question="restart-recovery")
    at.multiselect(key="pick-filter-runbooks-status").select('"draft"').run()
    assert "Another filter" in shown(at)
    # Of two collections with one title each is told by its id.
    assert at.selectbox(key="pick-collection").options == [
        "Runbooks (runbooks)", "Runbooks (second)",
    ]  # fmt: skip
    at.selectbox(key="pick-collection").select("second").run()
    assert at.multiselect(key="pick-filter-second-type").value == ['"runbook"', '"note"']
    assert "Another filter" not in shown(at) and "filter" not in link_of(at) and hits(at)

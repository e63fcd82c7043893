"""What page Retrieve shows of others' grades, to whom, and what a grade given there speaks of."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from app.core.errors import EngineError, StoreLocked
from app.core.trec import items_of
from app.engines.edge import EdgeEngine
from tests import test_pages_retrieve_odd as odd
from tests.labelpage import lines, press, shown
from tests.test_pages_retrieve import alerts, hits, link_of, table
from tests.test_pages_retrieve_odd import named, press_button

apples, open_in = odd.apples, odd.open_in
LEDGER = "labels/tiny/judgments"


def link(at, words):
    """Where a link with some words leads, as a dict."""
    (found,) = re.findall(rf'<a href="([^"]*)" target="_self">[^<]*{words}', shown(at))
    query = parse_qs(urlsplit(found.replace("&amp;", "&")).query)
    return {name: value[0] for name, value in query.items()}


def opened_to_grade(at, name="Ana"):
    press_button(at, "Grade here")
    return at.text_input(key="reviewer").set_value(name).run()


@pytest.mark.parametrize("what", ["text", "question", "gone"])
def test_a_grade_of_what_has_changed_meanwhile_is_refused(apples, open_in, edit, what):
    root = apples(("a0", 2))
    at = opened_to_grade(open_in(root))
    if what == "question":
        edit(root / "labels/tiny/questions.jsonl", '"apple"', '"apple pie"')
    else:
        path = root / "data/tiny/corpus.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            row["text"] += " More." if row["id"] == "a1" and what == "text" else ""
        kept = [row for row in rows if what == "text" or row["id"] != "a1"]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    named(at, "give-2-").click().run()
    said = " ".join(alerts(at))
    assert "has changed since it was shown" in said and not at.exception
    assert not (root / LEDGER / "ana.jsonl").exists()


def test_a_judgment_of_ones_own_in_another_tab_is_not_replaced(apples, open_in):
    root = apples(("a0", 2))
    at = opened_to_grade(open_in(root))
    tab = open_in(root, "label", reviewer="Ana", question="q1", chunk="a1|as-is-v1|a1")
    press(tab, "grade-2")
    named(at, "give-0-").click().run()
    assert any("was already judged" in one for one in alerts(at))
    (event,) = lines(root / LEDGER / "ana.jsonl")
    assert (event["grade"], event["blind"]) == (2, True)


def test_who_saw_grades_before_giving_a_name_is_not_blind_either(apples, open_in):
    root = apples(("a0", 2), ("a1", 1))
    at = open_in(root)
    found = link(at, "open hit")
    assert "reviewer" not in found and found["seen"]
    open_in(root, "label", reviewer="Bea", question="q1", seen=found["seen"])
    tab = open_in(root, "label", reviewer="Bea", question="q1", chunk="a1|as-is-v1|a1")
    press(tab, "grade-2")
    (event,) = lines(root / LEDGER / "bea.jsonl")
    assert event["blind"] is False
    # What nobody had judged was not told.
    tab = open_in(root, "label", reviewer="Bea", question="q1", chunk="a2|as-is-v1|a2")
    press(tab, "grade-2")
    assert lines(root / LEDGER / "bea.jsonl")[-1]["blind"] is True


def test_one_who_did_not_look_stays_blind(apples, open_in):
    root = apples(("a0", 2), ("a1", 1))
    open_in(root)
    press(open_in(root, "label", reviewer="Cem", question="q1", chunk="a1|as-is-v1|a1"), "grade-2")
    assert lines(root / LEDGER / "cem.jsonl")[-1]["blind"] is True


def test_ones_own_grade_is_none_of_others(apples, open_in):
    root = apples(("a0", 2))
    open_in(root, reviewer="ann")  # a0 is hers alone
    tab = open_in(root, "label", reviewer="ann", question="q1", chunk="a0|as-is-v1|a0")
    press(tab, "grade-1")
    event = lines(root / LEDGER / "ann.jsonl")[-1]
    assert (event["grade"], event["blind"]) == (1, True)


def test_the_link_takes_along_who_is_at_the_screen_now(apples, open_in):
    at = open_in(apples(("a0", 2)), reviewer="Ana")
    found = link(at, "open hits")
    assert found["reviewer"] == "ana" and len(items_of(found["items"])) == 2
    opened_to_grade(at, "Ben")
    assert link(at, "open hits")["reviewer"] == "ben"


def test_a_refused_name_leaves_the_page_alive(apples, open_in):
    at = open_in(apples(("a0", 2)), reviewer="n" * 61)
    assert len(hits(at)) > 3 and alerts(at) == []


def test_another_process_that_holds_the_store_leaves_the_page_alive(apples, open_in, monkeypatch):
    def locked(*words):
        raise StoreLocked("process 7 holds data/desk.duckdb", remedy="Wait for it to end")

    monkeypatch.setattr("app.ui.retrieve.picking.list_executions", locked)
    at = open_in(apples(("a0", 2)))
    assert "Process 7 holds data/desk.duckdb. Wait for it to end." in shown(at)
    assert len(hits(at)) > 3
    assert "Process 7" not in shown(at.run())  # nobody waits for it with every press
    at.button(key="search-again").click().run()
    assert "Process 7 holds data/desk.duckdb" in shown(at)


def test_a_search_that_failed_is_no_ranking_without_a_hit(apples, open_in, monkeypatch):
    root = apples(("a0", 2), configurations='[configurations.one]\nmode = "sparse"\n'
                  '[configurations.two]\nmode = "sparse"\ndepth = 30\n')  # fmt: skip
    searched = EdgeEngine.search_many

    def fails(engine, search, asked):
        if search.depth == 30:
            return [EngineError("the engine broke") for _ in asked]
        return searched(engine, search, asked)

    monkeypatch.setattr(EdgeEngine, "search_many", fails)
    at = open_in(root, configuration="one", beside="two")
    text = shown(at)
    assert [one for one in alerts(at) if one.startswith("two: The search failed: the engine broke")]
    assert "not returned by" not in text and len(hits(at)) > 3
    assert "relevant in all" in table(at)["Precision@3"][1]  # the other side's score, in words


def test_values_that_read_alike_are_told_apart(indexed, open_in):
    texts = [{"id": "word", "text": "apple", "v": "1"}, {"id": "number", "text": "apple", "v": 1}]
    root = indexed(texts, {"q1": "apple"}, [("q1", "word", 2)],
                   settings='[eligible]\nv = ["1"]\n')  # fmt: skip
    at = open_in(root)
    (field,) = at.multiselect
    assert sorted(field.options) == ['"1"', "1"] and field.value == ['"1"']
    field.set_value(["1"]).run()
    assert [one for one in hits(at) if "number" in one] and not alerts(at)
    assert json.loads(link_of(at)["filter"]) == {"v": [1]}

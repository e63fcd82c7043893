"""Grading when things are not as usual: two reviewers in one session, reopened items, odd lines."""

import json

import pytest

from tests.conftest import judgment, lines_of
from tests.labelpage import chunk_on_screen, lines, press, shown

FILE = "labels/runbooks/judgments/{}.jsonl"


@pytest.fixture
def label(page):
    def run(**query):
        return page("label", **{"reviewer": "Ana", "question": "retry-budget", **query})

    return run


def note_of(at):
    return at.text_area[0].value if at.text_area else ""


def test_a_draft_is_not_handed_to_another_reviewer(label, runbooks):
    at = label()
    press(at, "note")
    at.text_area[0].set_value("private of ana").run()
    here, link = chunk_on_screen(at), at.query_params["chunk"]
    at.text_input(key="reviewer").set_value("Ben").run()
    # Ben begins with practice; what was on screen before him is no link he followed.
    assert "Practise first?" in shown(at) and "chunk" not in at.query_params
    at.query_params["question"], at.query_params["chunk"] = "retry-budget", link
    at.run()
    assert chunk_on_screen(at) == here and note_of(at) == ""
    press(at, "grade-1")
    (event,) = lines(runbooks / FILE.format("ben"))
    assert event["note"] is None
    at.text_input(key="reviewer").set_value("Ana")
    at.query_params["question"], at.query_params["chunk"] = "retry-budget", link
    at.run()
    assert note_of(at) == "private of ana"


def test_undo_gives_note_and_evidence_back(label, runbooks):
    at = label()
    press(at, "note")
    at.text_area[0].set_value("hasty").run()
    press(at, "evidence")
    at.multiselect[0].set_value([0]).run()
    press(at, "grade-1")
    press(at, "undo")
    assert note_of(at) == "hasty" and at.multiselect[0].value == [0]
    press(at, "grade-2")
    events = lines(runbooks / FILE.format("ana"))
    assert [(e["kind"], e["note"]) for e in events] == [
        ("grade", "hasty"), ("withdraw", None), ("grade", "hasty")
    ]  # fmt: skip
    assert events[0]["evidence"] == events[2]["evidence"] != []


TEXT = "Returns within 30 days are free of charge.\n\n30 days\n\nSent by post.\n\nSent by post."


@pytest.mark.parametrize(
    ("chosen", "quote"), [([1], "30 days"), ([3], "Sent by post."), ([2, 3], None)]
)
def test_evidence_stays_on_its_sentence_when_an_item_is_opened_again(
    tiny, repository, monkeypatch, chosen, quote
):
    from streamlit.testing.v1 import AppTest

    root = tiny(texts={"one": TEXT}, questions={"q1": "How long?"}, labels=[])
    monkeypatch.chdir(root)
    at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
    at.query_params["reviewer"], at.query_params["question"] = "ann", "q1"
    at.run()
    press(at, "evidence")
    at.multiselect[0].set_value(chosen).run()
    press(at, "grade-2")
    press(at, "back")
    assert at.multiselect[0].value == chosen
    press(at, "grade-1")
    first, second = lines(root / "labels/tiny/judgments/ann.jsonl")
    assert first["evidence"] == second["evidence"] and len(first["evidence"]) == len(chosen)
    if quote:
        assert first["evidence"][0]["quote"] == quote


def test_a_line_with_an_odd_time_breaks_nothing(label, runbooks):
    at = label()
    document, version, chunk = at.query_params["chunk"].split("|")
    line = judgment("retry-budget", chunk, 2, 1, author="ana", time="30.11.2026 at noon")
    line["chunk"] = [document, version, chunk.replace("%2F", "/")]
    (runbooks / FILE.format("ana")).write_text(lines_of([line]))
    at.run()
    assert "grade 2. Grade it again to change that." in shown(at)
    press(at, "grade-1")
    assert "Saved" in shown(at)


def test_a_comparison_leaves_the_item_of_a_link_on_screen(label):
    at = label()
    press(at, "next")
    link = {key: at.query_params[key] for key in ("question", "chunk")}
    before = chunk_on_screen(at)
    again = label(compare="a..b", **link)
    assert chunk_on_screen(again) == before
    assert "All pairs of the comparison have the judgments they need" in shown(again)


def test_what_was_seen_of_others_makes_a_grade_not_blind(page, runbooks):
    path = runbooks / FILE.format("ben")
    at = page("label", reviewer="ana", question="retry-budget")
    document, version, chunk = at.query_params["chunk"].split("|")
    key = [document, version, chunk.replace("%2F", "/")]
    for author, grade in (("ben", 2), ("cid", 0)):
        line = judgment("retry-budget", chunk, grade, author, author=author) | {"chunk": key}
        path.with_name(f"{author}.jsonl").write_text(json.dumps(line) + "\n")
    at.query_params["view"] = "disputes"
    at.run()
    assert "Reviewer A" not in shown(at)
    (show,) = [b for b in at.button if b.label == "Show it"]
    show.click().run()
    assert "Reviewer A" in shown(at)
    at.query_params["view"] = "grade"
    at.run()
    assert "your judgment will be kept as not blind" in shown(at)
    press(at, "grade-1")
    (event,) = lines(runbooks / FILE.format("ana"))
    assert event["blind"] is False
    press(at, "grade-1")
    assert lines(runbooks / FILE.format("ana"))[-1]["blind"] is True


def test_a_question_nothing_was_returned_for_is_shown_with_a_search(tiny, repository, monkeypatch):
    from streamlit.testing.v1 import AppTest

    from app.flows.evaluating import evaluate
    from app.flows.indexing import index
    from app.workspace import Workspace

    root = tiny(labels=[])
    collection = Workspace.at(root).collection("tiny")
    index(collection)
    evaluate(collection)
    path = root / "labels/tiny/questions.jsonl"
    new = {"format": 1, "id": "new", "category": "general", "text": "Are plums dried?"}
    path.write_text(path.read_text() + json.dumps(new) + "\n")
    monkeypatch.chdir(root)
    at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
    at.query_params["reviewer"], at.query_params["question"] = "ann", "new"
    at.run()
    assert "Are plums dried?" in shown(at) and "Nothing was returned for this question" in shown(at)
    at.text_input(key="search-new").set_value("dried plums")
    (search,) = [b for b in at.button if b.label == "Search"]
    search.click().run()
    (grade, *_) = [b for b in at.button if b.key and b.key.startswith("open-")]
    grade.click().run()
    press(at, "grade-2")
    (event,) = lines(root / "labels/tiny/judgments/ann.jsonl")
    assert (event["question"], event["grade"], event["blind"]) == ("new", 2, True)
    assert "you: 2" in shown(at)  # back to what was found
    assert at.text_input(key="search-new").value == "dried plums"


def test_a_category_that_tells_too_much_is_not_shown(label, runbooks, edit):
    assert ">conditions<" in shown(label())
    settings = runbooks / "data/runbooks/collection.toml"
    edit(settings, "[scoring]", "[queue]\nshow_category = false\n\n[scoring]")
    assert ">conditions<" not in shown(label())


@pytest.mark.parametrize(
    ("name", "file"),
    [("../x", "%2E.%2Fx"), ("a/b", "a%2Fb"), ("CON", "%63on"), ("Ana", "ana"), ("aNA", "ana")],
)
def test_a_name_is_never_a_path(label, runbooks, name, file):
    before = {path for path in runbooks.rglob("*") if "judgments" not in path.parts}
    press(label(reviewer=name), "grade-1")
    assert lines(runbooks / FILE.format(file))[-1]["author"] == name.casefold()
    after = {path for path in runbooks.rglob("*") if "judgments" not in path.parts}
    assert {path.name for path in after - before} <= {"texts.db", "texts.db-journal", "desk.log"}


@pytest.mark.parametrize("name", [" ", "a\x00b", "\u202e"])
def test_a_name_that_cannot_be_one_is_refused_in_a_sentence(label, name):
    at = label(reviewer=name)
    assert chunk_on_screen(at) is None
    assert "Enter" in shown(at) and "unexpected" not in shown(at)


def test_a_name_longer_than_the_field_is_the_one_the_field_shows(label, runbooks):
    at = label(reviewer="x" * 300)
    press(at, "grade-1")
    name = at.text_input(key="reviewer").value
    assert lines(runbooks / FILE.format(name))[0]["author"] == name == "x" * 60

"""Grading, run as Streamlit runs it but without a browser: every act and its trace on the disk."""

import shutil

import pytest

from app.flows.evaluating import evaluate
from app.workspace import Workspace
from tests.labelpage import buttons, chunk_on_screen, lines, press, shown

FILE = "labels/runbooks/judgments/ana.jsonl"


@pytest.fixture
def label(page):
    """Opens the view for Ana at one question; `**query` is what the link asks for besides."""

    def run(**query):
        return page("label", **{"reviewer": "Ana", "question": "retry-budget", **query})

    return run


def test_a_name_is_asked_for_and_is_no_sign_in(page):
    at = page("label")
    assert "A name is not a sign-in" in shown(at)
    assert buttons(at, "grade") == []


def test_a_grade_is_on_the_disk_before_the_page_says_saved(label, runbooks):
    at = label()
    before = chunk_on_screen(at)
    press(at, "grade-2")
    (event,) = lines(runbooks / FILE)
    assert (event["grade"], event["question"], event["blind"]) == (2, "retry-budget", True)
    assert f"Saved {event['time'][11:19]} UTC: 2" in shown(at)
    assert chunk_on_screen(at) not in (before, None)
    assert "1 by you" in shown(at)


def test_undo_opens_the_item_again(label, runbooks):
    at = label()
    before = chunk_on_screen(at)
    press(at, "grade-0")
    press(at, "undo")
    first, second = lines(runbooks / FILE)
    assert (second["kind"], second["replaces"]) == ("withdraw", first["event"])
    assert chunk_on_screen(at) == before
    assert "Taken back" in shown(at)


def test_undo_steps_back_judgment_by_judgment_also_after_a_reload(label, runbooks):
    at = label()
    for grade in (0, 1, 2):
        press(at, f"grade-{grade}")
    again = label()
    for _ in range(3):
        press(again, "undo")
    events = lines(runbooks / FILE)
    assert [event["replaces"] for event in events[3:]] == [e["event"] for e in events[2::-1]]
    assert buttons(again, "undo") == [] and "0 by you" in shown(again)


def test_undo_goes_back_across_questions(label, runbooks):
    at = label(question="ingress-timeout")
    press(at, "grade-0")
    at = label(question="retry-budget")
    press(at, "grade-1")
    press(at, "undo")
    press(at, "undo")
    assert [e["question"] for e in lines(runbooks / FILE)[2:]] == [
        "retry-budget",
        "ingress-timeout",
    ]
    assert "How many seconds" in shown(at) or "ingress" in str(at.query_params["question"])


def test_cannot_judge_asks_for_the_reason_and_saves_it(label, runbooks):
    at = label()
    press(at, "reason")
    assert len(buttons(at, "reason-")) == 5 and buttons(at, "grade") == []
    press(at, "reason-b")
    (event,) = lines(runbooks / FILE)
    assert (event["kind"], event["reason"], event["grade"]) == ("cannot-judge", "broken text", None)
    assert "Saved" in shown(at) and len(buttons(at, "grade")) == 3
    press(at, "reason")
    press(at, "escape")
    assert len(lines(runbooks / FILE)) == 1 and len(buttons(at, "grade")) == 3


def test_later_is_an_event_and_the_item_comes_back(label, runbooks):
    at = label()
    before = chunk_on_screen(at)
    press(at, "later")
    (event,) = lines(runbooks / FILE)
    assert event["kind"] == "later" and chunk_on_screen(at) != before
    press(at, "undo")
    assert chunk_on_screen(at) == before


def test_a_note_goes_with_the_grade_and_not_to_the_next_item(label, runbooks):
    at = label()
    press(at, "note")
    at.text_area[0].set_value("  see the *table*  ").run()
    press(at, "grade-1")
    assert not at.text_area
    press(at, "grade-2")
    assert [e["note"] for e in lines(runbooks / FILE)] == ["see the *table*", None]
    press(at, "undo")
    press(at, "back")
    assert at.text_area[0].value == "see the *table*"  # one's own, of the item that is open again
    press(at, "grade-0")
    last = lines(runbooks / FILE)[-1]
    assert (last["grade"], last["note"]) == (0, "see the *table*")


def test_evidence_is_chosen_with_its_facts_and_saved_with_its_place(label, runbooks):
    at = label(question="restart-recovery")
    while "acknowledge" not in chunk_on_screen(at):
        press(at, "next")
    press(at, "evidence")
    at.multiselect[0].set_value([1]).run()
    press(at, "grade-2")
    (event,) = lines(runbooks / FILE)
    (evidence,) = event["evidence"]
    document = event["chunk"][0]
    source = (runbooks / f"data/runbooks/corpus/{document}.md").read_text(encoding="utf-8")
    there = source[evidence["start"] : evidence["end"]]
    assert " ".join(there.split()) == " ".join(evidence["quote"].split()) != ""


def test_passing_saves_nothing_and_the_way_back_is_the_same(label, runbooks):
    at = label()
    first = chunk_on_screen(at)
    press(at, "next")
    second = chunk_on_screen(at)
    press(at, "back")
    assert chunk_on_screen(at) == first != second
    press(at, "next")
    assert chunk_on_screen(at) == second and not (runbooks / FILE).exists()


def test_neighbours_words_and_the_whole_document_are_one_key_away(label):
    at = label()
    press(at, "words")
    press(at, "around")
    assert "<mark>" in shown(at) or "The chunk " in shown(at)
    press(at, "document")
    assert "The whole document" in shown(at) and 'class="desk-here"' in shown(at)


def test_the_address_says_what_is_on_screen_and_opens_it_again(label, runbooks):
    at = label()
    before, link = chunk_on_screen(at), dict(at.query_params)
    assert link["question"] == "retry-budget"
    press(at, "grade-2")
    again = label(chunk=link["chunk"])
    assert chunk_on_screen(again) == before
    assert "grade 2. Grade it again to change that." in shown(again)
    press(again, "grade-1")
    first, second = lines(runbooks / FILE)
    assert (second["grade"], second["replaces"]) == (1, first["event"])


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"chunk": "nonsense"}, "&quot;nonsense&quot; as chunk"),
        ({"chunk": "no|such|chunk"}, "&quot;no|such|chunk&quot; as chunk"),
        ({"question": "no-such"}, "&quot;no-such&quot; as question"),
        ({"question": "no-such", "chunk": "no|such|chunk"}, "&quot;no-such&quot; as question"),
        ({"question": "<b>"}, "&quot;&lt;b&gt;&quot; as question"),
    ],
)
def test_a_link_to_what_is_not_there_says_so_and_shows_what_is_next(label, link, words):
    at = label(**link)
    assert f"The link names {words}, which is not there." in shown(at)
    assert "unexpected" not in shown(at)
    if "question" not in link:
        assert chunk_on_screen(at) is not None
    else:
        assert "Practise first?" in shown(at)


def test_a_fault_in_another_reviewers_file_is_told_and_stops_nobody(label, runbooks):
    (runbooks / "labels/runbooks/judgments/ben.jsonl").write_text("{torn and mended badly\n")
    at = label()
    assert "Some lines of the ledger are refused and do not count." in shown(at)
    assert "ben" not in shown(at)
    press(at, "grade-2")
    assert "Saved" in shown(at)


def test_the_scale_of_the_collection_is_on_the_buttons(label, runbooks, edit):
    edit(
        runbooks / "data/runbooks/collection.toml",
        "[labels]\n",
        '[labels]\nscale = { 0 = "no use", 1 = "some *use*", 2 = "all one needs" }\n',
    )
    words = [f"{b['key']} {b['words']}" for b in buttons(label(), "grade")]
    assert words == ["0 no use", "1 some *use*", "2 all one needs"]


def test_how_to_grade_is_on_the_page(label):
    text = shown(label())
    assert "<strong>How to grade the runbooks</strong>" in text
    assert '<details class="desk-guide"' in text


def test_a_grade_given_in_another_tab_meanwhile_is_not_written_twice(label, runbooks):
    first, second = label(), label()
    assert chunk_on_screen(first) == chunk_on_screen(second)
    press(first, "grade-2")
    press(second, "grade-0")
    assert len(lines(runbooks / FILE)) == 1
    assert "was already judged at" in shown(second)
    assert "Nothing was saved" in shown(second)
    assert "grade 2. Grade it again to change that." in shown(second)


def test_a_chunk_that_changed_while_it_was_on_screen_is_not_graded(label, runbooks, edit):
    at = label()
    for path in (runbooks / "data/runbooks/corpus").glob("*.md"):
        edit(path, ". ", "! ")
    press(at, "grade-2")
    assert "has changed since it was shown" in shown(at)
    assert not (runbooks / FILE).exists()


def test_a_full_disk_is_told_and_the_chunk_stays_gradable(label, runbooks):
    at = label()
    before = chunk_on_screen(at)
    folder = runbooks / "labels/runbooks/judgments"
    shutil.move(folder, folder.with_name("aside"))
    folder.write_text("a file where the folder was")
    press(at, "grade-2")
    assert "nothing was saved" in shown(at)
    folder.unlink()
    shutil.move(folder.with_name("aside"), folder)
    at.run()
    assert chunk_on_screen(at) == before
    press(at, "grade-2")
    assert len(lines(folder / "ana.jsonl")) == 1


def test_nothing_of_ranks_scores_or_other_reviewers_is_shown(label, runbooks):
    evaluate(Workspace.at(runbooks).collection("runbooks"))
    text = shown(label(question="drain-deadline"))
    for word in ("score", "rank", "sample-reviewer", "dense", "desk-badge"):
        assert word not in text


def test_source_text_is_never_markup(label, runbooks, edit):
    path = runbooks / "data/runbooks/corpus/http-request-retries.md"
    edit(path, "Retry only", "<img src=x onerror=alert(1)> $x^2$ :red[no] Retry only")
    at = label()
    for _ in range(7):
        assert "<img" not in shown(at)
        if "onerror" in chunk_on_screen(at):
            break
        press(at, "grade-0")
    assert "&lt;img src=x onerror=alert(1)&gt; $x^2$ :red[no]" in chunk_on_screen(at)


@pytest.mark.parametrize(
    ("overlap", "words"), [(0.0, "All done"), (1.0, "Nothing is left for you")]
)
def test_when_nothing_is_left_the_page_says_why_and_offers_second_opinions(
    page,
    runbooks,
    edit,
    overlap,
    words,
):
    settings = runbooks / "data/runbooks/collection.toml"
    edit(settings, "[scoring]", f"[queue]\noverlap = {overlap}\naudit = 0.0\n\n[scoring]")
    at = page("label", reviewer="ana")
    at.button(key="skip-practice").click().run()
    while chunk_on_screen(at):
        press(at, "grade-0")
    assert words in shown(at)
    (button,) = [b for b in at.button if b.key == "second-opinions"]
    assert button.label.startswith("Give a second opinion on the other")
    button.click().run()
    assert chunk_on_screen(at) is not None

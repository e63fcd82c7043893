"""The pages, run as Streamlit runs them but without a browser."""

import json
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from app.flows.evaluating import evaluate
from app.workspace import Workspace

PAGES = ("label", "retrieve", "review")


@pytest.fixture
def page(runbooks, repository, monkeypatch):
    """Opens a page of a workspace; `**query` is what the link asks for."""
    monkeypatch.chdir(runbooks)

    def run(name, **query):
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        steps = [at.run]
        if name != "label":  # the page a server opens with
            steps += [lambda: at.switch_page(f"pages/{name}.py"), at.run]
        for step in steps:
            for key, value in query.items():
                at.query_params[key] = value
            step()
        assert not at.exception
        return at

    return run


@pytest.fixture
def evaluated(runbooks):
    """The workspace with one execution of every configuration."""
    evaluate(Workspace.at(runbooks).collection("runbooks"))
    return runbooks


def shown(at):
    """All HTML and text of a page."""
    return "\n".join(
        [e.proto.body for e in at.get("html") if "<style>" not in e.proto.body]
        + [t.value for t in at.text]
        + [c.value for c in at.caption]
    )


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def press(at, grade):
    (button,) = [b for b in at.button if b.key and b.key.startswith(f"grade-{grade}-")]
    return button.click().run()


def chunk_on_screen(at):
    (body,) = [e.proto.body for e in at.get("html") if 'data-testid="chunk"' in e.proto.body]
    return body


def test_label_asks_for_a_name_and_says_it_is_no_sign_in(page):
    at = page("label")
    assert "A name is not a sign-in" in shown(at)
    assert not [b for b in at.button if b.key and b.key.startswith("grade")]


def test_a_grade_is_on_the_disk_before_the_page_says_saved(page, runbooks):
    at = page("label", reviewer="Ana", question="retry-budget")
    before = chunk_on_screen(at)
    press(at, 2)
    (event,) = lines(runbooks / "labels/runbooks/judgments/ana.jsonl")
    assert (event["grade"], event["question"], event["blind"]) == (2, "retry-budget", True)
    assert f"Saved {event['time'][11:19]} UTC: 2 for {event['chunk'][0]}" in shown(at)
    assert chunk_on_screen(at) != before
    assert "1 of 7 chunks of this question judged by you, 1 of 63" in shown(at)


def test_undo_opens_the_item_again(page, runbooks):
    at = page("label", reviewer="ana", question="retry-budget")
    before = chunk_on_screen(at)
    press(at, 0)
    at.button(key="undo").click().run()
    first, second = lines(runbooks / "labels/runbooks/judgments/ana.jsonl")
    assert (second["kind"], second["replaces"]) == ("withdraw", first["event"])
    assert chunk_on_screen(at) == before
    assert "Taken back" in shown(at)


def test_after_the_last_chunk_the_next_question_comes_when_asked_for(page):
    at = page("label", reviewer="ana", question="ingress-timeout")
    for _ in range(7):
        press(at, 0)
    assert "You have judged every chunk of this question." in shown(at)
    (button,) = [b for b in at.button if b.label == "Next question"]
    button.click().run()
    assert "For how many days" in shown(at)


def test_undo_steps_back_judgment_by_judgment_also_after_a_reload(page, runbooks):
    at = page("label", reviewer="ana", question="retry-budget")
    for grade in (0, 1, 2):
        press(at, grade)
    again = page("label", reviewer="ana")
    for _ in range(3):
        again.button(key="undo").click().run()
    assert "0 of 7 chunks of this question" in shown(again)
    events = lines(runbooks / "labels/runbooks/judgments/ana.jsonl")
    assert [event["replaces"] for event in events[3:]] == [e["event"] for e in events[2::-1]]
    assert not [b for b in again.button if b.key == "undo"]


def test_a_fault_in_another_reviewers_file_is_told_and_stops_nobody(page, runbooks):
    (runbooks / "labels/runbooks/judgments/ben.jsonl").write_text("{torn and mended badly\n")
    at = page("label", reviewer="ana", question="retry-budget")
    assert "Some lines of the ledger are refused; grading goes on." in shown(at)
    assert "ben" not in shown(at)
    press(at, 2)
    assert "Saved" in shown(at)


def test_the_scale_of_the_collection_is_on_the_buttons(page, runbooks, edit):
    edit(
        runbooks / "data/runbooks/collection.toml",
        "[labels]\n",
        '[labels]\nscale = { 0 = "no use", 1 = "some *use*", 2 = "all one needs" }\n',
    )
    at = page("label", reviewer="ana", question="retry-budget")
    labels = [b.label for b in at.button if b.key and b.key.startswith("grade")]
    assert labels == ["**0** no use", "**1** some \\*use\\*", "**2** all one needs"]


def test_how_to_grade_is_on_the_page_as_it_was_written(page):
    at = page("label", reviewer="ana")
    (expander,) = at.expander
    assert expander.label == "How to grade"
    assert "# How to grade the runbooks" in shown(at)


def test_a_grade_given_in_another_tab_meanwhile_is_not_written_twice(page, runbooks):
    first = page("label", reviewer="ana", question="retry-budget")
    second = page("label", reviewer="ana", question="retry-budget")
    assert chunk_on_screen(first) == chunk_on_screen(second)
    press(first, 2)
    press(second, 0)
    assert len(lines(runbooks / "labels/runbooks/judgments/ana.jsonl")) == 1
    assert "was already judged at" in shown(second)
    assert "Nothing was saved" in shown(second)


def test_a_chunk_that_changed_while_it_was_on_screen_is_not_graded(page, runbooks, edit):
    at = page("label", reviewer="ana", question="retry-budget")
    for path in (runbooks / "data/runbooks/corpus").glob("*.md"):
        edit(path, ". ", "! ")
    press(at, 2)
    assert "has changed since it was shown" in shown(at)
    assert not (runbooks / "labels/runbooks/judgments/ana.jsonl").exists()


def test_a_full_disk_is_told_and_the_chunk_stays_gradable(page, runbooks):
    at = page("label", reviewer="ana", question="retry-budget")
    before = chunk_on_screen(at)
    folder = runbooks / "labels/runbooks/judgments"
    shutil.move(folder, folder.with_name("aside"))
    folder.write_text("a file where the folder was")
    press(at, 2)
    assert "the label was not saved" in shown(at)
    folder.unlink()
    shutil.move(folder.with_name("aside"), folder)
    at.run()
    assert chunk_on_screen(at) == before
    press(at, 2)
    assert len(lines(folder / "ana.jsonl")) == 1


def test_label_shows_nothing_of_ranks_scores_or_other_reviewers(page, evaluated):
    text = shown(page("label", reviewer="ana", question="drain-deadline"))
    for word in ("score", "rank", "sample-reviewer", "dense", "desk-badge"):
        assert word not in text


def test_source_text_is_never_markup(page, runbooks, edit):
    path = runbooks / "data/runbooks/corpus/http-request-retries.md"
    edit(path, "Retry only", "<img src=x onerror=alert(1)> $x^2$ :red[no] Retry only")
    at = page("label", reviewer="ana", question="retry-budget")
    for _ in range(7):
        assert "<img" not in shown(at)
        if "onerror" in chunk_on_screen(at):
            break
        press(at, 0)
    assert "&lt;img src=x onerror=alert(1)&gt; $x^2$ :red[no]" in chunk_on_screen(at)


def test_retrieve_shows_evidence_beside_its_scores(page):
    text = shown(page("retrieve", question="restart-recovery", configuration="sparse", k="3"))
    assert "K = 3: what follows is not scored" in text
    for words in ("nDCG@3", "first relevant at rank 1", "1 relevant / 3; at most 1 / 3"):
        assert words in text
    assert "2 answers" in text


def test_retrieve_lists_relevant_chunks_that_were_missed(page):
    text = shown(page("retrieve", question="restart-recovery", configuration="dense", k="3"))
    assert "Relevant, not among the first K" in text
    assert "durable-work-queue recovery/p0: rank" in text


def test_retrieve_keeps_unsupported_questions_apart(page):
    text = shown(page("retrieve", question="retention-days"))
    assert "Unsupported: the corpus holds no answer" in text
    assert "nDCG@3" not in text


def test_retrieve_says_what_to_do_when_the_index_does_not_fit(page, runbooks, edit):
    edit(runbooks / "data/runbooks/corpus/http-request-retries.md", "three", "four")
    text = shown(page("retrieve", question="retry-budget"))
    assert "has changed since it was indexed" in text
    assert "desk index runbooks" in text


def test_a_link_to_a_question_that_is_gone_is_told(page):
    text = shown(page("retrieve", question="no-such"))
    assert "The link names &quot;no-such&quot; as question, which is not there." in text


def test_review_compares_two_executions(page, evaluated):
    at = page("review")
    ids = {o.split(" ")[2]: o for o in at.selectbox(key="pick-baseline").options}
    dense = next(name for name, words in ids.items() if words.startswith("dense"))
    at = page("review", metric="ndcg", k="3", case="restart-recovery", baseline=dense)
    text = shown(at)
    assert "Mean nDCG@3, n 7" in text
    assert "0.804 baseline, 0.876 candidate, +0.071; better on 1, worse on 0, same on 6" in text
    (chart,) = at.get("arrow_vega_lite_chart") or at.get("vega_lite_chart")
    assert "paraphrase (n 2)" in chart.proto.spec + str(chart.proto)
    assert "Is unfinished work lost" in text
    assert len(at.dataframe) == 2
    assert "nDCG@3: 0.000 baseline, 0.500 candidate, +0.500" in text


def test_review_of_executions_without_a_common_question(page, evaluated, edit):
    path = evaluated / "labels/runbooks/questions.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("?", " now?"), encoding="utf-8")
    assert "no question in common" in shown(page("review"))


def test_names_from_files_are_never_markup(page, runbooks, edit):
    path = runbooks / "labels/runbooks/questions.jsonl"
    edit(path, '"category":"conditions"', '"category":"x ![t](http://example.org/t.png) :red[b]"')
    at = page("retrieve", question="retry-budget")
    assert "![t](http://example.org/t.png) :red[b]" in shown(at)
    for element in (*at.markdown, *at.caption):
        assert "example.org" not in element.value


def test_review_without_executions_says_how_to_make_one(page):
    assert "No execution yet. Make one: desk evaluate runbooks" in shown(page("review"))


@pytest.mark.parametrize("name", PAGES)
def test_a_bad_line_is_told_on_every_page_with_file_and_line(page, runbooks, name):
    with (runbooks / "labels/runbooks/questions.jsonl").open("a", encoding="utf-8") as file:
        file.write("{not json\n")
    assert "labels/runbooks/questions.jsonl:10: the line is not JSON" in shown(page(name))


@pytest.mark.parametrize("name", PAGES)
def test_something_unexpected_is_one_sentence_and_a_log(page, runbooks, name, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("app.ui.state.load", broken)
    text = shown(page(name))
    assert "Something unexpected happened (RuntimeError). See data/desk.log." in text
    assert "secret detail" not in text
    assert "secret detail" in (runbooks / "data/desk.log").read_text(encoding="utf-8")


def test_a_workspace_without_collections_says_what_to_do(page, runbooks):
    shutil.rmtree(runbooks / "data/runbooks")
    assert "desk init DIR" in shown(page("label"))


def test_several_collections_are_picked_by_their_titles(page, runbooks, edit):
    shutil.copytree(runbooks / "data/runbooks", runbooks / "data/second")
    shutil.copytree(runbooks / "labels/runbooks", runbooks / "labels/second")
    edit(runbooks / "data/second/collection.toml", 'title = "Runbooks"', 'title = "Second try"')
    at = page("label", collection="second")
    picker = at.selectbox(key="pick-collection")
    assert (picker.value, picker.options) == ("second", ["Runbooks", "Second try"])

"""The pages, run as Streamlit runs them but without a browser."""

import shutil

import pytest

from app.flows.evaluating import evaluate
from app.workspace import Workspace
from tests.labelpage import shown

PAGES = ("label", "retrieve", "review")


@pytest.fixture
def evaluated(runbooks):
    """The workspace with one execution of every configuration."""
    evaluate(Workspace.at(runbooks).collection("runbooks"))
    return runbooks


def test_retrieve_shows_evidence_beside_its_scores(page):
    text = shown(page("retrieve", question="restart-recovery", configuration="sparse", k="3"))
    assert "K = 3: what follows is not scored" in text
    assert "nDCG@3" in text and "first relevant at rank 1: 1 / 1" in text
    assert "1 of 3 in the first 3; 1 relevant in all; at most 0.333 attainable" in text
    assert "2 answers" in text


def test_retrieve_lists_relevant_chunks_that_were_missed(page):
    text = shown(page("retrieve", question="restart-recovery", configuration="dense", k="3"))
    assert "Lost evidence" in text
    assert "durable-work-queue recovery/p0</a>" in text
    assert "ranked deeper: rank 5 of 7 in an exact search" in text


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

    monkeypatch.setattr("app.ui.kept.load", broken)
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

"""Page Retrieve in a browser: one question, two configurations, and what follows from them."""

import json
import re
import threading

import pytest
from playwright.sync_api import expect

from app.flows.indexing import index
from app.flows.listing import list_executions
from app.workspace import Workspace
from tests.browser.conftest import serving
from tests.browser.test_engines_down import pick
from tests.conftest import SPARSE, judgment, lines_of
from tests.qdrant_server import QdrantServer
from tests.retrievers import Endpoint, external, hits
from tests.serving import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
APPLES = {f"a{n}": "apple " * (9 - n) + "pear " * n for n in range(7)}
ASKED = {f"q{n}": f"Is an apple number {n}?" for n in range(6)}


class Slow:
    """A retriever that can be told to hold every question but some, as if it took long."""

    def __init__(self):
        self._lock, self._free = threading.Lock(), None
        self.endpoint = Endpoint(self.say)

    def hold_after(self, free):
        """None lets everything through."""
        with self._lock:
            self._free = free

    def say(self, question, k):
        with self._lock:
            held = self._free == 0
            if self._free:
                self._free -= 1
        if held:
            self.endpoint.closing.wait(120)
            return None
        return hits("a0", "a1", "a2")


def collection(root, name, labels, configurations=SPARSE):
    data, kept = root / "data" / name, root / "labels" / name
    (kept / "judgments").mkdir(parents=True)
    data.mkdir(parents=True)
    texts = [{"id": one, "text": text} for one, text in APPLES.items()]
    (data / "corpus.jsonl").write_text(lines_of(texts), encoding="utf-8")
    (data / "collection.toml").write_text(
        'format = 1\n[source]\nkind = "jsonl"\npath = "corpus.jsonl"\n'
        'fields = { chunk = "id", text = "text" }\n[chunking]\nrule = "as-is-v1"\n'
        + configurations,
        encoding="utf-8",
    )
    questions = [
        {"format": 1, "id": one, "category": "general", "text": text} for one, text in ASKED.items()
    ]
    (kept / "questions.jsonl").write_text(lines_of(questions), encoding="utf-8")
    path = kept / "judgments/ann.jsonl"
    path.write_text(lines_of(judgment(*one, n) for n, one in enumerate(labels)), encoding="utf-8")


@pytest.fixture(scope="module")
def slow():
    made = Slow()
    yield made
    made.endpoint.stop()


@pytest.fixture(scope="module")
def qdrant():
    with QdrantServer() as server:
        yield server


@pytest.fixture(scope="module")
def desk(another_evaluated, slow, qdrant):
    """A server of the runbooks, of apples with open pairs, and of some on a Qdrant server."""
    root = another_evaluated("retrieve")
    more = SPARSE + external(endpoint=slow.endpoint.url, concurrency=1)
    labels = [(question, "a0", 2) for question in ASKED]
    collection(root, "apples", labels, more)
    collection(root, "shelf", labels)
    served(root, qdrant.url, name="shelf")
    for name in ("apples", "shelf"):
        index(Workspace.at(root).collection(name))
    with serving(root) as (address, _):
        yield address, root


@pytest.fixture
def page(screen):
    """A fresh page; nothing may be wrong in its console or leave this machine."""
    wrong = watch(screen)
    yield screen
    assert wrong == [] and screen.outside == []


def watch(page):
    """What goes wrong in the browser; Streamlit looks for its server below a page's path first."""
    wrong = []

    def hear(said):
        where = said.location.get("url", "")
        if said.type == "error" and "/retrieve/_stcore/" not in where:
            wrong.append(f"{said.text} ({where})")

    page.on("console", hear)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong


def content(page):
    """What is on the page, without the times it took and that of the search."""
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    text = page.locator("[data-testid=stMain]").inner_text()
    return re.sub(r"\b\w+ed in [\d.]+ ms,? ?|[\d-]{10} [\d:]{8}", "", text)


def events(root, reviewer, name="apples"):
    path = root / f"labels/{name}/judgments/{reviewer}.jsonl"
    return [json.loads(one) for one in path.read_text().splitlines()] if path.exists() else []


def test_two_configurations_are_compared_and_a_copied_link_shows_the_same(
    desk, page, contexts, until
):
    address, _ = desk
    page.goto(f"{address}/retrieve?collection=runbooks&question=restart-recovery")
    expect(page.get_by_text("Scores at K = 3").first).to_be_visible()
    pick(page, "Beside it", "sparse")
    expect(page.get_by_text("4 higher than in dense (rank 5)").first).to_be_visible()
    pick(page, "K", "5")
    expect(page.get_by_text("Scores at K = 5").first).to_be_visible()
    expect(page.get_by_text("not returned by sparse").first).to_be_visible()
    page.get_by_role("button", name="Change for this run").click()
    page.get_by_role("textbox", name="Score threshold").fill("0.3")
    page.get_by_role("textbox", name="Score threshold").press("Enter")
    expect(page.get_by_text("Threshold 0.3: what scores below it is cut").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Change for this run (1)")).to_be_visible()
    expect(page.get_by_text("dense, changed").first).to_be_visible()
    expect(page).to_have_url(re.compile("threshold=0.3"))
    expect(page.get_by_text("Another filter for this run")).to_have_count(0)
    page.get_by_text("Scores by rank").click()
    expect(page.locator("canvas, svg.marks").first).to_be_visible()
    page.get_by_text("What was run").click()
    expect(page.get_by_text("depth of this search").first).to_be_visible()
    expect(page).to_have_url(re.compile("origin=.*scores=|scores=.*origin="))
    other = contexts.page()
    wrong = watch(other)
    other.goto(page.url)
    expect(other.get_by_text("Threshold 0.3: what scores below it is cut").first).to_be_visible()
    until(lambda: content(other) == content(page), "the same screen", every=0.1)
    assert other.url == page.url and wrong == []
    contexts.give_back(other.context)
    reset = page.get_by_role("button", name="As configured")
    page.get_by_role("button", name="Change for this run").click()
    reset.click()
    expect(page.get_by_text("Threshold 0.3: what scores below it is cut")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("threshold"))


def test_the_open_hits_are_judged_blind_and_the_bounds_close(desk, page):
    address, root = desk
    page.goto(f"{address}/retrieve?collection=apples&question=q1&configuration=sparse")
    expect(page.get_by_text("Provisional: open pairs").first).to_be_visible()
    page.get_by_role("link", name="Judge the 2 open hits blind").click()
    page.get_by_label("Your name").fill("Ana")
    page.keyboard.press("Enter")
    chunk = page.get_by_test_id("chunk")
    expect(page.get_by_text("Item 1 of 2 of the link").first).to_be_visible()
    assert "score" not in page.locator("[data-testid=stMain]").inner_text().lower()
    before = chunk.inner_text()
    page.get_by_role("button", name="does not help").click()
    expect(page.get_by_text("Item 2 of 2 of the link").first).to_be_visible()
    expect(chunk).not_to_have_text(before)
    page.get_by_role("button", name="does not help").click()
    expect(page.get_by_text("The 2 items of the link are judged.").first).to_be_visible()
    assert {(one["chunk"][0], one["blind"]) for one in events(root, "ana")} == {
        ("a1", True), ("a2", True),
    }  # fmt: skip
    page.locator('main a[href*="/retrieve?"], [data-testid=stMain] a[href*="/retrieve?"]').click()
    expect(page.get_by_text("Scores at K = 3").first).to_be_visible()
    expect(page.get_by_text("3 of 3 hits with a settled grade").first).to_be_visible()
    expect(page.get_by_text("Provisional")).to_have_count(0)


def test_a_grade_is_given_beside_the_ranking(desk, page):
    address, root = desk
    page.goto(f"{address}/retrieve?collection=apples&question=q2&configuration=sparse")
    page.get_by_role("button", name="Grade here").first.click()
    expect(page.get_by_text("Enter your name to grade.").first).to_be_visible()
    page.get_by_label("Your name").fill("Ben")
    page.keyboard.press("Enter")
    expect(page.get_by_text("the grade is kept as not blind").first).to_be_visible()
    give = page.get_by_role("button", name=re.compile("^2 "))
    expect(give).to_be_enabled()
    give.click()
    expect(page.get_by_text("Saved: 2 for a1, as not blind.").first).to_be_visible()
    (event,) = events(root, "ben")
    assert (event["chunk"][0], event["grade"], event["blind"]) == ("a1", 2, False)
    expect(page.get_by_role("button", name="Grade here")).not_to_have_count(0)


def test_a_typed_question_is_saved_by_who_came_from_page_label(desk, page):
    address, root = desk
    page.goto(f"{address}/?collection=apples")
    expect(page.get_by_label("Your name")).to_be_visible()
    page.get_by_role("link", name="Retrieve").click()
    page.get_by_label("Or your own question").fill("What of the pears?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("typed here, not in the collection").first).to_be_visible()
    page.get_by_role("button", name="Save the question").click()
    page.get_by_label("Your name").fill("Cem")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="Save the question")
    panel.get_by_role("combobox", name=re.compile("Category")).click()
    page.get_by_role("option", name="general", exact=True).click()
    panel.get_by_role("button", name="Save the question").click()
    expect(page.get_by_text("is saved.").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    (event,) = [
        json.loads(one)
        for one in (root / "labels/apples/events/cem.jsonl").read_text().splitlines()
    ]
    expect(page).to_have_url(re.compile(f"question={event['question']}"))


def test_a_long_evaluation_shows_how_far_it_is_and_is_stopped(desk, page, slow):
    address, root = desk
    page.goto(f"{address}/retrieve?collection=apples&question=q3&configuration=pipeline")
    expect(page.get_by_text("Scores at K = 3").first).to_be_visible()
    slow.hold_after(2)
    page.get_by_role("button", name=re.compile(r"Evaluate \d questions with pipeline")).click()
    expect(
        page.get_by_text(re.compile(r"Searching apples with pipeline: 2 of \d")).first
    ).to_be_visible()
    # It goes on while another page is read.
    page.get_by_role("link", name="Review").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    page.get_by_role("link", name="Retrieve").click()
    page.get_by_role("button", name="Stop: keep what was searched").click()
    expect(page.get_by_text("is kept as incomplete").first).to_be_visible()
    slow.hold_after(None)
    listed = list_executions(Workspace.at(root), "apples")
    (kept,) = [one.execution for one in listed if one.execution.configuration == "pipeline"]
    assert kept.status == "incomplete" and page.get_by_text(kept.id).count() == 1
    page.get_by_role("button", name="Ask the rest").click()
    expect(page.get_by_text("Finished with pipeline: execution").first).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Finished with pipeline: execution")).to_have_count(0)


def test_a_qdrant_server_that_is_stopped_is_told_and_asked_again(desk, page, qdrant):
    address, _ = desk
    page.goto(f"{address}/retrieve?collection=shelf&question=q1")
    expect(page.get_by_text("Scores at K = 3").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    qdrant.stop()
    page.get_by_role("button", name="Search again").click()
    said = page.get_by_role("alert")
    expect(said).to_contain_text("does not answer")
    assert "Start it" in said.inner_text() and qdrant.url.split("//")[1] in said.inner_text()
    page.get_by_role("button", name="Next").click()  # the page is alive
    expect(page.get_by_role("heading", name=ASKED["q2"])).to_be_visible()
    expect(said).to_contain_text("does not answer")
    qdrant.start()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("Scores at K = 3").first).to_be_visible()
    expect(page.locator(".desk-hit").first).to_be_visible()

"""What only a browser shows."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import desk_serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def read(another_evaluated):
    """A server for all tests that change no label: its address and its workspace."""
    root = another_evaluated("read")
    with desk_serving(root) as address:
        yield address, root


@pytest.fixture(scope="module")
def graded(another_evaluated):
    """A server for all tests that grade, each as somebody else: its address and its workspace."""
    root = another_evaluated("graded")
    with desk_serving(root) as address:
        yield address, root


def events(root, reviewer):
    path = root / f"labels/runbooks/judgments/{reviewer}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_reviewer_grades_with_the_mouse_and_undoes(screen, graded):
    dashboard, root = graded
    screen.goto(f"{dashboard}/?question=drain-deadline")
    screen.get_by_label("Your name").fill("Ana")
    screen.keyboard.press("Enter")
    chunk = screen.get_by_test_id("chunk")
    expect(chunk).to_be_visible()
    for number in range(1, 4):
        before = chunk.inner_text()
        screen.get_by_role("button", name="does not help").click()
        expect(chunk).not_to_have_text(before)
        expect(screen.get_by_text(f"{number} by you").first).to_be_visible()
    assert len({tuple(event["chunk"]) for event in events(root, "ana")}) == 3
    screen.get_by_role("button", name="Undo").click()
    expect(screen.get_by_text("Taken back")).to_be_visible()
    assert events(root, "ana")[-1]["kind"] == "withdraw"
    assert "reviewer=Ana" in screen.url
    assert "question=drain-deadline" in screen.url


def test_two_quick_clicks_never_grade_a_chunk_that_was_not_read(screen, graded):
    dashboard, root = graded
    screen.goto(f"{dashboard}/?reviewer=ben&question=drain-deadline")
    expect(screen.get_by_test_id("chunk")).to_be_visible()
    button = screen.get_by_role("button", name="answers", exact=False).first
    button.dblclick()
    expect(screen.get_by_text(re.compile(r"[12] by you")).first).to_be_visible()
    screen.wait_for_timeout(500)
    keys = [tuple(event["chunk"]) for event in events(root, "ben")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("page", ["", "review"])
def test_the_first_link_a_new_server_gets_shows_the_frame(screen, dashboard, page):
    screen.goto(f"{dashboard}/{page}")
    for name in ("Label", "Retrieve", "Review"):
        expect(screen.get_by_role("link", name=name)).to_be_visible()
    expect(screen.get_by_role("heading", level=1)).to_have_text(page.title() or "Label")
    expect(screen.get_by_role("link", name="main", exact=True)).to_have_count(0)


def test_a_case_is_a_link_and_nothing_leaves_the_machine(screen, read):
    dashboard, _ = read
    screen.goto(f"{dashboard}/retrieve?question=restart-recovery&configuration=sparse&k=5")
    expect(screen.get_by_text("Is unfinished work lost when a process").last).to_be_visible()
    expect(screen.get_by_text("Scores at K = 5").first).to_be_visible()
    screen.get_by_role("link", name="Review").click()
    expect(screen.locator("canvas, svg.marks").first).to_be_visible()
    screen.goto(f"{dashboard}/review?case=restart-recovery&metric=recall&k=1")
    expect(screen.get_by_text("Mean Recall@1, n 7")).to_be_visible()
    expect(screen.get_by_text("Is unfinished work lost when a process").last).to_be_visible()
    assert screen.outside == []


def test_no_page_is_wider_than_the_window(screen, read):
    dashboard, _ = read
    for width, scheme in ((1280, "light"), (800, "dark")):
        screen.emulate_media(color_scheme=scheme)
        screen.set_viewport_size({"width": width, "height": 800})
        fits(screen, dashboard)


def fits(screen, dashboard):
    label = "?reviewer=ana&question=drain-deadline"
    pages = ((label, "This question"), ("retrieve", "Scores at K"), ("review", "One case"))
    for page, words in pages:
        screen.goto(f"{dashboard}/{page}")
        expect(screen.get_by_text(words).first).to_be_visible()
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert screen.evaluate(wide)


def test_an_evaluation_while_the_dashboard_is_used(screen, read, desk_process):
    dashboard, root = read
    screen.goto(f"{dashboard}/review")
    expect(screen.get_by_text("One case")).to_be_visible()
    process = desk_process(root, "evaluate", "runbooks", "--json")
    for question in ("drain-deadline", "retry-budget", "http-pooling"):
        screen.goto(f"{dashboard}/review?case={question}")
        expect(screen.get_by_text("One case")).to_be_visible()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    made = {one["execution"] for one in json.loads(out)["executions"]}
    screen.goto(f"{dashboard}/review?candidate={made.pop()}")
    expect(screen.get_by_text("One case")).to_be_visible()
    assert screen.get_by_role("alert").count() == 0

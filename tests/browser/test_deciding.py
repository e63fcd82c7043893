"""A dispute is decided in a real browser, and its decision proposed for the guidelines."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving
from tests.browser.labelers import build
from tests.conftest import judgment, lines_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def disputed(tmp_path):
    """A workspace where two reviewers disagree about one chunk."""
    root = build(tmp_path / "workspace")
    for n, (author, grade, note) in enumerate(
        (("ann", 2, "It says so."), ("bob", 0, "It does not."))
    ):
        line = judgment("q3", "c5", grade, f"{author}-{n}", author=author, note=note)
        (root / f"labels/plain/judgments/{author}.jsonl").write_text(lines_of([line]))
    return root


def test_a_dispute_is_read_without_names_decided_and_proposed(disputed, screen):
    with serving(disputed) as (address, _):
        screen.goto(f"{address}/?collection=plain&view=disputes&reviewer=zoe")
        # Who has not judged it themselves is asked first.
        screen.get_by_role("button", name="Show it").click()
        expect(screen.get_by_text("Reviewer A").first).to_be_visible()
        expect(screen.get_by_text("Reviewer B").first).to_be_visible()
        expect(screen.get_by_text("It does not.").first).to_be_visible()
        text = screen.locator("[data-testid=stMain]").inner_text()
        assert "ann" not in text.split() and "bob" not in text.split()
        decide = screen.get_by_role("button", name="Decide 1")
        decide.click()
        expect(screen.get_by_role("alert").first).to_be_visible()  # a rationale is asked for
        screen.get_by_label("Why this is the grade").fill("It says a part of it.")
        decide.click()
        expect(screen.get_by_text("decided 1 for c5")).to_be_visible()
        screen.get_by_role("button", name="Propose").first.click()
        path = disputed / "labels/plain/events/zoe.jsonl"
        expect(screen.get_by_text("Proposed as an example for the guidelines")).to_be_visible()
    (event,) = lines(disputed / "labels/plain/judgments/zoe.jsonl")
    assert (event["grade"], event["adjudication"], event["blind"]) == (1, True, False)
    assert event["note"] == "It says a part of it."
    (example,) = lines(path)
    assert (example["kind"], example["of"], example["grade"]) == ("example", event["event"], 1)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

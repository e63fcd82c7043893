"""The buttons of the bar, in a real browser: one press each, whoever presses."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def answers(who):
    return who.page.get_by_role("button", name="2 answers")


def test_a_held_enter_on_a_button_grades_once(reviewer):
    amy = reviewer("amy").open(question="q1")
    answers(amy).focus()
    amy.hold("Enter")
    assert [one["grade"] for one in amy.events] == [2]
    # Who works without a mouse goes on where they are.
    expect(answers(amy)).to_be_focused()
    amy.page.keyboard.press("Enter")
    expect(amy.page.get_by_text("2 by you").first).to_be_visible()
    assert [one["grade"] for one in amy.events] == [2, 2]


def test_a_double_click_counts_once_and_says_so(reviewer):
    bob = reviewer("bob").open(question="q1")
    before = bob.item
    answers(bob).dblclick(delay=10)
    expect(bob.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
    expect(bob.page.get_by_text("A double click counts once.")).to_be_visible()
    bob.page.wait_for_timeout(500)
    assert len(bob.events) == 1


def test_a_switch_says_whether_it_is_on(reviewer):
    cat = reviewer("cat").open(question="q1")
    words = cat.page.get_by_role("button", name="h Words")
    expect(words).to_have_attribute("aria-pressed", "false")
    words.click()
    expect(words).to_have_attribute("aria-pressed", "true")
    expect(cat.page.locator(".desk-judged mark").first).to_be_visible()
    cat.settle()
    cat.press("h", moves=False)
    expect(words).to_have_attribute("aria-pressed", "false")
    assert cat.events == []


def tree(page):
    """What a screen reader is given of a page."""
    client = page.context.new_cdp_session(page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def test_a_screen_reader_hears_what_was_saved(reviewer):
    dee = reviewer("dee").open(question="q1")
    said = dee.page.locator('.saved[role="status"]')
    said.evaluate("place => { place.heard = 1; }")
    # Also while it is empty: what comes together with its place is not read out.
    roles = [node["role"]["value"] for node in tree(dee.page)]
    assert roles.count("status") >= 3 and "alert" in roles
    dee.press("1")
    expect(said).to_contain_text("Saved")
    # A place that was there before: only what changes in one is read out.
    assert said.evaluate("place => place.heard") == 1

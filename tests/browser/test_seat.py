"""Who sits there, what is in the way, and what comes after what: in a real browser."""

import json

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_after_a_look_back_grading_goes_on_where_it_was(reviewer):
    fia = reviewer("fia").open(question="q1")
    for _ in range(3):
        fia.press("1")
    here = fia.item
    for _ in range(3):
        fia.press("ArrowLeft")
    fia.press("0")
    assert fia.item == here


def test_the_focus_never_moves_to_another_grade(reviewer, grading_desk):
    gus = reviewer("gus").open(question="q4")
    zero = gus.page.get_by_role("button", name="0 does not help")
    place = zero.bounding_box()["x"]
    gus.press("0")
    path = grading_desk[1] / "data/plain/corpus.jsonl"
    chunk = gus.events[0]["chunk"][2]
    lines = path.read_text(encoding="utf-8").replace(
        f"Chunk number {chunk[1:]} says", f"Chunk number {chunk[1:]} told"
    )
    path.write_text(lines, encoding="utf-8")
    key = "|".join(gus.events[0]["chunk"])
    gus.open(question="q4", chunk=key)
    still = gus.page.get_by_role("button", name="y Still 0")
    expect(still).to_be_visible()
    assert zero.bounding_box()["x"] == place
    zero.focus()
    before = gus.item
    gus.page.keyboard.press("Enter")
    expect(gus.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
    expect(still).to_have_count(0)
    expect(zero).to_be_focused()
    gus.page.get_by_role("button", name="x Cannot judge").focus()
    gus.page.keyboard.press("Enter")
    expect(gus.page.get_by_role("button", name="o Outside my expertise")).to_be_visible()
    count = len(gus.events)
    gus.page.keyboard.press("Enter")
    gus.page.wait_for_timeout(400)
    assert len(gus.events) == count


def test_a_name_that_was_just_typed_is_not_graded_under_the_one_before(reviewer, grading_desk):
    hal = reviewer("hal").open(question="q1")
    hal.page.get_by_label("Your name").fill("ida")
    # As a tap does: no time passes between down and up.
    hal.page.get_by_role("button", name="2 answers").evaluate("(b) => { b.focus(); b.click(); }")
    expect(hal.page.get_by_text("The name was being changed")).to_be_visible()
    hal.page.wait_for_timeout(1000)
    assert hal.events == []
    other = grading_desk[1] / "labels/plain/judgments/ida.jsonl"
    assert not other.exists()


def test_after_a_name_is_entered_digits_grade_and_are_no_letters_of_it(reviewer):
    jon = reviewer("jon").open(question="q1")
    field = jon.page.get_by_label("Your name")
    field.fill("kay")
    field.press("Enter")
    # Somebody else: practice is offered, and nothing of the item before is left in the address.
    expect(jon.page.get_by_text("Practise first?")).to_be_visible()
    assert "chunk=" not in jon.page.url
    jon.page.get_by_role("button", name="Start grading").click()
    expect(jon.page.locator("[data-item]")).to_be_visible()
    jon.page.wait_for_function("window.__desk?.now?.item")
    jon.page.keyboard.press("1")
    expect(jon.page.get_by_text("Saved").first).to_be_visible()
    expect(field).to_have_value("kay")


def test_going_to_a_question_leaves_nothing_in_the_way(reviewer):
    lou = reviewer("lou").open(question="q1")
    lou.page.get_by_role("button", name="Go to a question").click()
    lou.page.get_by_role("combobox", name="Question").fill("page 5")
    lou.page.keyboard.press("Enter")
    expect(lou.page.get_by_role("heading", name="What does page 5 say")).to_be_visible()
    expect(lou.page.get_by_role("combobox", name="Question")).to_have_count(0)
    lou.press("1")
    assert [one["question"] for one in lou.events] == ["q5"]


def test_the_key_of_the_note_leads_back_into_it(reviewer):
    max_ = reviewer("max").open(question="q1")
    max_.press("n", moves=False)
    field = max_.page.get_by_label("Note")
    expect(field).to_be_focused()
    max_.page.keyboard.type("half of")
    max_.page.keyboard.press("Escape")
    max_.settle()
    max_.page.keyboard.press("n")
    expect(field).to_be_focused()
    max_.page.keyboard.press("End")
    max_.page.keyboard.type(" 1 or 2")
    assert max_.events == []
    max_.page.keyboard.press("Escape")
    max_.press("1")
    assert [one["note"] for one in max_.events] == ["half of 1 or 2"]


@pytest.mark.parametrize(("width", "height"), [(1280, 620), (800, 500)])
def test_the_bar_leaves_the_text_to_be_read(reviewer, width, height):
    nia = reviewer(f"nia-{width}").open(question="q1")
    nia.page.set_viewport_size({"width": width, "height": height})
    nia.press("e", moves=False)
    for number in range(3):
        nia.page.locator(f'[data-s="{number}"]').click()
        nia.settle()
    nia.press("n", moves=False)
    nia.page.wait_for_timeout(600)
    nia.page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollTo(0, 1e6)")
    chunk = nia.page.locator(".desk-judged").bounding_box()
    bar = nia.page.locator('[class*="st-key-bar"]').bounding_box()
    assert bar["height"] <= 0.46 * height
    assert chunk["y"] + chunk["height"] <= bar["y"] + 1


def test_the_ledger_names_only_who_graded(grading_desk):
    for path in (grading_desk[1] / "labels/plain/judgments").glob("*.jsonl"):
        authors = {json.loads(line)["author"] for line in path.read_text().splitlines()}
        assert authors == {path.stem}

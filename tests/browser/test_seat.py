"""Who sits there, what is in the way, and what comes after what: in a real browser."""

import json

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_after_a_look_back_grading_goes_on_where_it_was(reviewer):
    fiona = reviewer("fiona").open(question="q1")
    for _ in range(3):
        fiona.press("1")
    here = fiona.item
    for _ in range(3):
        fiona.press("ArrowLeft")
    fiona.press("0")
    assert fiona.item == here


def test_the_focus_never_moves_to_another_grade(reviewer, grading_desk):
    gustav = reviewer("gustav").open(question="q4")
    zero = gustav.page.get_by_role("button", name="0 does not help")
    place = zero.bounding_box()["x"]
    gustav.press("0")
    path = grading_desk[1] / "data/plain/corpus.jsonl"
    number = gustav.events[0]["chunk"][2][1:]
    text = path.read_text(encoding="utf-8")
    there = f"Chunk number {number} says"
    path.write_text(text.replace(there, there.replace("says", "told")), encoding="utf-8")
    try:
        gustav.open(question="q4", chunk="|".join(gustav.events[0]["chunk"]))
        still = gustav.page.get_by_role("button", name="y Still 0")
        expect(still).to_be_visible()
        assert zero.bounding_box()["x"] == place
        zero.focus()
        before = gustav.item
        gustav.page.keyboard.press("Enter")
        expect(gustav.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
        expect(still).to_have_count(0)
        expect(zero).to_be_focused()
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_focus_never_moves_to_a_reason(reviewer):
    ole = reviewer("ole").open(question="q4")
    ole.page.get_by_role("button", name="x Cannot judge").focus()
    ole.page.keyboard.press("Enter")
    expect(ole.page.get_by_role("button", name="o Outside my expertise")).to_be_visible()
    ole.page.keyboard.press("Enter")
    ole.page.wait_for_timeout(400)
    assert ole.events == []


def test_enter_presses_what_has_the_focus_also_while_practising(reviewer):
    pia = reviewer("pia")
    pia.page.goto(f"{pia.address}/?collection=plain&reviewer=pia")
    pia.page.get_by_role("button", name="Practise 5 items").click()
    # The explanation is not clicked away with the grade.
    pia.page.get_by_role("button", name="0 does not help").dblclick()
    expect(pia.page.get_by_text("You gave 0")).to_be_visible()
    expect(pia.page.get_by_text("Practice 1 of 5")).to_be_visible()
    pia.page.get_by_role("button", name="Stop practising").focus()
    pia.page.keyboard.press("Enter")
    expect(pia.page.locator('[data-item]:not([data-item^="practice"])')).to_be_visible()


def test_one_undo_a_double_click(reviewer):
    rob = reviewer("rob").open(question="q1")
    for _ in range(3):
        rob.press("1")
    rob.page.get_by_role("button", name="z Undo").dblclick(delay=30)
    expect(rob.page.get_by_text("Taken back")).to_be_visible()
    rob.page.wait_for_timeout(500)
    assert [one["kind"] for one in rob.events] == ["grade"] * 3 + ["withdraw"]


def test_a_name_that_was_just_typed_is_not_graded_under_the_one_before(reviewer, grading_desk):
    hana = reviewer("hana").open(question="q1")
    hana.page.get_by_label("Your name").fill("ilja")
    # As a tap does: no time passes between down and up. Practice is offered to the new name soon,
    # and takes the place of the bar with its words.
    told = hana.page.get_by_role("button", name="2 answers").evaluate(
        "(b) => { b.focus(); b.click(); return window.__desk.now.told.textContent; }"
    )
    assert "The name was being changed" in told
    hana.page.wait_for_timeout(1000)
    assert hana.events == []
    other = grading_desk[1] / "labels/plain/judgments/ilja.jsonl"
    assert not other.exists()


def test_after_a_name_is_entered_digits_grade_and_are_no_letters_of_it(reviewer):
    jonas = reviewer("jonas").open(question="q1")
    field = jonas.page.get_by_label("Your name")
    field.fill("kaya")
    field.press("Enter")
    # Somebody else: practice is offered, and nothing of the item before is left in the address.
    expect(jonas.page.get_by_text("Practise first?")).to_be_visible()
    assert "chunk=" not in jonas.page.url
    jonas.page.get_by_role("button", name="Start grading").click()
    expect(jonas.page.locator("[data-item]")).to_be_visible()
    jonas.page.wait_for_function("window.__desk?.now?.item")
    jonas.page.keyboard.press("1")
    expect(jonas.page.get_by_text("Saved").first).to_be_visible()
    expect(field).to_have_value("kaya")


def test_going_to_a_question_leaves_nothing_in_the_way(reviewer):
    louis = reviewer("louis").open(question="q1")
    louis.page.get_by_role("button", name="Go to a question").click()
    louis.page.get_by_role("combobox", name="Question").fill("page 5")
    louis.page.keyboard.press("Enter")
    expect(louis.page.get_by_role("heading", name="What does page 5 say")).to_be_visible()
    expect(louis.page.get_by_role("combobox", name="Question")).to_have_count(0)
    louis.press("1")
    assert [one["question"] for one in louis.events] == ["q5"]


def test_the_key_of_the_note_leads_back_into_it(reviewer):
    maxim = reviewer("maxim").open(question="q1")
    field = maxim.write_note("half of")
    maxim.page.keyboard.press("Escape")
    maxim.settle()
    maxim.page.keyboard.press("n")
    expect(field).to_be_focused()
    maxim.page.keyboard.press("End")
    maxim.page.keyboard.type(" 1 or 2")
    assert maxim.events == []
    maxim.page.keyboard.press("Escape")
    maxim.press("1")
    assert [one["note"] for one in maxim.events] == ["half of 1 or 2"]


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

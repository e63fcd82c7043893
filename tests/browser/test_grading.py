"""Grading by keyboard and mouse, in a real browser."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.labelers import HOSTILE, SECRETS

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def grades(events):
    return [(one["kind"], one["grade"]) for one in events]


def test_the_whole_loop_by_keyboard(reviewer):
    ana = reviewer("ana").open(question="q1")
    ana.press("2")
    expect(ana.page.get_by_text(re.compile(r"^Saved \d\d:\d\d:\d\d: 2"))).to_be_visible()
    ana.press("0")
    ana.press("x", moves=False)
    expect(ana.page.get_by_text("Why?")).to_be_visible()
    ana.press("b")
    ana.press("l")
    first = ana.item
    ana.press("ArrowRight")
    ana.press("ArrowLeft")
    assert ana.item == first
    ana.press("z")
    ana.press("z")
    ana.press("1")
    kinds = [("grade", 2), ("grade", 0), ("cannot-judge", None), ("later", None),
             ("withdraw", None), ("withdraw", None), ("grade", 1)]  # fmt: skip
    assert grades(ana.events) == kinds
    assert ana.events[2]["reason"] == "broken text"


def test_a_held_key_grades_once(reviewer):
    ben = reviewer("ben").open(question="q1")
    ben.hold("1")
    assert grades(ben.events) == [("grade", 1)]


def test_ten_fast_presses_grade_what_was_shown_or_are_refused(reviewer):
    cid = reviewer("cid").open(question="q1")
    for number in range(10):
        cid.page.keyboard.press(str(number % 3))
        cid.page.wait_for_timeout(15)
    cid.settle()
    chunks = [tuple(one["chunk"]) for one in cid.events]
    assert 1 <= len(chunks) <= 10 and len(chunks) == len(set(chunks))
    if len(chunks) < 10:
        expect(cid.refused).to_be_visible()
        words = cid.refused.inner_text()
        count = int(words.split()[0]) if words[0].isdigit() else 1
        assert count + len(chunks) == 10


def test_digits_typed_in_a_note_grade_nothing(reviewer):
    dan = reviewer("dan").open(question="q1")
    field = dan.write_note("see 0, 1 and 2; x l z")
    assert dan.events == []
    dan.page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    dan.press("2")
    (event,) = dan.events
    assert (event["grade"], event["note"]) == (2, "see 0, 1 and 2; x l z")
    expect(dan.page.get_by_label("Note")).to_have_count(0)


def test_a_note_goes_with_a_click_on_the_button(reviewer):
    eve = reviewer("eve").open(question="q1")
    eve.press("n", moves=False)
    expect(eve.page.get_by_label("Note")).to_be_focused()
    eve.page.keyboard.type("by mouse")
    before = eve.item
    eve.page.get_by_role("button", name="answers").click()
    expect(eve.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
    assert [(e["grade"], e["note"]) for e in eve.events] == [(2, "by mouse")]


def test_two_tabs_of_one_reviewer(reviewer, chromium):
    one = reviewer("fay").open(question="q2")
    two = reviewer("fay", page=one.page.context.new_page()).open(question="q2")
    assert one.item == two.item
    one.press("2")
    two.page.keyboard.press("0")
    expect(two.page.get_by_text("was already judged at")).to_be_visible()
    assert grades(one.events) == [("grade", 2)]
    expect(two.page.get_by_text("Grade it again to change that.")).to_be_visible()
    two.settle()
    two.press("1")
    assert grades(one.events) == [("grade", 2), ("grade", 1)]
    assert one.events[1]["replaces"] == one.events[0]["event"]


def test_two_reviewers_on_one_item_by_link(reviewer):
    gil = reviewer("gil").open(question="q2")
    link = gil.page.url.partition("chunk=")[2]
    hal = reviewer("hal").open(question="q2", chunk=link)
    assert gil.item == hal.item
    gil.press("2")
    hal.press("0")
    assert grades(gil.events) == [("grade", 2)] and grades(hal.events) == [("grade", 0)]
    assert gil.events[0]["chunk"] == hal.events[0]["chunk"]


def test_the_browsers_back_button_leads_to_the_item_before(reviewer):
    ida = reviewer("ida").open(question="q3")
    first = ida.item
    ida.press("2")
    ida.press("1")
    ida.page.go_back()
    ida.page.wait_for_timeout(300)
    ida.page.go_back()
    expect(ida.page.locator("[data-item]")).to_have_attribute("data-item", first)
    expect(ida.page.get_by_text("grade 2. Grade it again to change that.")).to_be_visible()
    ida.settle()
    ida.press("0")
    assert grades(ida.events) == [("grade", 2), ("grade", 1), ("grade", 0)]
    assert ida.events[2]["replaces"] == ida.events[0]["event"]


def test_undo_goes_back_across_questions(reviewer):
    jan = reviewer("jan").open(question="q4")
    jan.press("2")
    first = jan.events[0]
    jan.open(question="q5").press("0")
    jan.press("z")
    jan.press("z")
    assert [one["question"] for one in jan.events] == ["q4", "q5", "q5", "q4"]
    assert "question=q4" in jan.page.url and f"chunk={first['chunk'][0]}%7C" in jan.page.url


def test_evidence_is_clicked_and_its_fact_picked(reviewer):
    kim = reviewer("kim").open(question="q3")
    kim.press("e", moves=False)
    kim.page.locator('[data-s="1"]').click()
    expect(kim.page.locator('[data-s="1"].desk-chosen')).to_be_visible()
    kim.page.get_by_role("button", name="It says that too.", exact=True).click()
    kim.settle()
    kim.press("2")
    (event,) = kim.events
    (evidence,) = event["evidence"]
    assert (evidence["quote"], evidence["facts"]) == ("And it says that too.", ["f1"])
    expect(kim.page.locator(".desk-chosen")).to_have_count(0)


@pytest.fixture
def guidelines(grading_desk):
    path = grading_desk[1] / "labels/plain/guidelines.md"
    path.write_text("# Rules\n\nGrade fairly.")
    yield
    path.unlink()


@pytest.mark.usefixtures("guidelines")
def test_the_guidelines_stay_open_or_closed(reviewer):
    lea = reviewer("lea").open(question="q3")
    guide = lea.page.locator("details.desk-guide")
    expect(guide).to_have_attribute("open", "")
    lea.page.keyboard.press("g")
    expect(guide).not_to_have_attribute("open", "")
    lea.press("1")
    expect(guide).not_to_have_attribute("open", "")
    lea.open(question="q2")
    expect(guide).not_to_have_attribute("open", "")


@pytest.mark.usefixtures("guidelines")
def test_guidelines_closed_before_they_were_first_painted_stay_closed(reviewer):
    lou = reviewer("lou")
    lou.page.add_init_script(
        """{
          const soon = requestAnimationFrame.bind(window);
          const press = () => {
            if (window.pressed || !window.__desk?.now) return;
            if (!document.querySelector("details.desk-guide:not([data-seen])")) return;
            window.pressed = true;
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "g", bubbles: true }));
          };
          window.requestAnimationFrame = (act) => soon((time) => { press(); act(time); });
        }"""
    )
    lou.open(question="q3")
    lou.page.wait_for_function("window.pressed")
    expect(lou.page.locator("details.desk-guide")).not_to_have_attribute("open", "")


def test_a_changed_text_is_shown_with_its_change_and_one_key_confirms(reviewer, grading_desk):
    mia = reviewer("mia").open(question="q2")
    mia.press("2")
    chunk = mia.events[0]["chunk"][0]
    path = grading_desk[1] / "data/plain/corpus.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace(f"Chunk number {chunk[1:]} says", f"Chunk number {chunk[1:]} told")
    )
    mia.open(question="q2", chunk=f"{chunk}|as-is-v1|{chunk}")
    expect(mia.page.locator(".desk-diff del")).to_have_text("says")
    expect(mia.page.locator(".desk-diff ins")).to_have_text("told")
    mia.settle()
    mia.press("y")
    assert grades(mia.events) == [("grade", 2), ("grade", 2)]
    assert mia.events[1]["replaces"] == mia.events[0]["event"]
    assert mia.events[1]["text_hash"] != mia.events[0]["text_hash"]
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_shown_as_it_is_and_does_nothing(reviewer, name):
    pat = reviewer(f"pat-{name}", "hostile")
    outside = []
    pat.page.on("request", lambda one: None if "localhost" in one.url else outside.append(one.url))
    pat.page.on("dialog", lambda one: outside.append("dialog"))
    pat.open(question="q1", chunk=f"{name}|as-is-v1|{name}")
    shown = pat.page.get_by_test_id("chunk")
    if name == "long":
        assert len(shown.inner_text()) < 25_000
        pat.page.get_by_text("Show the other").focus()
        pat.page.keyboard.press("Enter")
    plain = "".join(HOSTILE[name].split())
    there = "".join(shown.text_content().replace("Show the other", "").split())
    assert plain[:15_000] in there.replace("\ufffd", "\x00") or name == "control"
    for key in ("h", "e", "b", "d", "d"):
        pat.press(key, moves=False)
    assert pat.page.evaluate("window.ran") is None
    expect(pat.page.locator(".katex")).to_have_count(0)
    expect(pat.page.locator('[data-testid="chunk"] img')).to_have_count(0)
    pat.press("0")
    assert grades(pat.events) == [("grade", 0)] and outside == []


def test_nothing_of_others_reaches_the_browser_before_ones_own_label(reviewer):
    quin = reviewer("quin")
    frames = []

    def keep(data):
        frames.append(data)

    quin.page.on("websocket", lambda socket: socket.on("framereceived", keep))
    quin.open(question="q0", chunk="c0|as-is-v1|c0")
    for key in ("h", "b", "d", "e", "ArrowRight", "ArrowLeft"):
        quin.press(key, moves=key.startswith("Arrow"))
    received = b"".join(f if isinstance(f, bytes) else f.encode() for f in frames)
    assert b"Chunk number 0 says" in received
    for secret in SECRETS:
        assert secret.encode() not in received


def test_the_address_of_an_item_can_be_sent(reviewer):
    ray = reviewer("ray").open(question="q4")
    ray.press("1")
    link = ray.page.url
    before = ray.item
    ray.page.goto("about:blank")
    ray.page.goto(link)
    expect(ray.page.locator("[data-item]")).to_have_attribute("data-item", before)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (800, "dark")])
def test_the_buttons_stay_in_one_place_and_the_page_is_never_too_wide(reviewer, width, scheme):
    sam = reviewer(f"sam-{width}", "hostile")
    sam.page.emulate_media(color_scheme=scheme)
    sam.page.set_viewport_size({"width": width, "height": 800})
    sam.open(question="q2")
    places = set()
    for _ in range(len(HOSTILE)):
        box = sam.page.get_by_role("button", name="does not help").bounding_box()
        places.add((round(box["x"]), round(box["y"])))
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert sam.page.evaluate(wide)
        sam.press("ArrowRight")
    assert len(places) == 1


def test_the_ledger_is_whole_after_all_this(grading_desk):
    for path in (grading_desk[1] / "labels").rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)

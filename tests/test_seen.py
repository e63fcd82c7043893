"""What a reviewer was shown of others' grades is remembered, and nothing else is."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from app.core.model import ChunkKey
from app.core.text import text_hash
from app.core.trec import key_token
from app.ui import seen
from tests.conftest import QUESTIONS, TEXTS, lines_of
from tests.reviewing import filled, opened, said, shown

ADJUDICATORS = 'format = 1\n[roles]\nadjudicators = ["eve"]\n'


def pair(name, question="q1"):
    return question, text_hash(TEXTS[name])


def marked(reviewer):
    """The pairs, by question and chunk, that a reviewer is known to have seen."""
    every = [(q, name) for q in QUESTIONS for name in TEXTS]
    return {one for one in every if seen.has("tiny", reviewer, pair(one[1], one[0]))}


@pytest.fixture
def root(tiny):
    """Apple is disputed 0 to 2, plum 0 to 1; of pear Ann and Bob agree, quince is Ann's alone."""
    return filled(
        tiny,
        said("ann", "apple", 2), said("bob", "apple", 0), said("ann", "plum", 0, "q2"),
        said("bob", "plum", 1, "q2"), said("ann", "pear", 1), said("bob", "pear", 1),
        said("ann", "quince", 0),
    )  # fmt: skip


@pytest.fixture
def page(root, monkeypatch):
    return partial(opened, root, monkeypatch)


def key(name):
    return key_token(ChunkKey(name, "as-is-v1", name))


def show_it(at):
    (button,) = [b for b in at.button if b.label == "Show it"]
    return button.click().run()


def test_disputes_marks_the_pair_that_is_open_once_it_is_shown(page):
    at = page("disputes", "cem")
    assert "1 of 2" in shown(at) and marked("cem") == set()
    show_it(at)
    assert marked("cem") == {("q1", "apple")} and marked("ann") == set()
    at.button(key="dispute-Next").click().run()
    assert marked("cem") == {("q1", "apple")}
    show_it(at)
    assert marked("cem") == {("q1", "apple"), ("q2", "plum")}


def test_what_is_hidden_in_disputes_is_not_marked(page, root):
    (root / "data/desk.toml").write_text(ADJUDICATORS)
    assert "2 pairs not shown" in shown(page("disputes", "cem"))
    assert "1 of 2" in shown(page("disputes", "ann"))
    assert (marked("cem"), marked("ann")) == (set(), {("q1", "apple")})


def test_the_list_of_disputes_tells_no_grade(page):
    (table,) = [
        e.proto.body for e in page("disputes", "cem").get("html") if "<tbody>" in e.proto.body
    ]
    assert "plum" in table and "0 to" not in table and "grades" not in table


def test_agreement_marks_the_items_behind_the_cell_once_they_are_shown(page):
    at = page("agreement", "cem", pair="ann,bob", cell="2-0")
    assert "1 item not shown" in shown(at) and marked("cem") == set()
    at.toggle(key="show-unjudged").set_value(True).run()
    assert "An apple tree" in shown(at) and marked("cem") == {("q1", "apple")}
    page("agreement", "ann", pair="ann,bob", cell="1-1")
    assert marked("ann") == {("q1", "pear")}


def test_decisions_mark_what_was_said_and_examples_what_was_decided(page, root):
    path = root / "labels/tiny/judgments/eve.jsonl"
    decided = said("eve", "apple", 1, note="Half.", blind=False, adjudication=True)
    path.write_text(lines_of([decided]))
    at = page("disputes", "cem", show="decided")
    assert marked("cem") == set() and "Decided by eve" not in shown(at)
    at.toggle(key="show-unjudged-decisions").set_value(True).run()
    assert marked("cem") == {("q1", "apple")} and "Decided by eve" in shown(at)
    (root / "data/desk.toml").write_text(ADJUDICATORS)
    assert "1 decision not shown" in shown(page("disputes", "dan", show="decided"))
    assert marked("dan") == set()
    at = page("disputes", "eve", show="decided")
    assert marked("eve") == {("q1", "apple")}
    (button,) = [b for b in at.button if b.label == "Propose as an example"]
    button.click().run()
    assert "1 decision not shown" in shown(page("disputes", "dan", show="decided"))
    assert marked("dan") == {("q1", "apple")}


def test_a_decision_on_what_one_has_to_judge_again_is_hidden(page, root):
    write = root / "labels/tiny/judgments/eve.jsonl"
    write.write_text(lines_of([said("eve", "apple", 1, blind=False, adjudication=True)]))
    (root / "data/desk.toml").write_text(ADJUDICATORS)
    assert "Decided by eve" in shown(page("disputes", "ann", show="decided"))
    asked = root / "labels/tiny/questions.jsonl"
    asked.write_text(asked.read_text().replace("When is an apple", "When exactly is an apple"))
    text = shown(page("disputes", "ann", show="decided"))
    assert "Decided by eve" not in text and "or only before a change" in text


def test_history_marks_an_item_others_spoke_of_and_only_where_they_are_shown(page):
    page("history", "ann")
    page("history", "ann", question="q1", chunk=key("quince"))  # hers alone
    page("history", "cem", question="q1", chunk=key("apple"))  # hidden
    assert (marked("ann"), marked("cem")) == (set(), set())
    page("history", "bob", question="q1", chunk=key("pear"))
    assert marked("bob") == {("q1", "pear")}


def test_old_words_of_a_chunk_tell_of_the_text_it_has_now(page, root):
    (root / "data/desk.toml").write_text(ADJUDICATORS)
    corpus = root / "data/tiny/corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("in winter", "in spring"))
    now = text_hash(TEXTS["apple"].replace("in winter", "in spring"))
    page("history", "eve", question="q1", chunk=key("apple"))
    assert seen.has("tiny", "eve", ("q1", now)) and marked("eve") == {("q1", "apple")}


def test_grading_questions_and_figures_mark_nothing(page):
    for view in ("grade", "questions", "exchange"):
        page(view, "cem")
    page("agreement", "cem", pair="ann,bob", cell="2-2")
    assert marked("cem") == set()


def test_many_threads_mark_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        for n in range(64):
            threads.submit(seen.mark, "tiny", f"r{n % 4}", [("q", f"{n}-{k}") for k in range(50)])
    assert all(seen.has("tiny", f"r{n % 4}", ("q", f"{n}-49")) for n in range(64))
    assert not seen.has("other", "r0", ("q", "0-0")) and not seen.has("tiny", "r1", ("q", "0-0"))
    monkeypatch.chdir("/")
    assert not seen.has("tiny", "r0", ("q", "0-0"))

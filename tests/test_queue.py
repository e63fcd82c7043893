"""Which chunk a reviewer judges next, and what of theirs still stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.queue import open_items, own_judgments, shuffled
from app.core.text import text_hash
from tests.test_labels import QUESTIONS, TEXTS, ask, corpus_of, key


def said(name, grade, author="ann", question="q1", *, by_hand=False, **more):
    """A judgment as the page writes it, or a line by hand without hashes."""
    what = {"kind": "grade", "grade": grade} if isinstance(grade, int) else {"kind": grade}
    pins = {"question_hash": ask(question).hash, "text_hash": text_hash(TEXTS.get(name, name))}
    base = {"format": 1, "event": f"{author}-{question}-{name}-{grade}", "time": "t"}
    values = {**base, **what, **({} if by_hand else pins), **more}
    return Judgment(**values, author=author, question=question, chunk=["doc", "v1", name])


def own(*judgments, reviewer="ann", questions=QUESTIONS, corpus=None, guidelines=None):
    placed = [Placed(one, f"f:{number}") for number, one in enumerate(judgments, start=1)]
    return own_judgments(placed, reviewer, questions, corpus or corpus_of(), guidelines)


def still_open(*judgments, reviewer="ann", question="q1", corpus=None, **more):
    corpus = corpus or corpus_of()
    found = own(*judgments, reviewer=reviewer, corpus=corpus, **more)
    return {one.chunk for one in open_items(reviewer, question, corpus, found)}


# --- the order --------------------------------------------------------------

KEYS = [key(f"c{number}") for number in range(8)]


@given(st.permutations(KEYS))
def test_the_order_does_not_depend_on_the_order_before(keys):
    assert shuffled("ann", "q1", keys) == shuffled("ann", "q1", KEYS)


def test_the_order_is_another_for_every_reviewer_and_question():
    orders = [shuffled(who, name, KEYS) for who in ("ann", "bob") for name in ("q1", "q2")]
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == KEYS and order != KEYS for order in orders)


def test_the_order_is_the_same_on_every_machine():
    order = [one.chunk for one in shuffled("ann", "q1", KEYS)]
    assert order == ["c6", "c0", "c5", "c1", "c4", "c3", "c2", "c7"]


@given(st.sets(st.sampled_from(KEYS)))
def test_what_is_left_keeps_its_order(keys):
    whole = shuffled("ann", "q1", KEYS)
    assert shuffled("ann", "q1", keys) == [one for one in whole if one in keys]


@given(st.permutations(["c", "b", "a"]), st.sets(st.sampled_from("abc")))
def test_the_order_of_open_items_depends_on_reviewer_and_question_alone(names, graded):
    corpus = corpus_of({name: TEXTS[name] for name in names})
    others = own(*(said(name, 2, "bob") for name in sorted(graded)), corpus=corpus)
    found = open_items("ann", "q1", corpus, others)
    assert found == shuffled("ann", "q1", [key("a"), key("b"), key("c")])
    mine = own(*(said(name, 0) for name in sorted(graded)), corpus=corpus)
    left = open_items("ann", "q1", corpus, mine)
    assert left == [one for one in found if one.chunk not in graded]


# --- what is left -----------------------------------------------------------


def test_twins_come_once_and_ineligible_chunks_never():
    assert still_open() == {"a", "b", "c"}
    assert still_open(corpus=corpus_of(ineligible=["a", "c"])) == {"b", "a2"}


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("name", ["a", "a2"])
def test_one_of_two_twins_is_judged_for_both(name, by_hand):
    assert still_open(said(name, 1, by_hand=by_hand)) == {"b", "c"}


def test_judgments_of_others_and_of_other_questions_leave_an_item_open():
    assert still_open(said("b", 2, "bob"), said("c", 2, question="q2")) == {"a", "b", "c"}


def test_unable_to_judge_is_judged_and_later_is_not():
    unable = said("b", "cannot-judge", reason="broken text")
    assert still_open(unable, said("c", "later")) == {"a", "c"}
    assert still_open(said("c", 2), said("c", "later")) == {"a", "b", "c"}


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_was_taken_back_is_open_again(by_hand):
    assert still_open(said("b", 2), said("b", "withdraw", by_hand=by_hand)) == {"a", "b", "c"}


def test_a_changed_text_comes_again():
    changed = corpus_of({**TEXTS, "b": "text b, new"})
    assert still_open(said("b", 2), said("c", 0), corpus=changed) == {"a", "b"}


def test_a_text_that_moved_to_another_key_does_not_come_again():
    moved = corpus_of({"new": "text b", "c": "text c"})
    assert still_open(said("b", 2), corpus=moved) == {"c"}


@pytest.mark.parametrize("change", [{"text": "Other?"}, {"need": "More."}], ids=str)
def test_a_changed_question_comes_again(change):
    asked = {**QUESTIONS, "q1": ask("q1", **change)}
    judged = [said("b", 2), said("c", 1, by_hand=True), said("b", 1, question="q2")]
    assert still_open(*judged, questions=asked) == {"a", "b"}
    assert still_open(*judged, questions=asked, question="q2") == {"a", "c"}


def test_changed_guidelines_bring_an_item_back_where_they_matter():
    judged = [said("a", 2, guidelines="g1"), said("b", 2, guidelines="g2"), said("c", 1)]
    assert still_open(*judged) == set()
    assert still_open(*judged, guidelines="g2") == {"a"}
    assert still_open(*judged, said("a2", 1, guidelines="g2"), guidelines="g2") == set()


# --- what of theirs stands --------------------------------------------------


def test_own_judgments_are_told_by_question_and_text():
    first, last = said("b", 0), said("b", 2)
    found = own(first, last, said("b", 1, "bob"), said("c", 1, question="q2", by_hand=True))
    assert found["q1", text_hash("text b")] is last
    assert {pair: one.grade for pair, one in found.items()} == {
        ("q1", text_hash("text b")): 2,
        ("q2", text_hash("text c")): 1,
    }
    assert own(first, last, reviewer="cyd") == {}


def test_a_line_by_hand_and_a_grade_of_the_page_are_one_the_last():
    hand = said("a2", 0, by_hand=True)
    assert [one.grade for one in own(said("a", 2), hand).values()] == [0]
    assert [one.grade for one in own(hand, said("a", 2)).values()] == [2]


def test_judgments_that_name_nothing_that_is_there_are_passed_over():
    gone = said("zz", 1, by_hand=True)
    assert own(gone, said("b", 1, question="q9", question_hash=None)) == {}

"""Who has judged what, event by event; held against the rule that reads all events at once."""

from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.coverage import Coverage
from app.core.grades import is_fresh, live
from app.core.heads import Heads
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.text import text_hash
from tests.test_labels import QUESTIONS, TEXTS, ask, corpus_of


def said(number, author, name, what, question="q1", **more):
    """A judgment as the page writes it: `what` is a grade or a kind."""
    values = {"kind": "grade", "grade": what} if isinstance(what, int) else {"kind": what}
    if what == "cannot-judge":
        values["reason"] = "broken text"
    pins = {"question_hash": ask(question).hash, "text_hash": text_hash(TEXTS.get(name, name))}
    values |= {"format": 1, "event": f"e{number}", "time": "t", "author": author, **pins, **more}
    return Judgment(**values, question=question, chunk=["doc", "v1", name])


def covered(*events, corpus=None, questions=QUESTIONS, guidelines=None):
    made = Coverage(questions, corpus or corpus_of(), guidelines)
    made.take(((f"{event.author}.jsonl", n), event) for n, event in enumerate(events))
    return made


def of(made, name, question="q1"):
    return made.of((question, text_hash(TEXTS.get(name, name))))


def test_grades_of_twins_are_of_one_pair():
    made = covered(said(1, "ann", "a", 2), said(2, "bob", "a2", 0))
    assert of(made, "a").graders == {"ann", "bob"} == of(made, "a2").graders
    assert made.is_graded("q1") and not made.is_graded("q2")


def test_what_was_taken_back_put_off_or_not_blind_spares_nobody_a_judgment():
    made = covered(
        said(1, "ann", "b", 2),
        said(2, "ann", "b", "withdraw", replaces="e1"),
        said(3, "bob", "b", "later"),
        said(4, "cid", "b", 1, blind=False),
    )
    assert of(made, "b").empty and not made.is_graded("q1")


def test_an_adjudication_is_no_judgment_of_a_reviewer():
    made = covered(said(1, "ann", "b", 2, adjudication=True, blind=False))
    assert (of(made, "b").graders, of(made, "b").decided) == (set(), {"ann"})


def test_a_changed_text_or_question_leaves_a_stale_judgment():
    changed = corpus_of({**TEXTS, "b": "text b, new"})
    made = covered(said(1, "ann", "b", 2), corpus=changed)
    assert len(made.of(("q1", text_hash("text b, new"))).stale) == 1
    asked = {**QUESTIONS, "q1": ask("q1", text="Other?")}
    made = covered(said(1, "ann", "b", 2), said(2, "ann", "b", 1, question_hash=None),
                   questions=asked)  # fmt: skip
    assert of(made, "b").graders == {"ann"}


def test_a_fresh_judgment_stands_beside_the_stale_one_of_the_old_text():
    changed = corpus_of({**TEXTS, "b": "text b, new"})
    new = said(2, "ann", "b", 1, text_hash=text_hash("text b, new"))
    made = covered(said(1, "ann", "b", 2), new, corpus=changed)
    found = made.of(("q1", text_hash("text b, new")))
    assert found.graders == {"ann"} and len(found.stale) == 1
    made = covered(said(1, "ann", "b", 2), new.model_copy(update={"replaces": "e1"}),
                   corpus=changed)  # fmt: skip
    assert not made.of(("q1", text_hash("text b, new"))).stale


def test_nothing_that_was_said_is_kept():
    events = [
        said(1, "ann", "b", 2, note="SECRET note", evidence=[{"quote": "SECRET quote"}]),
        said(2, "bob", "c", "cannot-judge", note="SECRET too"),
    ]
    made = covered(*events)
    seen, words = set(), []

    def walk(thing):
        if id(thing) in seen:
            return
        seen.add(id(thing))
        assert not isinstance(thing, Judgment)
        if isinstance(thing, str):
            words.append(thing)
        elif isinstance(thing, dict):
            for key, value in thing.items():
                walk(key)
                walk(value)
        elif isinstance(thing, list | tuple | set | frozenset):
            for one in thing:
                walk(one)
        elif is_dataclass(thing):
            for field in fields(thing):
                walk(getattr(thing, field.name))
        elif isinstance(thing, Coverage | Heads):
            for name, value in vars(thing).items():
                if name not in ("_questions", "_corpus"):
                    walk(value)

    walk(made)
    assert {"ann", "bob"} <= set(words)  # the walk sees what is there
    assert not [word for word in words if "SECRET" in word]


NAMES = st.sampled_from(["a", "a2", "b", "c"])
STEP = st.tuples(
    st.sampled_from(["ann", "bob"]),
    NAMES,
    st.sampled_from([0, 1, 2, "cannot-judge", "later", "withdraw"]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 6),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(STEP, max_size=12))
def test_it_is_what_the_rule_over_all_events_gives(steps):
    events = []
    for number, (author, name, what, blind, decides, back) in enumerate(steps):
        adjudication = decides and isinstance(what, int)
        replaces = events[-back].event if 0 < back <= len(events) else None
        events.append(said(number, author, name, what, blind=blind or adjudication,
                           adjudication=adjudication, replaces=replaces))  # fmt: skip
    made, corpus = covered(*sorted(events, key=lambda e: e.author)), corpus_of()
    expected = {}
    for placed in live([Placed(e, "") for e in sorted(events, key=lambda e: e.author)], corpus):
        event = placed.event
        if event.kind == "later" or not is_fresh(event, QUESTIONS[event.question], None):
            continue
        if not event.blind and not event.adjudication:
            continue
        does = "decided" if event.adjudication else "unable" if event.reason else "graders"
        pair = (event.question, corpus.chunks[event.key].text_hash)
        expected.setdefault((pair, does), set()).add(event.author)
    found = {
        ((question, text), does): getattr(standing, does)
        for question, texts in made.by_question.items()
        for text, standing in texts.items()
        for does in ("graders", "unable", "decided")
        if getattr(standing, does)
    }
    assert found == expected
    assert made.is_graded("q1") == any(does in ("graders", "decided") for _, does in expected)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_replacement_counts_whichever_is_read_first(order):
    events = [said(1, "ann", "b", 2), said(2, "ann", "c", 1, replaces="e1")]
    made = covered(*(events[n] for n in order))
    assert of(made, "b").empty and of(made, "c").graders == {"ann"}

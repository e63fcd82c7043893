"""Events of questions: what a line may say, and which questions come of file and events."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.events import KINDS, Retirement, parse_event, retirements
from app.core.ledger import Placed
from app.core.question_events import overlay
from app.core.questions import Filed, Question

PLACE = "labels/tiny/questions.jsonl"
Q1 = {"format": 1, "id": "q1", "category": "general", "text": "When is an apple tree pruned?"}
Q2 = {"format": 1, "id": "q2", "category": "general", "text": "What becomes of dried plums?"}
FILED = {one["id"]: Filed(Question(**one), n) for n, one in enumerate((Q1, Q2), start=1)}
BASE = FILED["q1"].question.record_digest


def line(event, kind="question", author="ann", question="q1", text=None, base=BASE, **more):
    """One event; a change unless it is said, of q1 over the file's record."""
    said = {
        "format": 1, "event": event, "time": "2026-01-01T10:00:00.000Z", "author": author,
        "kind": kind, "question": question, "base": base, "replaces": None,
    }  # fmt: skip
    if kind == "question":
        said["value"] = {**Q1, "id": question, "text": text or f"What of {event}?"}
    else:
        said["note"] = "twice there"
    return {**said, **more}


def parsed(*lines):
    problems = []
    found = [
        Placed(parse_event(json.loads(json.dumps(one)), f"{one['author']}:{n}", problems), "")
        for n, one in enumerate(lines, start=1)
    ]
    assert problems == []
    return [Placed(p.event, f"events/{p.event.author}.jsonl:{n}") for n, p in enumerate(found, 1)]


def laid(*lines, filed=FILED):
    return overlay(filed, parsed(*lines), PLACE)


def refused(value):
    problems = []
    assert parse_event(value, "ann.jsonl:1", problems) is None
    return [str(problem) for problem in problems]


WHOLE = {"format": 1, "event": "e1", "time": "t", "author": "ann"}
LINES = [
    WHOLE | {"kind": "retire-label", "question": "q1", "chunk": ["d", "v", "c"], "note": "gone"},
    line("e2", note="clearer", searched=["plums"], settles=["e0"])
    | {"value": Q1 | {"unsupported_as_of": "r"}},
    line("e3", "retire-question", replaces="e2"),
    WHOLE | {"kind": "example", "event": "e4", "question": "q1", "chunk": ["d", "v", "c"],
             "grade": 2, "text": "Some text.", "of": "e9", "note": "the clearest"},
    WHOLE | {"kind": "practice", "event": "e5", "given": {"p1": 2, "p2": 0}, "skipped": True},
    WHOLE | {"kind": "restore-label", "event": "e6", "question": "q1", "chunk": ["d", "v", "c"],
             "restores": ["e0"]},
]  # fmt: skip


def test_every_kind_of_event_is_read_as_it_was_written():
    assert {one["kind"] for one in LINES} == KINDS.keys()
    for placed, one in zip(parsed(*LINES), LINES, strict=True):
        assert type(placed.event) is KINDS[one["kind"]]
        assert placed.event.model_dump(exclude_unset=True) == one
    assert [type(p.event) for p in retirements(parsed(*LINES))] == [Retirement]
    back = LINES[-1] | {"event": "e7", "restores": ["e1"]}
    assert retirements(parsed(*LINES, back)) == ()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "the key kind is missing. Add kind."),
        ({"kind": "questions"}, 'kind is "questions", which is no event. Did you mean question?'),
        ({"kind": 7}, 'kind is "7", which is no event. Write one of retire-label, '
         "restore-label, question, retire-question, example, practice."),
        (line("e1", kind="retire-question", note=" "), "note is blank. Correct the line."),
        (LINES[-1] | {"restores": []}, "restores names no event. Correct the line."),
        (line("e1", kind="retire-question", values=1), 'unknown key "values". Remove it.'),
        (line("e1") | {"value": Q2}, 'value is the question "q2", not q1. Correct the line.'),
        (line("e1", searched=["plums"]), "searched has no meaning without unsupported_as_of in "
         "value. Correct the line."),
        (line("e1") | {"value": Q1 | {"split": "test"}}, "value.split is \"test\", not "
         "'development' or 'held-out'. Correct the line."),
        (LINES[3] | {"grade": 7}, "grade 7 is outside 0..2. Correct the line."),
        (LINES[3] | {"chunk": ["d"]}, "chunk is not a list of document, version and chunk. "
         "Correct the line."),
        (LINES[4] | {"author": "Ann"}, 'author "Ann" must be written "ann". Correct the line.'),
    ],
)  # fmt: skip
def test_what_a_line_may_not_say(value, sentence):
    assert sentence in [one.removeprefix("ann.jsonl:1: ") for one in refused(value)]


def test_without_events_the_file_counts():
    asked = laid()
    assert asked.questions == {"q1": Question(**Q1), "q2": Question(**Q2)}
    assert (asked.retired, asked.notices) == ({}, ())
    standing = asked.standing("q2")
    assert (standing.question.id, standing.replaces, standing.retired) == ("q2", None, False)
    assert asked.standing("q3").question is asked.standing("q3").base is None


def test_the_last_change_of_a_chain_counts_whatever_its_id():
    asked = laid(line("b"), line("a", replaces="b"))
    assert asked.questions["q1"].text == "What of a?" and asked.notices == ()
    assert asked.standing("q1").chain == ("b", "a")
    assert list(asked.questions) == ["q1", "q2"]


def test_added_questions_come_behind_the_file_in_the_order_they_were_added():
    asked = laid(
        line("e2", question="x", base=None),
        line("e1", question="z", base=None),
        line("e3", question="z", base=None, replaces="e1"),
    )
    assert list(asked.questions) == ["q1", "q2", "z", "x"]


def test_a_retired_question_is_set_aside_and_comes_back():
    gone = [line("e1"), line("e2", "retire-question", replaces="e1")]
    asked = laid(*gone)
    assert list(asked.questions) == ["q2"] and asked.retired["q1"].text == "What of e1?"
    back = laid(*gone, line("e3", text="Back?", replaces="e2"))
    assert back.questions["q1"].text == "Back?" and back.retired == {}
    # One that the file does not have and nobody added cannot be retired.
    assert laid(line("e1", "retire-question", question="x", base=None)).retired == {}


def test_where_the_file_was_changed_afterwards_the_file_counts_and_it_is_told():
    other = {**FILED, "q1": Filed(Question(**Q1 | {"text": "Now?"}), 1)}
    asked = laid(line("e1", author="bob"), line("e2", replaces="e1"), filed=other)
    assert asked.questions["q1"].text == "Now?"
    assert asked.notices == (
        f'{PLACE}:1: the question "q1" was changed there after ann saved it (2026-01-01), so the '
        "file counts.",
    )
    # Where the file was given what the change says, there is nothing to tell.
    assert laid(line("e1", text="Now?"), filed=other).notices == ()
    # What is changed then counts again.
    later = line("e3", base=other["q1"].question.record_digest)
    again = laid(line("e1"), later, filed=other)
    assert again.questions["q1"].text == "What of e3?" and again.notices == ()


def test_a_question_that_left_the_file_after_a_change_is_gone_and_it_is_told():
    asked = laid(line("e1"), filed={"q2": FILED["q2"]})
    assert list(asked.questions) == ["q2"]
    assert asked.notices[0].startswith(f'{PLACE}: the question "q1" was removed there after ann')


def test_of_two_changes_at_once_the_later_counts_and_both_authors_are_told():
    both = [line("e1"), line("e2", replaces="e1"), line("e3", author="bob", replaces="e1")]
    asked = laid(*both)
    assert asked.questions["q1"].text == "What of e3?"
    assert asked.notices == (
        'events/ann.jsonl:2: ann and bob changed the question "q1" at once. What bob saved later '
        "counts; look at both under Questions and save it once more to settle it.",
    )
    standing = asked.standing("q1")
    assert (standing.replaces, standing.settles) == ("e3", ("e2",))
    # A change that does not know of the other does not settle it; one that does, does.
    assert len(laid(*both, line("e4", replaces="e3")).notices) == 1
    assert laid(*both, line("e4", replaces="e3", settles=["e2"])).notices == ()


def test_of_two_chains_at_once_the_one_that_was_changed_last_counts_and_all_of_the_other_is_told():
    both = [
        line("e1"), line("e2", replaces="e1"), line("e3", author="bob", replaces="e1"),
        line("e4", replaces="e2"), line("e5", replaces="e4"),
    ]  # fmt: skip
    asked = laid(*both)
    assert asked.questions["q1"].text == "What of e5?"
    assert asked.standing("q1").chain == ("e1", "e2", "e4", "e5")
    assert asked.standing("q1").settles == ("e3",)
    assert "bob and ann changed" in asked.notices[0] and "What ann saved later" in asked.notices[0]
    # Bob, who has seen none of it, goes on: now all that ann changed is out, and is told.
    on = [*both, line("e6", author="bob", replaces="e3")]
    asked = laid(*on)
    assert asked.standing("q1").chain == ("e1", "e3", "e6")
    assert asked.standing("q1").settles == ("e2", "e4", "e5")
    assert asked.notices == (
        'events/ann.jsonl:2: ann and bob changed the question "q1" at once. What bob saved later '
        "counts, and what followed the other one (events/ann.jsonl:4, events/ann.jsonl:5) does "
        "not; look at both under Questions and save it once more to settle it.",
    )
    assert "ann.jsonl:4: ann" in laid(*on, line("e7", replaces="e6", settles=["e2"])).notices[0]
    assert laid(*on, line("e7", replaces="e6", settles=["e2", "e4", "e5"])).notices == ()


def test_two_who_are_the_first_at_once():
    asked = laid(line("e1", author="bob"), line("e2", "retire-question"))
    assert list(asked.retired) == ["q1"] and "bob and ann" in asked.notices[0]


def test_changes_that_replace_each_other_in_a_circle_are_passed_over():
    asked = laid(line("e1", replaces="e2"), line("e2", replaces="e1"))
    assert asked.questions["q1"].text == Q1["text"] and "in a circle" in asked.notices[0]


ids = st.sampled_from("abcdef")
said = st.lists(
    st.builds(
        lambda event, kind, author, base, replaces: line(
            event, kind, author, base=base, replaces=replaces
        ),
        ids,
        st.sampled_from(["question", "question", "retire-question"]),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from([BASE, BASE, BASE, "other", None]),
        st.none() | ids,
    ),
    unique_by=lambda one: one["event"],
    max_size=6,
)


@given(said=said, data=st.data())
def test_merged_files_give_the_same_questions_in_any_order(said, data):
    one = laid(*said)
    other = laid(*data.draw(st.permutations(said)))
    assert (one.questions, one.retired) == (other.questions, other.retired)
    assert one.standing("q1") == other.standing("q1")
    assert {*one.questions, *one.retired} >= {"q1", "q2"}
    # What is reached from the beginning counts, or is told and can be settled: the last id counts.
    ids = {placed["event"]: placed for placed in said if placed["base"] == BASE}
    reached = set()
    for _ in ids:
        reached |= {
            n for n, e in ids.items() if e["replaces"] not in ids or e["replaces"] in reached
        }
    standing = one.standing("q1")
    assert {*standing.chain, *standing.settles} == reached
    assert not reached or max(reached) in standing.chain
    # Whatever was said, the next change of what stands there counts.
    standing = one.standing("q1")
    follows = {"replaces": standing.replaces, "settles": [*standing.settles]}
    after = laid(*said, line("z", base=standing.base, **follows))
    assert after.questions["q1"].text == "What of z?"
    assert not [notice for notice in after.notices if "at once" in notice]

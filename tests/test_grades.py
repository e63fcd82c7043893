"""One label from several judgments, and which judgments are in force."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.corpus import Corpus
from app.core.grades import PairLabel, effective, is_fresh, live, text_judged
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question


def judgment(said, author="ann", event=None, key=("d", "v", "c"), **more):
    """A grade, or the kind of an event without one."""
    kind = {"kind": "grade", "grade": said} if isinstance(said, int) else {"kind": said}
    if said == "cannot-judge":
        kind["reason"] = "broken text"
    event = event or f"{author}-{said}"
    base = {"format": 1, "event": event, "time": "t", "author": author, "question": "q1"}
    return Judgment(**base, **kind, chunk=list(key), **more)


def label(*judgments, threshold=1, highest=2):
    made = [one if isinstance(one, Judgment) else judgment(one) for one in judgments]
    found = effective(made, threshold, highest)
    return found.state, found.grade, found.low, found.high


def adjudicated(grade, **more):
    return judgment(grade, adjudication=True, **more)


def seeing(grade):
    return judgment(grade, blind=False)


@pytest.mark.parametrize(
    ("judgments", "threshold", "expected"),
    [
        ([], 1, ("unjudged", None, 0, 2)),
        ([0], 1, ("judged", 0, 0, 0)),
        ([2, 2, 2], 1, ("judged", 2, 2, 2)),
        # Grades that differ on one side of the threshold, and across it.
        ([1, 2], 1, ("unsettled", 1, 1, 2)),
        ([2, 1, 2], 1, ("unsettled", 1, 1, 2)),
        ([0, 1], 1, ("disputed", None, 0, 1)),
        ([0, 2], 1, ("disputed", None, 0, 2)),
        ([0, 1, 2], 1, ("disputed", None, 0, 2)),
        ([1, 2], 2, ("disputed", None, 1, 2)),
        ([0, 1], 2, ("unsettled", 0, 0, 1)),
        ([0, 2], 2, ("disputed", None, 0, 2)),
        # An adjudication wins; two that differ are judged like any two grades.
        ([0, 2, adjudicated(1)], 1, ("judged", 1, 1, 1)),
        ([2, 2, adjudicated(0)], 1, ("judged", 0, 0, 0)),
        ([adjudicated(0), adjudicated(2)], 1, ("disputed", None, 0, 2)),
        ([1, adjudicated(2), adjudicated(2)], 1, ("judged", 2, 2, 2)),
        ([2, adjudicated(0, blind=False)], 1, ("judged", 0, 0, 0)),
        # A grade given while not blind counts only until a blind one exists.
        ([seeing(2)], 1, ("judged", 2, 2, 2)),
        ([seeing(2), 0], 1, ("judged", 0, 0, 0)),
        ([seeing(2), seeing(0)], 1, ("disputed", None, 0, 2)),
        ([seeing(0), 1, 2], 1, ("unsettled", 1, 1, 2)),
        # Cannot judge beside a grade, and by everyone.
        (["cannot-judge", 2], 1, ("judged", 2, 2, 2)),
        (["cannot-judge", seeing(1)], 1, ("judged", 1, 1, 1)),
        (["cannot-judge", "cannot-judge"], 1, ("cannot-judge", None, 0, 2)),
        (["later"], 1, ("unjudged", None, 0, 2)),
        (["later", 2], 1, ("judged", 2, 2, 2)),
        (["later", "cannot-judge"], 1, ("cannot-judge", None, 0, 2)),
    ],
    ids=str,
)
def test_effective_grades(judgments, threshold, expected):
    for order in itertools.permutations(judgments):
        assert label(*order, threshold=threshold) == expected


def test_a_wider_scale():
    threes = [PairLabel("judged", 2, 2, 2), PairLabel("disputed", None, 1, 3)]
    scale = [effective([_three(grade) for grade in grades], 1, 3) for grades in ([2], [1, 3])]
    assert scale == threes
    assert effective([], 1, 3).high == 3


def _three(grade):
    return judgment(0).model_copy(update={"grade": grade})


@pytest.mark.parametrize(
    ("state", "settled"),
    [
        ("judged", True),
        ("implicit", True),
        ("retired", True),
        ("unsettled", False),
        ("disputed", False),
        ("stale", False),
        ("cannot-judge", False),
        ("unjudged", False),
    ],
)
def test_settled_states(state, settled):
    assert PairLabel(state, 0, 0, 0).settled is settled


SAID = st.sampled_from([0, 1, 2, "cannot-judge", "later"])
JUDGMENTS = st.lists(
    st.builds(
        judgment,
        SAID,
        blind=st.booleans(),
        adjudication=st.booleans(),
    ),
    max_size=6,
)


@given(JUDGMENTS, st.integers(1, 2), st.randoms())
def test_laws_of_effective_grades(judgments, threshold, random):
    found = effective(judgments, threshold, 2)
    shuffled = random.sample(judgments, len(judgments))
    assert effective(shuffled, threshold, 2) == found
    assert effective([*judgments, *judgments], threshold, 2) == found
    given_grades = {j.grade for j in judgments if j.kind == "grade"}
    if found.grade is None:
        assert found.state in ("unjudged", "cannot-judge", "disputed")
    else:
        assert found.grade == found.low and found.grade in given_grades
        assert (found.low >= threshold) == (found.high >= threshold)
        assert found.high - found.low < 2
    assert (found.state == "judged") == (found.low == found.high)


# --- which judgments are in force -------------------------------------------


def corpus_of(**hashes):
    """Chunks d c, d twin, ... by the last part of their keys, with the hashes of their texts."""
    keys = {ChunkKey("d", "v", name): text_hash for name, text_hash in hashes.items()}
    return Corpus({key: Chunk(key, text, text) for key, text in keys.items()}, documents=1)


NOTHING = corpus_of()
HERE = corpus_of(c="t", twin="t", other="u")


def in_force(*judgments, corpus=NOTHING):
    placed = [Placed(one, f"f:{number}") for number, one in enumerate(judgments, start=1)]
    return [one.event.event for one in live(placed, corpus)]


def test_the_last_of_one_reviewer_counts():
    assert in_force(judgment(0), judgment(2)) == ["ann-2"]
    assert in_force(judgment(0), judgment(2, "bob"), judgment(1)) == ["ann-1", "bob-2"]


def test_clocks_are_not_asked():
    first = judgment(0).model_copy(update={"time": "2030"})
    assert in_force(first, judgment(2).model_copy(update={"time": "2020"})) == ["ann-2"]


def test_a_replaced_judgment_is_out_wherever_it_stands():
    old, new = judgment(0, event="old"), judgment(2, event="new", replaces="old")
    newest = judgment(1, event="newest", replaces="new")
    for order in itertools.permutations([old, new, newest]):
        assert in_force(*order) == ["newest"]


def test_an_event_that_replaces_one_from_another_text_takes_it_out():
    old = judgment(0, event="old", text_hash="t1")
    assert in_force(old, judgment(2, event="new", text_hash="t2")) == ["old", "new"]
    assert in_force(old, judgment(2, event="new", text_hash="t2", replaces="old")) == ["new"]


def test_a_withdrawn_judgment_is_out_until_another_is_made():
    assert in_force(judgment(2), judgment("withdraw")) == []
    assert in_force(judgment(2), judgment("withdraw", replaces="ann-2")) == []
    assert in_force(judgment("withdraw", replaces="ann-2"), judgment(2)) == []
    assert in_force(judgment(2), judgment("withdraw"), judgment(1)) == ["ann-1"]
    assert in_force(judgment(2), judgment("withdraw", "bob")) == ["ann-2"]


def test_later_puts_a_judgment_off():
    assert in_force(judgment("later"), judgment(2)) == ["ann-2"]
    assert in_force(judgment(2), judgment("later")) == ["ann-later"]


def test_judgments_of_other_questions_chunks_and_roles_stand_beside():
    here = judgment(0, event="here")
    chunk = judgment(1, event="chunk", key=("d", "v", "other"))
    asked = judgment(1, event="asked").model_copy(update={"question": "q2"})
    decided = adjudicated(2, event="decided")
    assert in_force(here, chunk, asked, decided) == ["here", "chunk", "asked", "decided"]


def test_a_reviewer_has_one_judgment_of_a_text_that_stands_twice():
    twin = judgment(1, event="twin", key=("d", "v", "twin"), text_hash="t")
    assert in_force(judgment(0, text_hash="t"), twin) == ["twin"]


def test_a_judgment_speaks_of_its_text_or_by_hand_of_the_text_its_id_has_now():
    assert text_judged(judgment(2, text_hash="old"), HERE) == "old"
    assert text_judged(judgment(2), HERE) == text_judged(judgment(2, key="dvc"), HERE) == "t"
    assert text_judged(judgment(2, key=("d", "v", "gone")), HERE) == ChunkKey("d", "v", "gone")
    ineligible = replace(HERE.chunks[ChunkKey("d", "v", "c")], eligible=False)
    assert text_judged(judgment(2), Corpus({ineligible.key: ineligible}, documents=1)) == "t"


@pytest.mark.parametrize("name", ["c", "twin"])
def test_a_line_by_hand_and_a_grade_of_the_page_are_one_judgment_the_last(name):
    page, hand = judgment(2, text_hash="t"), judgment(1, key=("d", "v", name))
    assert in_force(page, hand, corpus=HERE) == ["ann-1"]
    assert in_force(hand, page, corpus=HERE) == ["ann-2"]
    assert in_force(page, judgment(1, "bob"), corpus=HERE) == ["ann-2", "bob-1"]


def test_a_line_by_hand_withdraws_what_the_page_saved():
    page = judgment(2, text_hash="t")
    assert in_force(page, judgment("withdraw"), corpus=HERE) == []
    assert in_force(page, judgment("withdraw", key=("d", "v", "twin")), corpus=HERE) == []
    assert in_force(page, judgment("withdraw", key=("d", "v", "other")), corpus=HERE) == ["ann-2"]
    assert in_force(page, judgment("withdraw"), corpus=corpus_of(c="new")) == ["ann-2"]


def test_lines_by_hand_about_twins_are_one_judgment():
    twin = judgment(1, event="twin", key=("d", "v", "twin"))
    assert in_force(judgment(0), twin, corpus=HERE) == ["twin"]
    assert in_force(judgment(0), twin) == ["ann-0", "twin"]


QUESTION = Question(id="q1", text="?", category="x")


@pytest.mark.parametrize(
    ("pins", "guidelines", "fresh"),
    [
        ({}, None, True),
        ({}, "g2", True),
        ({"question_hash": QUESTION.hash}, "g2", True),
        ({"question_hash": "as it was"}, None, False),
        ({"guidelines": "g1"}, None, True),
        ({"guidelines": "g1"}, "g2", False),
        ({"guidelines": "g2"}, "g2", True),
        ({"question_hash": "as it was", "guidelines": "g2"}, "g2", False),
    ],
    ids=str,
)
def test_a_judgment_is_fresh_for_this_question_under_these_guidelines(pins, guidelines, fresh):
    assert is_fresh(judgment(2, **pins), QUESTION, guidelines) is fresh

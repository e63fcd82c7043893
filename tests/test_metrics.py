"""The numbers that must come out, and the laws that hold for all of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.bounds import bounds, ties_across, without_unsettled
from app.core.metrics import (
    METRICS,
    NO_HIT,
    OPEN,
    Judged,
    attainable,
    judged_from_grades,
    score,
)


def one(ranking, grades, k, highest=2, threshold=1):
    scores = score(judged_from_grades([ranking], [grades], highest), k, threshold)
    return tuple(float(scores.metric(name)[0]) for name in ("precision", "recall", "rr", "ndcg"))


@pytest.mark.parametrize(
    ("ranking", "grades", "k", "highest", "expected"),
    [
        ([0, 2, 1], [0, 2, 1], 3, 2, (0.6667, 1, 0.5, 0.6590018)),
        ([0, 2, 2], [0, 2, 2], 3, 2, (0.6667, 1, 0.5, 0.6934264)),
        ([2], [2, 2], 3, 2, (0.3333, 0.5, 1, 0.6131472)),
        ([2], [2], 3, 2, (0.3333, 1, 1, 1)),
        ([], [2], 3, 2, (0, 0, 0, 0)),
        ([0, 3, 1, 0, 2], [0, 3, 2, 0, 1], 3, 3, (0.6667, 0.6667, 0.5, 0.5234343)),
        ([0, 3, 1, 0, 2], [0, 3, 2, 0, 1], 5, 3, (0.6, 1, 0.5, 0.6469928)),
        ([1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0], 5, 2, (0.4, 0.6667, 1, 0.7039)),
    ],
)
def test_published_numbers(ranking, grades, k, highest, expected):
    assert one(ranking, grades, k, highest) == pytest.approx(expected, abs=6e-5)
    if round(expected[3], 4) != expected[3]:
        assert one(ranking, grades, k, highest)[3] == pytest.approx(expected[3], abs=6e-8)


def test_threshold_moves_relevance_but_not_ndcg():
    low, high = one([1, 2], [1, 2, 1], 2, threshold=1), one([1, 2], [1, 2, 1], 2, threshold=2)
    assert low[:3] == (1.0, pytest.approx(2 / 3), 1.0)
    assert high[:3] == (0.5, 1.0, 0.5)
    assert low[3] == high[3]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_k_below_one_is_refused(k):
    with pytest.raises(ValueError, match="K must be"):
        score(judged_from_grades([[1]], [[1]]), k, 1)


@pytest.mark.parametrize("grade", [3, -1])
def test_grade_outside_the_scale_is_refused(grade):
    with pytest.raises(ValueError, match="outside 0..2"):
        judged_from_grades([[grade]], [[1]])


def test_question_without_relevant_chunk_has_no_value():
    scores = score(judged_from_grades([[0, 0]], [[0, 0]]), 3, 1)
    assert all(math.isnan(scores.metric(name)[0]) for name in METRICS)
    assert scores.judged[0] == 1


def test_judged_counts_hits_and_is_not_defined_without_any():
    scores = score(judged_from_grades([[2, None, None], []], [[2], [1]]), 3, 1)
    assert scores.judged[0] == pytest.approx(1 / 3)
    assert math.isnan(scores.judged[1])


def test_attainable():
    precision, recall = attainable(np.array([1, 2, 5]), 3)
    assert precision.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert recall.tolist() == pytest.approx([1, 1, 3 / 5])


# --- laws -------------------------------------------------------------------

GRADES = st.lists(st.integers(0, 2), min_size=1, max_size=6).filter(any)


@st.composite
def questions(draw):
    grades = draw(GRADES)
    order = draw(st.permutations(grades))
    return order[: draw(st.integers(0, len(order)))], grades


@given(st.lists(questions(), min_size=1, max_size=6), st.integers(1, 8))
def test_values_lie_in_0_to_1_and_do_not_depend_on_company(cases, k):
    together = score(judged_from_grades([r for r, _ in cases], [g for _, g in cases]), k, 1)
    backwards = score(
        judged_from_grades([r for r, _ in cases[::-1]], [g for _, g in cases[::-1]]), k, 1
    )
    for row, (ranking, grades) in enumerate(cases):
        alone = score(judged_from_grades([ranking], [grades]), k, 1)
        for name in METRICS:
            value = together.metric(name)[row]
            assert 0 <= value <= 1
            assert value == alone.metric(name)[0]
            assert value == backwards.metric(name)[len(cases) - 1 - row]


@given(questions(), st.integers(1, 8))
def test_plain_arithmetic_agrees(case, k):
    ranking, grades = case
    top = ranking[:k]
    relevant = sum(g >= 1 for g in grades)
    dcg = sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(top))
    ideal = sum(
        (2**g - 1) / math.log2(i + 2) for i, g in enumerate(sorted(grades, reverse=True)[:k])
    )
    first = next((1 / (i + 1) for i, g in enumerate(top) if g >= 1), 0)
    found = sum(g >= 1 for g in top)
    assert one(ranking, grades, k) == pytest.approx(
        (found / k, found / relevant, first, dcg / ideal)
    )


def test_settled_rankings_have_bounds_of_no_width():
    judged = judged_from_grades([[0, 2, 1], [2]], [[0, 2, 1], [2, 2]])
    scores, found = score(judged, 3, 1), bounds(judged, 3, 1)
    for name in METRICS:
        assert found[name].lower == pytest.approx(scores.metric(name))
        assert found[name].upper == pytest.approx(scores.metric(name))


RANGES = st.sampled_from([(0, 0), (1, 1), (2, 2), (0, 2), (0, 1), (1, 2)])


def build(ranked, rest, unlisted):
    """One question: (low, high, listed) of each hit, (low, high) of each listed pair beside."""
    depth = max(len(ranked), 1)
    grade = np.full((1, depth), NO_HIT, dtype=np.int8)
    low, high, listed = grade.copy(), grade.copy(), np.zeros((1, depth), dtype=bool)
    pairs, used = np.zeros((1, 3, 3), dtype=np.int64), np.zeros((1, 3), dtype=np.int64)
    for rank, (a, b, is_listed) in enumerate(ranked):
        low[0, rank], high[0, rank], listed[0, rank] = a, b, is_listed
        grade[0, rank] = a if a == b else OPEN
        if is_listed:
            pairs[0, a, b] += 1
            used[0, a] += a == b
    for a, b in rest:
        pairs[0, a, b] += 1
        used[0, a] += a == b
    count = unlisted + sum(1 for a, b, is_listed in ranked if not is_listed and (a, b) == (0, 2))
    return Judged(grade, low, high, low == high, listed, pairs, used, np.array([count]))


@st.composite
def open_questions(draw):
    ranked = [
        (*pair, True) if draw(st.booleans()) or pair != (0, 2) else (0, 2, False)
        for pair in draw(st.lists(RANGES, max_size=4))
    ]
    rest = draw(st.lists(RANGES, max_size=2))
    return ranked, [*rest, (draw(st.integers(1, 2)),) * 2], draw(st.integers(0, 1))


def completions(ranked, rest, unlisted):
    pairs = [(a, b) for a, b, _ in ranked] + rest + [(0, 2)] * unlisted
    for grades in itertools.product(*(range(a, b + 1) for a, b in pairs)):
        yield list(grades[: len(ranked)]), list(grades)


@settings(max_examples=300, deadline=None)
@given(open_questions(), st.integers(1, 4), st.integers(1, 2))
def test_bounds_hold_every_completion_and_are_reached(case, k, threshold):
    found = bounds(build(*case), k, threshold)
    seen = {name: [] for name in METRICS}
    for ranking, grades in completions(*case):
        scores = score(judged_from_grades([ranking], [grades]), k, threshold)
        for name in METRICS:
            if not math.isnan(value := scores.metric(name)[0]):
                seen[name].append(value)
    for name in METRICS:
        if seen[name]:
            lower, upper = found[name].lower[0], found[name].upper[0]
            assert lower <= min(seen[name]) + 1e-12
            assert upper >= max(seen[name]) - 1e-12
            if threshold == 1:  # one sure relevant pair: every completion has a value
                assert lower == pytest.approx(min(seen[name]))
                assert upper == pytest.approx(max(seen[name]))


@settings(max_examples=200, deadline=None)
@given(open_questions(), st.integers(1, 3), st.integers(1, 2), st.data())
def test_bounds_hold_every_order_of_a_tie_across_k(case, k, threshold, data):
    ranked, rest, unlisted = case
    if len(ranked) <= k:
        return
    first = data.draw(st.integers(0, k - 1))
    last = data.draw(st.integers(k, len(ranked) - 1))
    raw = np.array([[float(10 - i) for i in range(len(ranked))]])
    raw[0, first : last + 1] = 5.5
    ties = ties_across(raw, k)
    assert ties.tolist() == [[first, last]]
    found = bounds(build(*case), k, threshold, ties=ties)
    for ranking, grades in completions(*case):
        for order in itertools.permutations(range(first, last + 1)):
            tied = [*range(first), *order, *range(last + 1, len(ranking))]
            scores = score(judged_from_grades([[ranking[i] for i in tied]], [grades]), k, threshold)
            for name in METRICS:
                if not math.isnan(value := scores.metric(name)[0]):
                    assert found[name].lower[0] <= value + 1e-12
                    assert found[name].upper[0] >= value - 1e-12


def test_no_tie_without_equal_scores_across_k():
    scores = np.array([[3.0, 2.0, 2.0], [3.0, 2.0, np.nan], [np.nan] * 3])
    assert ties_across(scores, 1).tolist() == [[-1, -1]] * 3
    assert ties_across(scores, 2).tolist() == [[1, 2], [-1, -1], [-1, -1]]
    assert ties_across(scores, 3).tolist() == [[-1, -1]] * 3


def test_many_open_hits_still_have_true_bounds():
    ranking = [2] + [None] * 199
    found = bounds(judged_from_grades([ranking], [[2]]), 200, 1)
    scores = score(judged_from_grades([[2] + [0] * 199], [[2] + [0] * 199]), 200, 1)
    assert found["ndcg"].lower[0] <= scores.ndcg[0] <= found["ndcg"].upper[0] == 1
    assert found["precision"].lower[0] == pytest.approx(1 / 200)
    assert found["precision"].upper[0] == 1


def test_unsettled_pairs_are_held_to_their_lower_grade():
    judged = build([(2, 2, True)], [(1, 1)], 0)
    judged.grade[0, 0], judged.low[0, 0], judged.high[0, 0] = 1, 1, 2
    judged.pairs[0] = [[0, 0, 0], [0, 1, 1], [0, 0, 0]]
    judged.used[0] = [0, 2, 0]
    wide, held = bounds(judged, 1, 1)["ndcg"], bounds(without_unsettled(judged), 1, 1)["ndcg"]
    assert wide.lower[0] == pytest.approx(1) and wide.upper[0] == pytest.approx(1)
    assert (held.lower[0], held.upper[0]) == (1.0, 1.0)
    assert without_unsettled(judged).pairs[0].tolist() == [[0, 0, 0], [0, 2, 0], [0, 0, 0]]

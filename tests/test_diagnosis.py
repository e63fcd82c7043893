"""Why a question scored as it did: shares of nDCG, curves over K, other tools' definitions."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.diagnosis import curves, ndcg_shares
from app.core.elsewhere import elsewhere
from app.core.metrics import attainable, judged_from_grades, score

SOME = pytest.approx


@st.composite
def cases(draw):
    """A ranking with open hits, and the grades of all pairs."""
    grades = draw(st.lists(st.integers(0, 2), max_size=8))
    hits = draw(st.permutations(grades))[: draw(st.integers(0, len(grades)))]
    ranking = [*hits, *[None] * draw(st.integers(0, 3))]
    return draw(st.permutations(ranking)), grades


def ours(ranking, grades, k, threshold=1):
    return score(judged_from_grades([ranking], [grades]), k, threshold)


# --- Shares of nDCG --------------------------------------------------------


@given(cases(), st.integers(1, 10))
def test_shares_add_up_to_ndcg_and_to_1(case, k):
    ranking, grades = case
    shares = ndcg_shares(ranking, grades, k)
    if not any(grades):
        assert shares == ()
        return
    assert [one.rank for one in shares] == list(range(1, k + 1))
    assert sum(one.actual for one in shares) == SOME(float(ours(ranking, grades, k).ndcg[0]))
    assert sum(one.ideal for one in shares) == SOME(1)
    assert [one.grade for one in shares] == [*ranking[:k], *[None] * (k - len(ranking))]


def test_loss_at_each_rank_by_hand():
    first, second, third = ndcg_shares([0, 2, 1], [0, 2, 1], 3)
    ideal = 3 + 1 / log2(3)
    assert (first.actual, first.loss) == (0, SOME(3 / ideal))
    assert second.loss == SOME((1 - 3) / log2(3) / ideal)
    assert second.loss < 0
    assert third.loss == SOME(-0.5 / ideal)
    assert first.actual + second.actual + third.actual == SOME(0.6590018, abs=1e-7)


@pytest.mark.parametrize(
    "make", [ndcg_shares, lambda *a: curves(*a, 1), lambda *a: elsewhere(*a, 1)]
)
@pytest.mark.parametrize(
    ("ranking", "grades", "k", "fault"),
    [
        ([1], [1], 0, "K must be"),
        ([3], [3], 1, "grade 3 is outside"),
        ([1], [-1, 1], 1, "grade -1 is outside"),
        ([2, 2], [2], 1, "a hit has grade 2"),
    ],
)
def test_what_makes_no_sense_is_refused(make, ranking, grades, k, fault):
    with pytest.raises(ValueError, match=fault):
        make(ranking, grades, k)


def test_a_hit_that_is_0_by_completeness_need_not_be_listed():
    assert [one.actual for one in ndcg_shares([0, 2], [2], 2)] == [0, SOME(1 / log2(3))]


# --- Curves over K ---------------------------------------------------------


@given(cases(), st.integers(1, 10), st.sampled_from([1, 2]))
def test_curves_are_the_metrics_at_every_k(case, depth, threshold):
    ranking, grades = case
    points = curves(ranking, grades, depth, threshold)
    if not any(grade >= threshold for grade in grades):
        assert points == ()
        return
    assert [one.k for one in points] == list(range(1, depth + 1))
    for one in points:
        scores = ours(ranking, grades, one.k, threshold)
        most = attainable(scores.relevant, one.k)
        assert (one.precision, one.recall) == (scores.precision[0], scores.recall[0])
        assert (one.attainable_precision, one.attainable_recall) == (most[0][0], most[1][0])
        assert one.precision <= one.attainable_precision
        assert one.recall <= one.attainable_recall


# --- The same ranking elsewhere --------------------------------------------

LINEAR = (2 / log2(3) + 1 / 2) / (2 + 1 / log2(3))


def values(ranking, grades, k=3, threshold=1):
    return [one.value for one in elsewhere(ranking, grades, k, threshold)]


def test_our_value_stands_beside_each():
    found = elsewhere([0, 2, 1], [0, 2, 1], 3, 1)
    assert [one.our_name for one in found] == ["nDCG@3", "Precision@3", "RR@3", "nDCG@3"]
    assert [one.ours for one in found] == SOME([0.6590018, 2 / 3, 0.5, 0.6590018], abs=1e-7)
    assert [one.value for one in found] == SOME([LINEAR, 2 / 3, 0.5, LINEAR])
    assert SOME(0.6696718, abs=1e-7) == LINEAR  # as pytrec_eval and scikit-learn give it
    assert all(one.differs.endswith(".") and one.tools for one in found)


def test_linear_gain_agrees_with_pytrec_eval():
    oracle = pytest.importorskip("pytrec_eval")
    evaluator = oracle.RelevanceEvaluator(
        {"q": {"a": 0, "b": 2, "c": 1, "d": 2}}, {"ndcg_cut.3", "recip_rank"}
    )
    found = evaluator.evaluate({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})["q"]
    linear, _, rr, _ = values([0, 2, 1], [0, 2, 1, 2])
    assert linear == SOME(found["ndcg_cut_3"])
    assert rr == SOME(found["recip_rank"])


def test_precision_over_what_came_back():
    _, precision, _, _ = elsewhere([2], [2, 2], 3, 1)
    assert (precision.value, precision.ours) == (1.0, SOME(1 / 3))
    assert "Quepid P@3" in precision.tools
    assert "Quepid P@3" not in elsewhere([2], [2, 2], 3, 2)[1].tools


def test_reciprocal_rank_is_not_cut():
    rr = elsewhere([0, None, 0, 1], [0, 0, 1], 3, 1)[2]
    assert (rr.value, rr.ours) == (0.25, 0.0)


def test_ideal_from_the_hits_forgives_what_was_not_found():
    """One perfect hit of five relevant."""
    alone = elsewhere([2], [2] * 5, 3, 1)[3]
    assert (alone.value, alone.tools) == (1.0, ())
    assert alone.ours == SOME(1 / (1 + 1 / log2(3) + 1 / 2))
    with_noise = elsewhere([2, 0, None], [2] * 5 + [0], 3, 1)[3]
    assert (with_noise.value, with_noise.ours) == (1.0, alone.ours)
    assert with_noise.tools == ("scikit-learn ndcg_score, given the hits alone",)


def test_no_hits_and_no_relevant_pairs():
    assert values([], [2]) == [0.0, 0.0, 0.0, None]
    assert values([0], [0]) == [0.0, 0.0, 0.0, 0.0]
    assert values([None], []) == [None, 0.0, None, 0.0]
    assert {one.ours for one in elsewhere([0], [0], 3, 1)} == {None}


@given(cases(), st.integers(1, 10), st.sampled_from([1, 2]))
def test_values_lie_in_0_to_1(case, k, threshold):
    assert all(value is None or 0 <= value <= 1 + 1e-12 for value in values(*case, k, threshold))

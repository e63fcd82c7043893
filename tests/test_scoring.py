"""Scores and means of given rankings under a workspace's real labels."""

from itertools import product
from math import log2

import pytest

from app.core.model import ChunkKey, Hit, Ranking
from app.flows.loading import load
from app.flows.means import means
from app.flows.scoring import score_rankings

NAMES = ("precision", "recall", "rr", "ndcg", "hit")
COMPLETE = '[labels]\ncompleteness = "complete"\ncomplete_as_of = "{revision}"\n'


def key(name):
    return ChunkKey(name, "as-is-v1", name)


def ranking(names, question="q1", scores=None, failure=None):
    scores = scores or [1.0 - rank / 100 for rank in range(len(names))]
    hits = [Hit(n, key(c), s) for n, (c, s) in enumerate(zip(names, scores, strict=True), start=1)]
    return Ranking(question, tuple(hits), failure)


@pytest.fixture
def world(tiny, collection_of, edit):
    """Scores rankings against grades: `world(grades, *rankings)`; all labels complete if wanted."""

    def score(grades, *rankings, cutoffs=(3,), complete=True, more=(), questions=None, **words):
        texts = {n: f"text {n}" for pair in [*grades, *more] for n in [pair[-1]]}
        questions = questions or {q: f"What of {q}?" for q in dict.fromkeys(q for q, _ in grades)}
        labels = [(q, name, grade) for (q, name), grade in grades.items()]
        root = tiny(texts, questions, labels, settings="#")
        if complete:
            revision = collection_of(root).corpus().revision
            settings = COMPLETE.replace("{revision}", revision)
            edit(root / "data/tiny/collection.toml", "#", settings)
        loaded = load(collection_of(root))
        hashes = {k: chunk.text_hash for k, chunk in loaded.corpus.eligible.items()}
        found = score_rankings(rankings, loaded.labels, hashes, cutoffs, **words)
        return found, loaded.labels

    return score


def by_hand(grades, others, k, threshold=1):
    """Metrics of grades in rank order; `others` are the question's grades beyond them."""
    top = grades[:k]
    relevant = sum(g >= threshold for g in [*grades, *others])
    found = [g >= threshold for g in top]
    gain = sum((2**g - 1) / log2(n + 2) for n, g in enumerate(top))
    ideal = sorted([*grades, *others], reverse=True)[:k]
    best = sum((2**g - 1) / log2(n + 2) for n, g in enumerate(ideal))
    rr = next((1 / (n + 1) for n, hit in enumerate(found) if hit), 0.0)
    values = (sum(found) / k, sum(found) / relevant, rr, gain / best, float(any(found)))
    return dict(zip(NAMES, values, strict=True))


def q1(**grades):
    return {("q1", name): grade for name, grade in grades.items()}


@pytest.mark.parametrize(
    ("grades", "names", "wanted"),
    [
        (q1(a=0, b=2, c=1), "abc", (0.6667, 1, 0.5, 0.6590018)),
        (q1(a=0, b=2, c=2), "abc", (0.6667, 1, 0.5, 0.6934264)),
        (q1(a=2, b=2), "a", (0.3333, 0.5, 1, 0.6131472)),
        (q1(a=2), "a", (0.3333, 1, 1, 1)),
        (q1(a=2), "", (0, 0, 0, 0)),
    ],
)
def test_the_numbers_of_the_definitions(world, grades, names, wanted):
    (one,) = world(grades, ranking(names))[0].questions
    assert one.outcome == "scored" and not one.provisional
    found = [one.values[name] for name in ("precision", "recall", "rr", "ndcg")]
    assert found == pytest.approx(wanted, abs=5e-5)
    assert one.values["ndcg"] == pytest.approx(wanted[3], abs=5e-8)
    assert one.values == pytest.approx(one.as_zero)
    assert all(one.bounds[name] == pytest.approx((v, v)) for name, v in one.values.items())


def test_one_ranking_is_cut_for_every_k(world):
    found, _ = world(q1(a=0, b=2, c=1), ranking("abc"), cutoffs=(1, 2, 5))
    for one in found.questions:
        assert one.values == pytest.approx(by_hand([0, 2, 1], [], one.k))
        assert [hit.hit.rank for hit in one.ranking] == [1, 2, 3][: one.k]


def test_an_open_hit_makes_a_score_provisional_with_exact_bounds(world):
    grades, more = q1(a=2, b=0), [("x",), ("y",)]
    found, _ = world(grades, ranking("xab"), complete=False, more=more)
    (one,) = found.questions
    assert one.provisional and one.values["precision"] is None
    assert one.as_zero == pytest.approx(by_hand([0, 2, 0], [0], 3))
    known = [by_hand([x, 2, 0], [], 3) for x in range(3)]
    every = [by_hand([x, 2, 0], [y], 3) for x, y in product(range(3), repeat=2)]
    for name in NAMES:
        ends = min(v[name] for v in known), max(v[name] for v in known)
        assert one.known_bounds[name] == pytest.approx(ends)
        ends = min(v[name] for v in every), max(v[name] for v in every)
        assert one.bounds[name] == pytest.approx(ends)
    assert one.judged == pytest.approx(2 / 3)


def test_in_a_pooled_collection_chunks_nobody_returned_leave_the_known_score_alone(world):
    found, _ = world(q1(a=2, b=0), ranking("ab"), complete=False, more=[("x",)])
    (one,) = found.questions
    assert not one.provisional and one.values == pytest.approx(by_hand([2, 0], [], 3))
    assert one.known_bounds["recall"] == (1, 1) and one.bounds["recall"] == (0.5, 1)


def test_completeness_makes_unlisted_chunks_grade_0(world):
    found, _ = world(q1(a=2), ranking("xa"), more=[("x",)])
    (one,) = found.questions
    assert not one.provisional and one.judged == 1 and one.ranking[0].label.state == "implicit"
    assert one.values == pytest.approx(by_hand([0, 2], [], 3))


def test_a_group_of_equal_scores_across_k_gives_bounds_and_no_doubt(world):
    found, _ = world(q1(a=0, b=2), ranking("ab", scores=[0.5, 0.5]), cutoffs=(1, 2))
    first, second = found.questions
    assert first.tied and first.bounds["precision"] == (0, 1)
    assert first.values["precision"] == 0 and not first.provisional
    assert not second.tied or second.values["precision"] == 0.5


def test_a_threshold_cuts_lower_scores_only(world):
    scores = [0.9, 0.5, 0.4]
    found, _ = world(q1(a=0, b=2, c=2), ranking("abc", scores=scores), threshold=0.5)
    (one,) = found.questions
    assert [hit.hit.key.chunk for hit in one.ranking] == ["a", "b"]
    assert one.values == pytest.approx(by_hand([0, 2], [2], 3))


def test_outcomes_without_a_number(world):
    grades = {("yes", "a"): 2, ("no", "a"): 0, ("fails", "a"): 2}
    asked = {"yes": "?a", "no": "?b", "fails": "?c", "open": "?d"}
    rankings = [ranking("a", q) for q in ("yes", "no", "open")]
    rankings.append(ranking("", "fails", failure="the server is gone"))
    found, labels = world(grades, *rankings, questions=asked, complete=False)
    outcomes = {one.question: (one.outcome, one.reason) for one in found.questions}
    assert outcomes == {
        "yes": ("scored", None),
        "no": ("not applicable", "no evidence yet"),
        "fails": ("failed", "the server is gone"),
        "open": ("not applicable", "undecided"),
    }
    assert [one.question for one in found.questions] == list(asked)
    assert all(one.values == {} for one in found.questions if one.outcome != "scored")
    overall, category = means(found)
    assert (overall.failed, overall.scored, overall.answerable) == (1, 1, 2)
    assert set(overall.values.values()) == {None} and overall.values == category.values


def test_means_weigh_every_question_the_same(world):
    grades = {("q1", "a"): 2, ("q2", "b"): 2, ("q2", "c"): 1, ("q3", "d"): 0}
    rankings = [ranking("ab", "q1"), ranking("", "q2"), ranking("d", "q3")]
    found, labels = world(grades, *rankings)
    overall = means(found)[0]
    assert (overall.scored, overall.answerable) == (2, 2)
    assert overall.counts == {
        "unsupported": 0, "no evidence yet": 1, "undecided": 0,
        "only disputed or stale evidence": 0,
    }  # fmt: skip
    assert overall.values == pytest.approx(
        {"precision": 1 / 6, "recall": 0.5, "mrr": 0.5, "ndcg": 0.5, "hit": 0.5}
    )
    assert overall.attainable == pytest.approx({"precision": 0.5, "recall": 1})
    assert overall.judged == 1 and overall.category is None


def test_no_question_has_no_mean(world):
    found, labels = world(q1(a=0), ranking("a"))
    overall = means(found)[0]
    assert set(overall.values.values()) == {None} and overall.judged is None
    assert set(overall.bounds.values()) == {None}


def test_a_provisional_question_leaves_bounds_instead_of_a_mean(world):
    grades = {("q1", "a"): 2, ("q2", "b"): 2}
    rankings = [ranking("a", "q1"), ranking("xb", "q2")]
    found, labels = world(grades, *rankings, complete=False, more=[("x",)])
    overall = means(found)[0]
    assert overall.provisional and overall.values["precision"] is None
    assert overall.known_bounds["precision"] == pytest.approx((1 / 3, 1 / 2))
    assert overall.as_zero["mrr"] == pytest.approx(0.75)
    assert overall.values["hit"] == 1  # certain whatever x turns out to be


def test_an_incomplete_execution_has_no_means(world):
    found, labels = world(q1(a=2), ranking("a"))
    assert means(found)[0].values["ndcg"] == 1
    assert means(found, complete=False)[0].values["ndcg"] is None


def test_rankings_of_questions_that_are_gone_are_left_out(world):
    found, _ = world(q1(a=2), ranking("a"), ranking("a", "gone"))
    assert [one.question for one in found.questions] == ["q1"]

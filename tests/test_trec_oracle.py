"""The metrics against the published output of trec_eval.

Grades in these qrels are 0 and 1 wherever nDCG is compared, so that the gain 2^grade - 1 is the
grade itself, which is what trec_eval takes.
"""

import itertools
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from app.core.metrics import judged_from_grades, score

ORACLE = Path(__file__).parents[2] / "shared/datasets/trec-eval-oracle"

pytestmark = pytest.mark.skipif(
    not ORACLE.is_dir(), reason="the trec_eval oracle is not beside this repository"
)

METRIC = {
    "P": "precision",
    "recall": "recall",
    "success": "hit",
    "ndcg_cut": "ndcg",
    "recip_rank": "rr",
}
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
USUAL = {f"{name}_{k}" for name in ("P", "recall") for k in CUTOFFS} | {"recip_rank"}
SUCCESS = {f"success_{k}" for k in (1, 5, 10)}
NDCG = {f"ndcg_cut_{k}" for k in CUTOFFS}
QUESTIONS = ("301", "302", "303")


def rows(name):
    text = (ORACLE / name).read_text()
    return [line.split() for line in text.splitlines() if line.strip()]


@cache
def rankings(name):
    """Documents by question, score descending, then document descending."""
    found = defaultdict(list)
    for question, _, document, _, value, *_ in rows(name):
        found[question].append((float(value), document))
    return {
        q: [document for _, document in sorted(hits, reverse=True)] for q, hits in found.items()
    }


@cache
def qrels(name):
    """Grades by question and document; a negative one is no judgment."""
    found = defaultdict(dict)
    for question, _, document, grade in rows(name):
        if int(grade) >= 0:
            found[question][document] = int(grade)
    return found


@cache
def scored(qrels_name, results_name, k, threshold, depth):
    grades, hits = qrels(qrels_name), rankings(results_name)
    judged = judged_from_grades(
        [[grades[q].get(one) for one in hits.get(q, [])[:depth]] for q in QUESTIONS],
        [list(grades[q].values()) for q in QUESTIONS],
        highest=max(max(of.values()) for of in grades.values()),
    )
    return score(judged, k, threshold)


@pytest.mark.parametrize(
    ("output", "qrels_name", "results_name", "threshold", "depth", "measures", "questions"),
    [
        ("out.test", "qrels.test", "results.test", 1, 1000, None, ()),
        ("out.test.a", "qrels.test", "results.test", 1, 1000, USUAL | SUCCESS | NDCG, ()),
        ("out.test.aq", "qrels.test", "results.test", 1, 1000, USUAL | SUCCESS | NDCG, QUESTIONS),
        ("out.test.aqc", "qrels.test", "results.trunc", 1, 1000, USUAL | SUCCESS | NDCG, QUESTIONS),
        ("out.test.aqcM", "qrels.test", "results.trunc", 1, 100, USUAL | SUCCESS | NDCG, QUESTIONS),
        ("out.test.aql", "qrels.rel_level", "results.test", 2, 1000, USUAL | SUCCESS, QUESTIONS),
        (
            "out.test.meas_params",
            "qrels.test",
            "results.test",
            1,
            1000,
            {"P_3", "P_5", "P_7", "recall_20", "recall_2000"}
            | {"success_2", "success_5", "success_20"},
            QUESTIONS,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("out") else "",
)
def test_values_per_question_and_means(
    output, qrels_name, results_name, threshold, depth, measures, questions
):
    compared = set()
    for measure, question, expected in rows(output):
        found = re.fullmatch(r"(P|recall|success|ndcg_cut|recip_rank)(?:_(\d+))?", measure)
        if not found or (measures is not None and measure not in measures):
            continue
        k = int(found.group(2) or depth)
        values = scored(qrels_name, results_name, k, threshold, depth).metric(
            METRIC[found.group(1)]
        )
        value = values.mean() if question == "all" else values[QUESTIONS.index(question)]
        assert value == pytest.approx(float(expected), abs=5.001e-5), (measure, question)
        compared.add((measure, question))
    wanted = measures or {f"P_{k}" for k in CUTOFFS} | {"recip_rank"}
    assert compared == {(one, q) for one in wanted for q in (*questions, "all")}


def test_order_is_by_score_then_by_document_both_descending():
    hits = rankings("results.test")
    value = {(q, d): float(s) for q, _, d, _, s, _ in rows("results.test")}
    tied = 0
    for question, documents in hits.items():
        for one, after in itertools.pairwise(documents):
            first, second = value[question, one], value[question, after]
            assert first > second or (first == second and one > after)
            tied += first == second
    assert tied >= 9


def test_a_question_that_returned_nothing_is_a_scored_miss():
    scores = scored("qrels.test", "results.trunc", 10, 1, 1000)
    row = QUESTIONS.index("302")
    assert [scores.metric(name)[row] for name in METRIC.values()] == [0] * 5
    assert scores.relevant[row] == 77

"""The same ranking as other tools score it, beside our own value.

Each definition was read in the tool's source or run against it (trec_eval 9.0, pytrec_eval-terrier
0.5.10, ir_measures, BEIR, Elasticsearch, Quepid, MLflow, scikit-learn 1.9); a tool of which that
could not be done is not named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.diagnosis import check_grades
from app.core.metrics import check_cutoff, discounts, judged_from_grades, score
from app.core.model import HIGHEST_GRADE


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """One metric under another definition.

    `name` is its definition in short; `tools` has each tool with what it calls it. `value` is None
    where the tools give none, `ours` where our metric `our_name` is not defined.
    """

    name: str
    tools: tuple[str, ...]
    value: float | None
    our_name: str
    ours: float | None
    differs: str


def elsewhere(
    ranking: Sequence[int | None],
    grades: Sequence[int],
    k: int,
    threshold: int,
    highest: int = HIGHEST_GRADE,
) -> tuple[Elsewhere, ...]:
    """The metrics of one question under other tools' definitions, in a fixed order.

    `ranking` is the whole ranking, beyond K too: grades in rank order, None for an open hit, which
    those tools count as irrelevant and so does our value here. `grades` are those of all pairs of
    the question. Relevant means a grade of at least `threshold`. Raises ValueError for a K below
    1, a grade outside 0..`highest`, and a hit whose grade is not among `grades`.
    """
    check_cutoff(k)
    check_grades(ranking, grades, highest)
    scores = score(judged_from_grades([ranking], [grades], highest), k, threshold)

    def ours(name: str) -> float | None:
        value = float(scores.metric(name)[0])
        return None if math.isnan(value) else value

    known = [grade or 0 for grade in ranking]
    hits = known[:k]
    return (
        Elsewhere(
            f"linear-gain nDCG@{k}",
            (
                f"trec_eval ndcg_cut_{k}",
                f"pytrec_eval ndcg_cut_{k}",
                f"ir_measures nDCG@{k}",
                f"BEIR NDCG@{k}",
            ),
            # A question without judgments is left out there.
            linear_ndcg(hits, grades, k) if grades else None,
            f"nDCG@{k}",
            ours("ndcg"),
            "The gain is the grade itself, not 2^grade - 1, so a 2 is worth two 1s and not three.",
        ),
        Elsewhere(
            f"precision over the hits returned, at most {k}",
            _precision_tools(k, threshold),
            sum(grade >= threshold for grade in hits) / len(hits) if hits else 0.0,
            f"Precision@{k}",
            ours("precision"),
            f"It divides by the hits that came back, at most {k}; ours always divides by {k}.",
        ),
        Elsewhere(
            "reciprocal rank over the whole ranking",
            ("trec_eval recip_rank", "pytrec_eval recip_rank", "ir_measures RR"),
            _reciprocal_rank(known, threshold) if grades else None,
            f"RR@{k}",
            ours("rr"),
            f"The ranking is not cut: a first relevant hit below rank {k} still counts. "
            f"trec_eval -M {k} cuts it.",
        ),
        Elsewhere(
            f"nDCG@{k}, ideal order from the hits alone",
            # It refuses to score one document.
            ("scikit-learn ndcg_score, given the hits alone",) if len(hits) > 1 else (),
            linear_ndcg(hits, hits, k) if hits else None,
            f"nDCG@{k}",
            ours("ndcg"),
            "The ideal order is made of the hits alone, so what was not found costs nothing; "
            "the gain is the grade itself. scikit-learn takes the mean over equal scores, and "
            "refuses a single hit.",
        ),
    )


def linear_ndcg(hits: Sequence[int], grades: Sequence[int], k: int) -> float:
    """NDCG@K with the grade as gain, after Järvelin and Kekäläinen (2002), 0.0 to 1.0.

    The discount is 1 / log2(rank + 1). The ideal sorts `grades`; 0 where none of them is above 0.
    """
    weights = [float(one) for one in discounts(k)]

    def dcg(found: Sequence[int]) -> float:
        return sum(grade * weight for grade, weight in zip(found[:k], weights, strict=False))

    ideal = dcg(sorted(grades, reverse=True))
    return dcg(hits) / ideal if ideal else 0.0


def _precision_tools(k: int, threshold: int) -> tuple[str, ...]:
    tools = (f"Elasticsearch rank_eval precision, k {k}", f"MLflow precision_at_k, k {k}")
    # Quepid's scorer has its threshold in its code: a rating above 0.
    return (*tools, f"Quepid P@{k}") if threshold == 1 else tools


def _reciprocal_rank(grades: Sequence[int], threshold: int) -> float:
    ranks = (rank for rank, grade in enumerate(grades, start=1) if grade >= threshold)
    first = next(ranks, None)
    return 0.0 if first is None else 1 / first

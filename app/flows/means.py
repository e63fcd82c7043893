"""Macro means over answerable questions, overall and by category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.labels import Labels
from app.core.metrics import METRICS, attainable
from app.flows.scoring import QuestionScore, Scored

#: Why a question is in no mean.
REASONS = ("unsupported", "no evidence yet", "undecided", "only disputed or stale evidence")
#: The mean of RR is called MRR.
MEAN_NAMES: Mapping[str, str] = {name: "mrr" if name == "rr" else name for name in METRICS}
#: And back: the metric behind a mean's name.
METRIC_OF: Mapping[str, str] = {mean: metric for metric, mean in MEAN_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Mean:
    """Means of one group of questions at one K; `category` None is all questions.

    `values`, `as_zero`, `bounds` and `known_bounds` are keyed precision, recall, mrr, ndcg, hit.
    A value is None without a scored question, while a question is provisional in it, and where a
    search failed: a failure is not averaged away. `counts` are the questions that are not
    answerable, by why.
    """

    k: int
    category: str | None
    scored: int
    answerable: int
    failed: int
    counts: Mapping[str, int]
    values: Mapping[str, float | None]
    as_zero: Mapping[str, float | None]
    bounds: Mapping[str, tuple[float, float] | None]
    known_bounds: Mapping[str, tuple[float, float] | None]
    judged: float | None
    attainable: Mapping[str, float | None]
    provisional: bool


def means(
    scored: Scored, labels: Labels, cutoffs: Sequence[int], *, complete: bool = True
) -> list[Mean]:
    """Means per K, over all questions and by category in the questions' order.

    `complete` is whether every question of the execution was searched; otherwise no mean has a
    value.
    """
    categories = list(dict.fromkeys(q.category for q in scored.questions))
    return [
        _mean([q for q in scored.questions if q.k == k and category in (None, q.category)],
              labels, k, category, complete)
        for k in cutoffs
        for category in (None, *categories)
    ]  # fmt: skip


def _average(values: Sequence[float | None]) -> float | None:
    """The mean, None over no value or where one is missing; the order of values is irrelevant."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def ends_of_mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The mean of the lower and of the upper ends; None over no pair."""
    if not pairs:
        return None
    lower, upper = zip(*pairs, strict=True)
    return math.fsum(lower) / len(pairs), math.fsum(upper) / len(pairs)


def _mean(
    questions: Sequence[QuestionScore],
    labels: Labels,
    k: int,
    category: str | None,
    complete: bool,
) -> Mean:
    scored = [q for q in questions if q.outcome == "scored"]
    failed = sum(1 for q in questions if q.outcome == "failed")
    usable = scored if complete and not failed else []
    kinds = [labels.kinds[q.question] for q in questions]
    apart = [
        q.reason if q.outcome == "not applicable" else kind
        for q, kind in zip(questions, kinds, strict=True)
    ]
    relevant = np.array([q.relevant for q in usable], dtype=np.int64)
    precision, recall = attainable(relevant, k)
    return Mean(
        k=k,
        category=category,
        scored=len(scored),
        answerable=kinds.count("answerable"),
        failed=failed,
        counts={reason: apart.count(reason) for reason in REASONS},
        values={MEAN_NAMES[m]: _average([q.values[m] for q in usable]) for m in METRICS},
        as_zero={MEAN_NAMES[m]: _average([q.as_zero[m] for q in usable]) for m in METRICS},
        bounds={MEAN_NAMES[m]: ends_of_mean([q.bounds[m] for q in usable]) for m in METRICS},
        known_bounds={
            MEAN_NAMES[m]: ends_of_mean([q.known_bounds[m] for q in usable]) for m in METRICS
        },
        judged=_average([q.judged for q in usable if q.judged is not None]),
        attainable={
            "precision": _average([float(value) for value in precision]),
            "recall": _average([float(value) for value in recall]),
        },
        provisional=any(q.provisional for q in usable),
    )

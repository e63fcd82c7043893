"""Macro means over answerable questions, overall and by category."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.metrics import METRICS, Floats, attainable
from app.flows.scored import Asked, Numbers, Scored

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


def means(scored: Scored, *, complete: bool = True) -> list[Mean]:
    """Means per K, over all questions and by category in the questions' order.

    `complete` is whether every question of the execution was searched; otherwise no mean has a
    value.
    """
    groups: dict[str | None, list[Asked]] = {None: list(scored.asked)}
    for one in scored.asked:
        groups.setdefault(one.category, []).append(one)
    rows = {
        name: np.array([one.category == name for one in scored.scored], dtype=np.bool_)
        for name in groups
        if name is not None
    }
    return [
        _mean(numbers.take(rows[name]) if name is not None else numbers, group, name, complete)
        for numbers in scored.numbers.values()
        for name, group in groups.items()
    ]


def _average(values: Iterable[float]) -> float | None:
    """The mean, None over no value or where one is missing; the order of values is irrelevant."""
    known = list(values)
    mean = math.fsum(known) / len(known) if known else math.nan
    return None if math.isnan(mean) else mean


def ends_of_mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The mean of the lower and of the upper ends; None over no pair."""
    if not pairs:
        return None
    lower, upper = zip(*pairs, strict=True)
    return math.fsum(lower) / len(pairs), math.fsum(upper) / len(pairs)


def _mean(numbers: Numbers, asked: Sequence[Asked], category: str | None, complete: bool) -> Mean:
    failed = sum(1 for one in asked if one.outcome == "failed")
    usable = complete and not failed
    # Who is in no mean is counted by the reason, and failed searches by what they would be.
    apart = Counter(one.reason if one.outcome == "not applicable" else one.kind for one in asked)
    precision, recall = attainable(numbers.relevant, numbers.k)

    def mean(values: Floats) -> float | None:
        return _average(values.tolist()) if usable else None

    def ends(bounds: tuple[Floats, Floats]) -> tuple[float, float] | None:
        lower, upper = mean(bounds[0]), mean(bounds[1])
        return None if lower is None or upper is None else (lower, upper)

    return Mean(
        k=numbers.k,
        category=category,
        scored=len(numbers.relevant),
        answerable=sum(1 for one in asked if one.kind == "answerable"),
        failed=failed,
        counts={reason: apart[reason] for reason in REASONS},
        values={MEAN_NAMES[m]: mean(numbers.values[m]) for m in METRICS},
        as_zero={MEAN_NAMES[m]: mean(numbers.as_zero[m]) for m in METRICS},
        bounds={MEAN_NAMES[m]: ends(numbers.bounds[m]) for m in METRICS},
        known_bounds={MEAN_NAMES[m]: ends(numbers.known_bounds[m]) for m in METRICS},
        judged=mean(numbers.judged[~np.isnan(numbers.judged)]),
        attainable={"precision": mean(precision), "recall": mean(recall)},
        provisional=bool(usable and numbers.provisional.any()),
    )

"""Lower and upper bounds of the metrics over everything that is not settled.

A bound holds for every grade that open pairs (hits or not) may still get, and for every order
of a group of equal scores that lies across K. Pairs that are not among the first K hits touch
only r and the ideal: the lower bound takes their highest possible grade, the upper the lowest.
For open hits with a fixed number of each grade the ideal is fixed, and the extremes put the
higher grades first or last; so it is enough to go through those numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.metrics import (
    NO_HIT,
    Flags,
    Floats,
    Grades,
    Ints,
    Judged,
    check_cutoff,
    dcg,
    discounts,
    first_columns,
    gains,
    ideal_dcg,
    reciprocal_rank,
)

#: Above this many cases the two ends of DCG and ideal are taken apart: wider, still true.
MOST_CASES = 300
#: Rows taken together.
_PORTION = 500


@dataclass(frozen=True)
class Bounds:
    """Lower and upper end of one metric, arrays over questions, 0.0 to 1.0."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class _Top:
    """The possible grades of the first K hits, and the counts of all other pairs by grade."""

    low: Grades
    high: Grades
    outside_low: Ints
    outside_high: Ints
    k: int


def bounds(
    judged: Judged, k: int, threshold: int, unlisted: Ints | None = None, ties: Ints | None = None
) -> Mapping[str, Bounds]:
    """Bounds of every metric at K, for questions with at least one relevant chunk.

    `unlisted` is the number of eligible chunks per question whose grade nobody knows, hits
    included; left out, that of `judged`. With 0 the bounds speak of listed pairs and hits only:
    the known evidence. `ties` are the first and last rank (from 0) of the group of equal scores
    that lies across K, [questions, 2], -1 where there is none (see `ties_across`).
    """
    check_cutoff(k)
    unlisted = judged.unlisted if unlisted is None else unlisted
    bottom = top = _top(judged, k, unlisted)
    ndcg = _ndcg(top)
    if ties is not None and (tied := ties[:, 0] >= 0).any():

        def arranged(order: Callable[[Grades, Grades], Ints]) -> _Top:
            return _top(_reordered(judged, ties, order), k, unlisted)

        apart = _ndcg_apart(
            arranged(lambda low, high: np.lexsort((high, low))),
            arranged(lambda low, high: np.lexsort((low, high))[::-1]),
        )
        ndcg = Bounds(
            np.where(tied, apart.lower, ndcg.lower), np.where(tied, apart.upper, ndcg.upper)
        )
        # Certainly irrelevant hits first, then open ones, then relevant ones; and the reverse.
        bottom = arranged(lambda low, high: np.lexsort((high >= threshold, low >= threshold)))
        top = arranged(lambda low, high: np.lexsort((high >= threshold, low >= threshold))[::-1])
    sure, possible = bottom.low >= threshold, top.high >= threshold
    return {
        "precision": Bounds(sure.sum(axis=1) / k, possible.sum(axis=1) / k),
        "recall": _recall(bottom, top, threshold),
        "rr": Bounds(reciprocal_rank(sure), reciprocal_rank(possible)),
        "ndcg": ndcg,
        "hit": Bounds(sure.any(axis=1).astype(float), possible.any(axis=1).astype(float)),
    }


def ties_across(scores: Floats, k: int) -> Ints:
    """First and last rank (from 0) of the group of equal scores across K, -1 for none.

    `scores` is [questions, depth], NaN where nothing was returned.
    """
    found = np.full((scores.shape[0], 2), -1, dtype=np.int64)
    if scores.shape[1] <= k:
        return found
    equal: Flags = scores[:, k - 1] == scores[:, k]
    for row in np.flatnonzero(equal):
        group = np.flatnonzero(scores[row] == scores[row, k])
        found[row] = group[0], group[-1]
    return found


def without_unsettled(judged: Judged) -> Judged:
    """The same with every pair that has an effective grade held to it.

    Unsettled grades alone do not make a score provisional.
    """
    known = judged.grade >= 0
    pairs = judged.pairs.copy()
    diagonal = np.arange(judged.highest + 1)
    open_pairs = pairs.copy()
    open_pairs[:, diagonal, diagonal] = 0
    # What `used` counts beyond the settled pairs are the unsettled ones, at their lower grade.
    extra = judged.used - pairs[:, diagonal, diagonal]
    pairs[:, diagonal, diagonal] = judged.used
    for low in diagonal[:-1]:
        pairs[:, low, low + 1] = open_pairs[:, low, low + 1] - extra[:, low]
    return replace(
        judged,
        low=np.where(known, judged.grade, judged.low),
        high=np.where(known, judged.grade, judged.high),
        pairs=pairs,
    )


def _reordered(judged: Judged, ties: Ints, order: Callable[[Grades, Grades], Ints]) -> Judged:
    """Each group of equal scores that lies across K in the order that `order` gives."""
    columns = np.tile(np.arange(judged.grade.shape[1]), (len(ties), 1))
    for row in np.flatnonzero(ties[:, 0] >= 0):
        group = np.arange(ties[row, 0], ties[row, 1] + 1)
        columns[row, group] = group[order(judged.low[row, group], judged.high[row, group])]

    def take(matrix: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(matrix, columns, axis=1)

    return replace(
        judged,
        grade=take(judged.grade),
        low=take(judged.low),
        high=take(judged.high),
        listed=take(judged.listed),
    )


def _top(judged: Judged, k: int, unlisted: Ints) -> _Top:
    low = first_columns(judged.low, k, NO_HIT)
    high = first_columns(judged.high, k, NO_HIT)
    listed = first_columns(judged.listed, k, 0)
    outside = judged.pairs.copy()
    rows, columns = np.nonzero(listed)
    np.subtract.at(outside, (rows, low[rows, columns], high[rows, columns]), 1)
    open_hits = (~listed & (high > low)).sum(axis=1)
    outside[:, 0, -1] += np.maximum(unlisted - open_hits, 0)
    return _Top(low, high, outside.sum(axis=2), outside.sum(axis=1), k)


def _recall(bottom: _Top, top: _Top, threshold: int) -> Bounds:
    sure = (bottom.low >= threshold).sum(axis=1)
    possible = (top.high >= threshold).sum(axis=1)
    most_missed = bottom.outside_high[:, threshold:].sum(axis=1)
    least_missed = top.outside_low[:, threshold:].sum(axis=1)
    return Bounds(
        sure / np.maximum(sure + most_missed, 1), possible / np.maximum(possible + least_missed, 1)
    )


def _counts(grades: Grades, chosen: Flags, highest: int) -> Ints:
    counts = [((grades == grade) & chosen).sum(axis=1) for grade in range(highest + 1)]
    return np.stack(counts, axis=1)


def _ratio(gained: Floats, ideal: Floats, empty: float) -> Floats:
    """DCG / ideal within 0..1, `empty` where the ideal is 0."""
    return np.where(ideal > 0, np.minimum(gained / np.where(ideal > 0, ideal, 1.0), 1.0), empty)


def _ndcg_apart(bottom: _Top, top: _Top) -> Bounds:
    """The lowest DCG over the highest ideal, and the other way round: true, not always tight."""
    highest = bottom.outside_low.shape[1] - 1
    worst, best = dcg(bottom.low, highest), dcg(top.high, highest)
    most = _counts(bottom.high, bottom.high >= 0, highest) + bottom.outside_high
    least = _counts(top.low, top.low >= 0, highest) + top.outside_low
    return Bounds(
        _ratio(worst, ideal_dcg(most, bottom.k), 0.0), _ratio(best, ideal_dcg(least, top.k), 1.0)
    )


def _ndcg(top: _Top) -> Bounds:
    """Bounds for the order as it stands, exact up to MOST_CASES cases of open grades.

    Rows are taken together by the number of open hits of each kind (lowest, highest grade).
    """
    highest = top.outside_low.shape[1] - 1
    apart = _ndcg_apart(top, top)
    lower, upper = apart.lower.copy(), apart.upper.copy()
    kinds = [(a, b) for a in range(highest + 1) for b in range(a + 1, highest + 1)]
    signature = np.stack([((top.low == a) & (top.high == b)).sum(axis=1) for a, b in kinds], axis=1)
    groups, member = np.unique(signature, axis=0, return_inverse=True)
    for number, group in enumerate(groups):
        cases = _cases(kinds, group)
        if not group.any() or cases is None:
            continue
        members = np.flatnonzero(member.reshape(-1) == number)
        # In portions, so that memory does not grow with the number of questions.
        for start in range(0, len(members), _PORTION):
            rows = members[start : start + _PORTION]
            found = _exact(top, rows, kinds, group, cases)
            lower[rows], upper[rows] = found.lower, found.upper
    return Bounds(lower, upper)


Kind = tuple[int, int]


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write `total` as an ordered sum of `parts` whole numbers from 0."""
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _compositions(total - first, parts - 1)
    ]


def _cases(kinds: list[Kind], group: Ints) -> Ints | None:
    """For every kind of open hit, how many of its hits get which grade; None if too many.

    [cases, grades of the first kind, then of the second, ...].
    """
    size = 1.0
    for (low, high), count in zip(kinds, group, strict=True):
        for step in range(1, high - low + 1):
            size *= (count + step) / step
    if size > MOST_CASES:
        return None
    choices = [
        _compositions(int(count), high - low + 1)
        for (low, high), count in zip(kinds, group, strict=True)
    ]
    return np.array([sum(case, ()) for case in product(*choices)], dtype=np.int64)


def _exact(top: _Top, rows: Ints, kinds: list[Kind], group: Ints, cases: Ints) -> Bounds:
    """The extremes over all cases, for rows with the same number of open hits of each kind."""
    highest = top.outside_low.shape[1] - 1
    low, high = top.low[rows], top.high[rows]
    fixed = (low == high) & (low >= 0)
    certain = dcg(np.where(fixed, low, NO_HIT), highest)[:, None]
    counts = _counts(low, fixed, highest)[:, None, :] + np.zeros((1, len(cases), 1), np.int64)
    best, worst = certain + np.zeros((1, len(cases))), certain + np.zeros((1, len(cases)))
    weights, column = discounts(top.k), 0
    for (a, b), count in zip(kinds, group, strict=True):
        ranks = np.nonzero((low == a) & (high == b))[1].reshape(len(rows), int(count))
        start = np.zeros((len(rows), 1))
        cumulated = np.concatenate((start, np.cumsum(weights[ranks], axis=1)), axis=1)
        numbers = [(a + step, cases[:, column + step]) for step in range(b - a + 1)]
        for grade, number in numbers:
            counts[:, :, grade] += number
        worst += _placed(numbers, cumulated, highest)
        best += _placed(numbers[::-1], cumulated, highest)
        column += len(numbers)

    def ideal(outside: Ints) -> Floats:
        flat = (counts + outside[rows][:, None, :]).reshape(-1, highest + 1)
        return ideal_dcg(flat, top.k).reshape(len(rows), len(cases))

    return Bounds(
        _ratio(worst, ideal(top.outside_high), 1.0).min(axis=1),
        _ratio(best, ideal(top.outside_low), 0.0).max(axis=1),
    )


def _placed(numbers: list[tuple[int, Ints]], cumulated: Floats, highest: int) -> Floats:
    """DCG [rows, cases] of hits that get these grades in this order from the first open rank on."""
    gain = gains(highest)
    total = np.zeros((cumulated.shape[0], len(numbers[0][1])))
    start = np.zeros(len(numbers[0][1]), np.int64)
    for grade, number in numbers:
        total += gain[grade] * (cumulated[:, start + number] - cumulated[:, start])
        start = start + number
    return total

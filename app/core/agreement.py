"""How far reviewers agree on the same items: confusion, kappa, alpha, bias, overlap.

A table is [items, reviewers] of grades 0 to the highest, NaN where a reviewer did not judge. What
cannot be computed is a figure without a value that says why; it is never 0, 1 or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from app.core.metrics import Floats, Ints
from app.core.model import HIGHEST_GRADE
from app.core.resampling import Figure, figure

Weights = Literal["nominal", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]
WEIGHTS: tuple[Weights, ...] = ("nominal", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

NOT_TWICE = "no item was judged twice"
ONE_GRADE = "only one grade was used"
NONE_RELEVANT = "no item was found relevant"


def table_of(rows: Sequence[Sequence[int | None]], highest: int = HIGHEST_GRADE) -> Floats:
    """A table from one row of grades per item, None where a reviewer did not judge.

    Raises ValueError for a grade outside 0..`highest`.
    """
    table = np.array([[np.nan if g is None else g for g in row] for row in rows], dtype=np.float64)
    check(table, highest)
    return table


def check(table: Floats, highest: int = HIGHEST_GRADE) -> None:
    """Raise ValueError where a grade of a table is no whole number of 0..`highest`."""
    known = table[~np.isnan(table)]
    wrong = known[(known < 0) | (known > highest) | (known != np.floor(known))]
    if len(wrong):
        raise ValueError(f"grade {wrong[0]:g} is outside 0..{highest}")


def counts_of(table: Floats, highest: int = HIGHEST_GRADE) -> Ints:
    """How many reviewers gave each grade, [items, grades]; the table itself is checked."""
    check(table, highest)
    # A product with ones, for a sum along a short axis is several times slower.
    ones = np.ones(table.shape[1])
    counts = [(table == grade).astype(np.float64) @ ones for grade in range(highest + 1)]
    return np.stack(counts, axis=1).astype(np.int64)


def confusion(first: Floats, second: Floats, highest: int = HIGHEST_GRADE) -> Ints:
    """How often one reviewer gave the row's grade and another the column's, [grades, grades].

    `first` and `second` are their columns of a table; items only one of them judged do not count.
    """
    check(first, highest)
    check(second, highest)
    both = ~np.isnan(first) & ~np.isnan(second)
    matrix = np.zeros((highest + 1, highest + 1), dtype=np.int64)
    np.add.at(matrix, (first[both].astype(np.int64), second[both].astype(np.int64)), 1)
    return matrix


def kappa(matrix: Ints, weights: Weights) -> Figure:
    """Cohen's kappa of a confusion matrix, -1 to 1, with the number of items in it as n.

    1 - sum(w o) / sum(w e), with o the observed shares and e the product of the margins (Cohen
    1960; with weights of disagreement, Cohen 1968): w is 1, |i - j| or (i - j)^2 off the diagonal.
    """
    # Whoever is named first changes nothing, not even the resamples.
    if matrix.ravel().tolist() > matrix.T.ravel().tolist():
        matrix = matrix.T
    grades = len(matrix)
    cells = np.argwhere(matrix > 0)
    features = np.zeros((len(cells), grades * grades))
    features[np.arange(len(cells)), cells[:, 0] * grades + cells[:, 1]] = 1
    times = matrix[cells[:, 0], cells[:, 1]]
    return figure(features, times, _kappa(grades, weights), ONE_GRADE, NOT_TWICE)


def kappa_with_others(table: Floats, reviewer: int, weights: Weights) -> Figure:
    """Cohen's kappa of one reviewer (a column) with all others together, -1 to 1.

    The confusion matrices with each other reviewer are added up; n is the number of items that the
    reviewer and somebody else judged.
    """
    own, others = _beside(table, reviewer)
    kinds, times = _kinds(np.column_stack((own, others)))
    grades = others.shape[1]
    chosen = np.eye(grades)[kinds[:, 0]]
    features = (chosen[:, :, None] * kinds[:, None, 1:]).reshape(len(kinds), grades * grades)
    return figure(features, times, _kappa(grades, weights), ONE_GRADE, NOT_TWICE)


def _kappa(grades: int, weights: Weights) -> Callable[[Floats], Floats]:
    apart = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(np.float64)
    weight = {"nominal": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}[weights]

    def of(sums: Floats) -> Floats:
        matrix = sums.reshape(len(sums), grades, grades)
        total = matrix.sum(axis=(1, 2))
        rows, columns = matrix.sum(axis=2), matrix.sum(axis=1)
        observed = (matrix * weight).sum(axis=(1, 2))
        expected = np.einsum("si,ij,sj->s", rows, weight, columns)
        return _one_minus(observed * total, expected)

    return of


def alpha(table: Floats, level: Level, highest: int = HIGHEST_GRADE) -> Figure:
    """Krippendorff's alpha of a table, at most 1; n is the number of items judged twice or more.

    1 - (n - 1) sum(o d) / sum(n_c n_k d) over the coincidences o of grades of one item, each item
    with m grades weighed by 1 / (m - 1) (Krippendorff, Content Analysis, 2004, chapter 11). The
    distance d is 1 between unlike grades (nominal), (c - k)^2 (interval), or for ordinal grades the
    square of how many grades lie between, half of both ends included.
    """
    counts = _judged_twice(table, highest)
    kinds, times = _kinds(counts)
    grades = counts.shape[1]
    together = kinds[:, :, None] * kinds[:, None, :] - kinds[:, :, None] * np.eye(grades)
    together = together / np.maximum(kinds.sum(axis=1) - 1, 1)[:, None, None]
    features = together.reshape(len(kinds), grades * grades)
    return figure(features, times, _alpha(grades, level), ONE_GRADE, NOT_TWICE)


def _alpha(grades: int, level: Level) -> Callable[[Floats], Floats]:
    apart = np.subtract.outer(np.arange(grades), np.arange(grades)).astype(np.float64)

    def distance(used: Floats) -> Floats:
        if level != "ordinal":
            fixed = (apart != 0).astype(float) if level == "nominal" else apart**2
            return np.broadcast_to(fixed, (len(used), grades, grades))
        # The grades up to the middle of each: their difference is what lies between two.
        middle = np.cumsum(used, axis=1) - used / 2
        squared: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
        return squared

    def of(sums: Floats) -> Floats:
        matrix = sums.reshape(len(sums), grades, grades)
        used = matrix.sum(axis=2)
        far = distance(used)
        observed = (matrix * far).sum(axis=(1, 2))
        expected = (used[:, :, None] * used[:, None, :] * far).sum(axis=(1, 2))
        return _one_minus(observed * (used.sum(axis=1) - 1), expected)

    return of


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected, NaN where no disagreement could be expected."""
    defined = expected > 0
    found: Floats = np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)
    return found


def percent(table: Floats, highest: int = HIGHEST_GRADE) -> Figure:
    """The share of equal grades among all pairs of grades of one item, 0 to 1."""
    return _percent(*_kinds(_judged_twice(table, highest)))


def percent_between(matrix: Ints) -> Figure:
    """The same of two reviewers, from their confusion matrix."""
    return _percent(*_kinds_between(matrix))


def _percent(kinds: Ints, times: Ints) -> Figure:
    given = kinds.sum(axis=1)
    equal = (kinds * (kinds - 1)).sum(axis=1)
    features = np.column_stack((equal, given * (given - 1))).astype(np.float64)
    return figure(features, times, _ratio, NOT_TWICE, NOT_TWICE)


def overlap(table: Floats, threshold: int, highest: int = HIGHEST_GRADE) -> Figure:
    """Relevant to both, divided by relevant to either (Jaccard), over all pairs of reviewers.

    Relevant is a grade of at least `threshold`; n is the number of items judged twice or more.
    """
    return _overlap(*_kinds(_judged_twice(table, highest)), threshold)


def overlap_between(matrix: Ints, threshold: int) -> tuple[int, int, Figure]:
    """Items relevant to both of two reviewers, to either, and the first over the second."""
    both = int(matrix[threshold:, threshold:].sum())
    either = int(matrix.sum() - matrix[:threshold, :threshold].sum())
    return both, either, _overlap(*_kinds_between(matrix), threshold)


def _overlap(kinds: Ints, times: Ints, threshold: int) -> Figure:
    given, relevant = kinds.sum(axis=1), kinds[:, threshold:].sum(axis=1)
    other = given - relevant
    both = relevant * (relevant - 1) // 2
    either = (given * (given - 1) - other * (other - 1)) // 2
    features = np.column_stack((both, either)).astype(np.float64)
    return figure(features, times, _ratio, NONE_RELEVANT, NOT_TWICE)


def _kinds_between(matrix: Ints) -> tuple[Ints, Ints]:
    """The counts of grades of items two reviewers judged, and how often each stands there."""
    cells = np.argwhere(matrix > 0)
    counts = np.eye(len(matrix), dtype=np.int64)[cells].sum(axis=1)
    times = matrix[cells[:, 0], cells[:, 1]]
    kinds, place = np.unique(counts, axis=0, return_inverse=True)
    return kinds, np.bincount(place.reshape(-1), weights=times, minlength=len(kinds)).astype(
        np.int64
    )


def bias(table: Floats, reviewer: int, highest: int = HIGHEST_GRADE) -> Figure:
    """Mean of a reviewer's grades minus the mean of the others' on the same items.

    In grades, positive where the reviewer is the more generous; the others' grades of an item are
    averaged first, so that every item counts once.
    """
    own, others = _beside(table, reviewer, highest)
    kinds, times = _kinds(np.column_stack((own, others)))
    beside = kinds[:, 1:]
    mean = (beside * np.arange(highest + 1)).sum(axis=1) / np.maximum(beside.sum(axis=1), 1)
    features = np.column_stack((kinds[:, 0] - mean, np.ones(len(kinds))))
    return figure(features, times, _ratio, NOT_TWICE, NOT_TWICE)


def _ratio(sums: Floats) -> Floats:
    defined = sums[:, 1] > 0
    found: Floats = np.where(defined, sums[:, 0] / np.where(defined, sums[:, 1], 1.0), np.nan)
    return found


def _judged_twice(table: Floats, highest: int) -> Ints:
    counts = counts_of(table, highest)
    found: Ints = counts[counts.sum(axis=1) > 1]
    return found


def _beside(table: Floats, reviewer: int, highest: int = HIGHEST_GRADE) -> tuple[Ints, Ints]:
    """A reviewer's grades and the counts of the others' on the items both judged."""
    own = table[:, reviewer]
    others = counts_of(np.delete(table, reviewer, axis=1), highest)
    shared = ~np.isnan(own) & (others.sum(axis=1) > 0)
    return own[shared].astype(np.int64), others[shared]


def _kinds(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows of small whole numbers, and how often each stands there."""
    base = int(rows.max(initial=0)) + 1
    code = np.zeros(len(rows), dtype=np.int64)
    for column in range(rows.shape[1]):
        code = code * base + rows[:, column]
    _, first, times = np.unique(code, return_index=True, return_counts=True)
    return rows[first], times

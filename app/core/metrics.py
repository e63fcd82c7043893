"""Retrieval metrics at a cutoff, for one question or a hundred thousand at once.

Rows are questions, columns are ranks. Formulas: DCG with gain 2^grade - 1 and discount
log2(rank + 1) after Burges et al. (2005); the ideal sorts all grades of the question, never the
hits returned. Precision divides by K, also when fewer than K hits came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Grades = NDArray[np.int8]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: `grade` of a hit without an effective grade.
OPEN = -1
#: `grade`, `low` and `high` of a rank at which nothing was returned.
NO_HIT = -2

METRICS: tuple[str, ...] = ("precision", "recall", "rr", "ndcg", "hit")


@dataclass(frozen=True)
class Judged:
    """Rankings with what is known of their hits, and of all pairs of their questions.

    `grade`, `low`, `high`: [questions, depth], the effective grade (or OPEN, NO_HIT) and the
    possible grades. `settled`, `listed`: [questions, depth], whether the grade is agreed, and
    whether the pair is counted in `pairs`. `pairs`: [questions, grades, grades], the number of
    listed pairs whose possible grades run from the first index to the second. `used`:
    [questions, grades], the number of listed pairs per effective grade. `unlisted`: [questions],
    eligible chunks that nobody judged and no completeness covers, hits among them included.
    """

    grade: Grades
    low: Grades
    high: Grades
    settled: Flags
    listed: Flags
    pairs: Ints
    used: Ints
    unlisted: Ints

    @property
    def highest(self) -> int:
        """The highest grade of the scale."""
        return int(self.used.shape[1]) - 1


@dataclass(frozen=True)
class Scores:
    """Metrics at one K, each an array over questions, 0.0 to 1.0.

    Open pairs count as grade 0 here; `app.core.bounds` says how much hangs on that. `judged` is
    NaN without hits; `relevant` is r, the number of relevant chunks. Metrics of a question with
    r = 0 are NaN.
    """

    k: int
    precision: Floats
    recall: Floats
    rr: Floats
    ndcg: Floats
    hit: Floats
    judged: Floats
    relevant: Ints

    def metric(self, name: str) -> Floats:
        """The array of one of METRICS."""
        values: Floats = getattr(self, name)
        return values


def check_cutoff(k: int) -> None:
    """Raise ValueError unless K is a whole number of at least 1."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"K must be a whole number of at least 1, not {k!r}")


def gains(highest: int) -> Floats:
    """2^grade - 1 for every grade of the scale."""
    return np.exp2(np.arange(highest + 1, dtype=np.float64)) - 1


def discounts(k: int) -> Floats:
    """1 / log2(rank + 1) for ranks 1 to K."""
    values: Floats = 1 / np.log2(np.arange(2, k + 2, dtype=np.float64))
    return values


def dcg(grade: Grades, highest: int) -> Floats:
    """DCG of each row of grades; OPEN and NO_HIT gain nothing.

    Summed rank by rank, so that a value does not depend on the rows beside it, not even in the
    last bit, as it would with a matrix product.
    """
    gain = np.concatenate((gains(highest), [0.0, 0.0]))
    total = np.zeros(grade.shape[0])
    for column, discount in enumerate(discounts(grade.shape[1])):
        total += gain[grade[:, column]] * discount
    return total


def ideal_dcg(counts: Ints, k: int) -> Floats:
    """DCG of the best K of a question's pairs, from their number per grade [questions, grades]."""
    gain = gains(counts.shape[1] - 1)
    # How many pairs have at least grade 1, 2, ...: at rank i the ideal grade is how many exceed i.
    at_least = np.cumsum(counts[:, :0:-1], axis=1)
    total = np.zeros(counts.shape[0])
    longest = int(at_least[:, -1].max(initial=0))
    for column, discount in enumerate(discounts(min(k, longest))):
        total += gain[(at_least > column).sum(axis=1)] * discount
    return total


def first_columns(matrix: NDArray[Any], k: int, fill: int) -> NDArray[Any]:
    """The first K columns, filled up where the matrix is narrower."""
    if matrix.shape[1] >= k:
        return matrix[:, :k]
    return np.pad(matrix, ((0, 0), (0, k - matrix.shape[1])), constant_values=fill)


def reciprocal_rank(relevant: Flags) -> Floats:
    """1 / rank of the first true column of each row, 0 where there is none."""
    found = relevant.any(axis=1)
    return np.where(found, 1.0 / (relevant.argmax(axis=1) + 1), 0.0)


def score(judged: Judged, k: int, threshold: int) -> Scores:
    """Every metric at K; relevant means a grade of at least `threshold`.

    Raises ValueError for a K that is not a whole number of at least 1.
    """
    check_cutoff(k)
    grade = first_columns(judged.grade, k, NO_HIT)
    relevant = grade >= threshold
    found = relevant.sum(axis=1)
    r = judged.used[:, threshold:].sum(axis=1)
    ideal = ideal_dcg(judged.used, k)
    hits = (grade != NO_HIT).sum(axis=1)
    settled = first_columns(judged.settled, k, 0).sum(axis=1)
    defined = r > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return Scores(
            k=k,
            precision=np.where(defined, found / k, np.nan),
            recall=np.where(defined, found / r, np.nan),
            rr=np.where(defined, reciprocal_rank(relevant), np.nan),
            ndcg=np.where(defined, dcg(grade, judged.highest) / ideal, np.nan),
            hit=np.where(defined, (found > 0).astype(float), np.nan),
            judged=np.where(hits > 0, settled / hits, np.nan),
            relevant=r,
        )


def attainable(relevant: Ints, k: int) -> tuple[Floats, Floats]:
    """The highest Precision@K and Recall@K a question allows: min(r, K)/K and min(r, K)/r."""
    reachable = np.minimum(relevant, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return reachable / k, reachable / relevant


def judged_from_grades(
    rankings: Sequence[Sequence[int | None]],
    grades: Sequence[Sequence[int]],
    highest: int = 2,
) -> Judged:
    """Plain input for scoring without a ledger.

    `rankings` has the grade of each hit in rank order (None: open, and not among `grades`);
    `grades` has the grades of all judged pairs of each question, hits included.
    Raises ValueError for a grade outside 0..`highest`.
    """
    depth = max((len(ranking) for ranking in rankings), default=0)
    shape = (len(rankings), depth)
    grade = np.full(shape, NO_HIT, dtype=np.int8)
    low, high = grade.copy(), grade.copy()
    used = np.zeros((len(rankings), highest + 1), dtype=np.int64)
    pairs = np.zeros((len(rankings), highest + 1, highest + 1), dtype=np.int64)
    for row, (ranking, all_grades) in enumerate(zip(rankings, grades, strict=True)):
        for value in [*all_grades, *(g for g in ranking if g is not None)]:
            if not 0 <= value <= highest:
                raise ValueError(f"grade {value} is outside 0..{highest}")
        for value in all_grades:
            used[row, value] += 1
            pairs[row, value, value] += 1
        for rank, known in enumerate(ranking):
            grade[row, rank] = OPEN if known is None else known
            low[row, rank] = 0 if known is None else known
            high[row, rank] = highest if known is None else known
    unlisted = (grade == OPEN).sum(axis=1)
    return Judged(grade, low, high, grade >= 0, grade >= 0, pairs, used, unlisted)

"""Why one question scored as it did: what each rank adds, and the curves over K.

Plain input: the grades of the hits in rank order, None where a hit has no grade (or nothing was
returned), and the grades of all pairs of the question, hits included. An open hit counts as 0, as
under "unjudged as 0". Sums and values are those of `app.core.metrics`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.metrics import attainable, check_cutoff, discounts, gains, judged_from_grades, score
from app.core.model import HIGHEST_GRADE


@dataclass(frozen=True, slots=True)
class RankShare:
    """What one rank adds to nDCG@K, each part a share of the ideal DCG, 0.0 to 1.0.

    `grade` is None where the hit is open or nothing was returned. Over the ranks 1 to K `actual`
    sums to nDCG@K, `ideal` to 1.
    """

    rank: int
    grade: int | None
    actual: float
    ideal: float

    @property
    def loss(self) -> float:
        """What is lost at this rank; below 0 where it makes up for an earlier one."""
        return self.ideal - self.actual


def ndcg_shares(
    ranking: Sequence[int | None], grades: Sequence[int], k: int, highest: int = HIGHEST_GRADE
) -> tuple[RankShare, ...]:
    """The parts of nDCG@K, one per rank from 1 to K, also where fewer hits came back.

    (2^grade - 1) / log2(rank + 1), over the ideal DCG (see `app.core.metrics`). Empty where no pair
    of the question has a gain: nDCG@K is not defined then. Raises ValueError for a K below 1, a
    grade outside the scale, and a hit whose grade is not among `grades`.
    """
    check_cutoff(k)
    check_grades(ranking, grades, highest)
    gain, discount = gains(highest), discounts(k)
    best = sorted(grades, reverse=True)[:k]
    ideal = [float(gain[one] * discount[at]) for at, one in enumerate(best)]
    whole = sum(ideal)
    if whole == 0:
        return ()
    ideal += [0.0] * (k - len(ideal))
    known = [*ranking[:k], *[None] * (k - len(ranking))]
    return tuple(
        RankShare(
            rank=at + 1,
            grade=grade,
            actual=float(gain[grade or 0] * discount[at]) / whole,
            ideal=ideal[at] / whole,
        )
        for at, grade in enumerate(known)
    )


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Precision@K and Recall@K at one K, and the highest the question allows; 0.0 to 1.0."""

    k: int
    precision: float
    recall: float
    attainable_precision: float
    attainable_recall: float


def curves(
    ranking: Sequence[int | None],
    grades: Sequence[int],
    depth: int,
    threshold: int,
    highest: int = HIGHEST_GRADE,
) -> tuple[CurvePoint, ...]:
    """Precision and recall for K from 1 to `depth`, open hits as 0.

    Attainable are min(r, K)/K and min(r, K)/r, r relevant pairs. Empty where r is 0: neither is
    defined. Raises ValueError as `ndcg_shares`, for a depth below 1 too.
    """
    check_cutoff(depth)
    check_grades(ranking, grades, highest)
    judged = judged_from_grades([ranking], [grades], highest)
    points: list[CurvePoint] = []
    for k in range(1, depth + 1):
        scores = score(judged, k, threshold)
        if not scores.relevant[0]:
            return ()
        precision, recall = attainable(scores.relevant, k)
        points.append(
            CurvePoint(
                k,
                float(scores.precision[0]),
                float(scores.recall[0]),
                float(precision[0]),
                float(recall[0]),
            )
        )
    return tuple(points)


def check_grades(ranking: Sequence[int | None], grades: Sequence[int], highest: int) -> None:
    """Raise ValueError for a grade outside 0..`highest`, or of a hit and not among all.

    Grade 0 may be missing there: of a complete collection implicit zeros are not listed.
    """
    known = [grade for grade in ranking if grade is not None]
    for grade in (*known, *grades):
        if not 0 <= grade <= highest:
            raise ValueError(f"grade {grade} is outside 0..{highest}")
    missing = Counter(grade for grade in known if grade) - Counter(grades)
    if missing:
        raise ValueError(f"a hit has grade {min(missing)}, which no pair of the question has left")

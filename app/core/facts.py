"""Fact recall: how much of what a complete answer must state the hits within K support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.grades import PairLabel
from app.core.judgments import Judgment
from app.core.metrics import check_cutoff
from app.core.model import ChunkKey


@dataclass(frozen=True, slots=True)
class EvidenceOf:
    """What the judgments of one (question, chunk) quote, in their order and each quote once.

    `facts` are the ids of the facts that the quotes support.
    """

    quotes: tuple[str, ...] = ()
    facts: frozenset[str] = frozenset()


def evidence_in(judgments: Iterable[Judgment]) -> EvidenceOf:
    """The evidence of one pair, from its judgments in force that are not stale.

    Adjudications and blind grades speak; where there is neither, grades that were not given blind
    (as for the grade itself, see `app.core.grades.effective`). A grade of 0 supports nothing.
    """
    grades = [one for one in judgments if one.kind == "grade"]
    chosen = [one for one in grades if one.adjudication or one.blind] or grades
    evidence = [quoted for one in chosen if one.value > 0 for quoted in one.evidence]
    return EvidenceOf(
        tuple(dict.fromkeys(quoted.quote for quoted in evidence)),
        frozenset(fact for quoted in evidence for fact in quoted.facts),
    )


@dataclass(frozen=True, slots=True)
class FactRecall:
    """Fact recall@K of one question, 0.0 to 1.0.

    `value` is None while an open hit leaves it undecided; `lower` is then what is certain, with
    open hits as irrelevant, and `upper` what they may add. `supported` and `missing` are fact ids
    in the question's order, by what is certain.
    """

    k: int
    value: float | None
    lower: float
    upper: float
    supported: tuple[str, ...]
    missing: tuple[str, ...]


def fact_recall(
    facts: Sequence[str],
    hits: Sequence[tuple[ChunkKey, PairLabel]],
    supports: Mapping[ChunkKey, frozenset[str]],
    k: int,
    threshold: int,
) -> FactRecall | None:
    """Required facts supported by the relevant hits within K, divided by the question's facts.

    `facts` are the ids of the question's facts; `hits` its ranking, from rank 1; `supports` the
    facts that judgments of each chunk recorded, hit or not. None where the question has no facts
    or no judgment of it recorded one of them.

    A hit is relevant for certain where its lowest possible grade is; one that may or may not be
    (unjudged, stale, disputed across the threshold) is open, and may support every fact. Both ends
    speak of what was recorded: in a pooled label set the facts recorded for a relevant hit can
    only grow, so the value is a floor of what the hits hold. Raises ValueError for a K below 1.
    """
    check_cutoff(k)
    wanted = dict.fromkeys(facts)
    if not any(fact in wanted for recorded in supports.values() for fact in recorded):
        return None
    certain: set[str] = set()
    is_open = False
    for key, label in hits[:k]:
        if label.grade is not None and label.low >= threshold:
            certain |= supports.get(key, frozenset())
        elif label.grade is None and label.high >= threshold:
            is_open = True
    supported = tuple(fact for fact in wanted if fact in certain)
    missing = tuple(fact for fact in wanted if fact not in certain)
    lower = len(supported) / len(wanted)
    upper = 1.0 if is_open else lower
    value = lower if lower == upper else None
    return FactRecall(k, value, lower, upper, supported, missing)

"""What scoring an execution gives: outcomes per question and K, held as arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from app.core.grades import PairLabel
from app.core.labels import Kind
from app.core.metrics import METRICS, Flags, Floats, Ints
from app.core.model import Hit

Outcome = Literal["scored", "not applicable", "failed"]


@dataclass(frozen=True, slots=True)
class GradedHit:
    """A hit with what is known of it."""

    hit: Hit
    label: PairLabel


#: Gives the graded hits of a question, as deep as they were read.
Evidence = Callable[[str], tuple[GradedHit, ...]]


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The outcome of one question at one K.

    `values` holds each metric, None while open pairs leave it undecided (then `provisional`);
    `as_zero` the same with open pairs as grade 0. `bounds` run over the possible grades of every
    pair of the question; `known_bounds` over hits and listed pairs only, which in a pooled
    collection leaves out the chunks nobody has judged and no search returned within K.
    """

    question: str
    category: str
    k: int
    outcome: Outcome
    reason: str | None
    evidence: Evidence = field(compare=False, repr=False)
    values: Mapping[str, float | None] = field(default_factory=dict)
    as_zero: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    known_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: float | None = None
    relevant: int | None = None
    tied: bool = False

    @property
    def ranking(self) -> tuple[GradedHit, ...]:
        """The hits within K; read when they are first asked for."""
        return self.evidence(self.question)[: self.k]

    def relevant_hits(self, threshold: int) -> list[GradedHit]:
        """The hits within K whose effective grade is at least `threshold`."""
        return [g for g in self.ranking if g.label.grade is not None and g.label.grade >= threshold]

    @property
    def provisional(self) -> bool:
        """Whether a metric has no single number yet."""
        return any(value is None for value in self.values.values())


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What an unsupported question got back at one K. `accepted` is None without a threshold."""

    question: str
    k: int
    hits: int
    top_score: float | None
    threshold: float | None
    accepted: bool | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of an execution, and why it has a score or none."""

    question: str
    category: str
    split: str
    kind: Kind
    outcome: Outcome
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Every metric at one K, arrays over the scored questions in order.

    `values` is NaN where open pairs leave a metric undecided; `judged` is NaN without hits. The
    ends of bounds are pairs of arrays, lower and upper.
    """

    k: int
    values: Mapping[str, Floats]
    as_zero: Mapping[str, Floats]
    bounds: Mapping[str, tuple[Floats, Floats]]
    known_bounds: Mapping[str, tuple[Floats, Floats]]
    judged: Floats
    relevant: Ints
    tied: Flags

    @property
    def provisional(self) -> Flags:
        """Whether any metric of a question has no single number yet."""
        found = np.zeros(len(self.relevant), dtype=np.bool_)
        for name in METRICS:
            found |= np.isnan(self.values[name])
        return found

    def take(self, chosen: Flags) -> Numbers:
        """The same of the chosen questions."""

        def ends(
            bounds: Mapping[str, tuple[Floats, Floats]],
        ) -> dict[str, tuple[Floats, Floats]]:
            return {name: (low[chosen], high[chosen]) for name, (low, high) in bounds.items()}

        return Numbers(
            k=self.k,
            values={name: values[chosen] for name, values in self.values.items()},
            as_zero={name: values[chosen] for name, values in self.as_zero.items()},
            bounds=ends(self.bounds),
            known_bounds=ends(self.known_bounds),
            judged=self.judged[chosen],
            relevant=self.relevant[chosen],
            tied=self.tied[chosen],
        )


@dataclass(frozen=True, eq=False)
class Scored:
    """All outcomes of an execution under one label set and one scoring.

    `asked` are its questions in the order of the questions' file; `numbers` has one entry per K,
    over those of them whose outcome is `scored`.
    """

    asked: tuple[Asked, ...]
    numbers: Mapping[int, Numbers]
    unsupported: tuple[Acceptance, ...]
    evidence: Evidence = field(repr=False)

    @cached_property
    def scored(self) -> tuple[Asked, ...]:
        """The questions the arrays of `numbers` stand for."""
        return tuple(one for one in self.asked if one.outcome == "scored")

    @cached_property
    def questions(self) -> tuple[QuestionScore, ...]:
        """One record per question and K, the cut-offs of a question together."""
        parts = {
            k: iter(_records(numbers, self.scored, self.evidence))
            for k, numbers in self.numbers.items()
        }
        return tuple(
            next(parts[k])
            if one.outcome == "scored"
            else QuestionScore(
                one.question, one.category, k, one.outcome, one.reason, self.evidence
            )
            for one in self.asked
            for k in self.numbers
        )

    def of_split(self, split: str | None) -> Scored:
        """The same of the questions of one split; None: of all."""
        if split is None:
            return self
        names = {one.question for one in self.asked if one.split == split}
        chosen = np.array([one.question in names for one in self.scored], dtype=np.bool_)
        return Scored(
            asked=tuple(one for one in self.asked if one.question in names),
            numbers={k: numbers.take(chosen) for k, numbers in self.numbers.items()},
            unsupported=tuple(one for one in self.unsupported if one.question in names),
            evidence=self.evidence,
        )


def _records(numbers: Numbers, asked: Sequence[Asked], evidence: Evidence) -> list[QuestionScore]:
    values = {name: numbers.values[name].tolist() for name in METRICS}
    as_zero = {name: numbers.as_zero[name].tolist() for name in METRICS}
    bounds = {name: _pairs(numbers.bounds[name]) for name in METRICS}
    known = {name: _pairs(numbers.known_bounds[name]) for name in METRICS}
    judged, relevant = numbers.judged.tolist(), numbers.relevant.tolist()
    tied = numbers.tied.tolist()
    return [
        QuestionScore(
            question=one.question,
            category=one.category,
            k=numbers.k,
            outcome=one.outcome,
            reason=one.reason,
            evidence=evidence,
            values={name: _known(values[name][row]) for name in METRICS},
            as_zero={name: as_zero[name][row] for name in METRICS},
            bounds={name: bounds[name][row] for name in METRICS},
            known_bounds={name: known[name][row] for name in METRICS},
            judged=_known(judged[row]),
            relevant=relevant[row],
            tied=tied[row],
        )
        for row, one in enumerate(asked)
    ]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _pairs(ends: tuple[Floats, Floats]) -> list[tuple[float, float]]:
    return list(zip(ends[0].tolist(), ends[1].tolist(), strict=True))

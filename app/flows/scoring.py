"""Scores of rankings under labels: per question and K, means, unsupported questions apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from app.core.bounds import Bounds, bounds, ties_across, without_unsettled
from app.core.grades import PairLabel
from app.core.labels import Labels
from app.core.metrics import METRICS, NO_HIT, OPEN, Floats, Ints, Judged, score
from app.core.model import ChunkKey, Hit, Ranking

Outcome = Literal["scored", "not applicable", "failed"]
#: Bounds narrower than this are a number: float64 sums of the same grades differ by less.
_WIDTH = 1e-12


@dataclass(frozen=True, slots=True)
class GradedHit:
    """A hit with what is known of it."""

    hit: Hit
    label: PairLabel


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
    ranking: tuple[GradedHit, ...]
    values: Mapping[str, float | None] = field(default_factory=dict)
    as_zero: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    known_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: float | None = None
    relevant: int | None = None
    tied: bool = False

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
class Scored:
    """All outcomes of an execution under one label set and one scoring."""

    questions: tuple[QuestionScore, ...]
    unsupported: tuple[Acceptance, ...]


def score_rankings(
    rankings: Sequence[Ranking],
    labels: Labels,
    text_hashes: Mapping[ChunkKey, str],
    cutoffs: Sequence[int],
    threshold: float | None = None,
    split: str | None = None,
) -> Scored:
    """Score every question at every K; `split` keeps only the questions of one split.

    `text_hashes` are those of the eligible chunks of the execution's corpus. `threshold` cuts
    hits with a lower score. Outcomes come in the order of the questions' file; rankings of
    questions that are no longer there are left out.
    """
    by_question = {ranking.question: ranking for ranking in rankings}
    kept = [
        by_question[question.id]
        for question in labels.questions.values()
        if question.id in by_question and split in (None, question.split)
    ]
    rows = [_Row(r, _graded(r, labels, text_hashes, threshold), *_applies(r, labels)) for r in kept]
    scored = [row for row in rows if row.outcome == "scored"]
    judged = _judged(scored, labels, text_hashes)
    questions: list[QuestionScore] = []
    for k in cutoffs:
        numbers = iter(_numbers(judged, scored, labels, k))
        questions += [
            QuestionScore(
                question=row.ranking.question,
                category=labels.questions[row.ranking.question].category,
                k=k,
                outcome=row.outcome,
                reason=row.reason,
                ranking=row.hits[:k],
                **(next(numbers) if row.outcome == "scored" else {}),
            )
            for row in rows
        ]
    order = {row.ranking.question: number for number, row in enumerate(rows)}
    questions.sort(key=lambda q: (order[q.question], q.k))
    return Scored(tuple(questions), tuple(_acceptances(rows, labels, cutoffs, threshold)))


@dataclass(frozen=True, slots=True)
class _Row:
    ranking: Ranking
    hits: tuple[GradedHit, ...]
    outcome: Outcome
    reason: str | None


def _graded(
    ranking: Ranking, labels: Labels, text_hashes: Mapping[ChunkKey, str], threshold: float | None
) -> tuple[GradedHit, ...]:
    return tuple(
        GradedHit(hit, labels.label(ranking.question, hit.key, text_hashes.get(hit.key, "")))
        for hit in ranking.hits
        if threshold is None or hit.score >= threshold
    )


def _applies(ranking: Ranking, labels: Labels) -> tuple[Outcome, str | None]:
    if ranking.failure is not None:
        return "failed", ranking.failure
    kind = labels.kinds[ranking.question]
    if kind == "answerable":
        return "scored", None
    if kind != "unsupported":
        listed = labels.by_question[ranking.question].values()
        open_evidence = [p for p in listed if p.state in ("disputed", "stale")]
        if any(p.high >= labels.scoring.threshold for p in open_evidence):
            return "not applicable", "only disputed or stale evidence"
    return "not applicable", kind


def _judged(rows: Sequence[_Row], labels: Labels, text_hashes: Mapping[ChunkKey, str]) -> Judged:
    """The rankings as arrays, with the pairs of each question."""
    highest = labels.scoring.highest
    shape = (len(rows), max((len(row.hits) for row in rows), default=0))
    grade = np.full(shape, NO_HIT, dtype=np.int8)
    low, high = grade.copy(), grade.copy()
    settled, listed = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    pairs = np.zeros((len(rows), highest + 1, highest + 1), dtype=np.int64)
    used = np.zeros((len(rows), highest + 1), dtype=np.int64)
    unlisted = np.zeros(len(rows), dtype=np.int64)
    uncovered = sum(
        1 for text_hash in text_hashes.values() if text_hash not in labels.complete_hashes
    )
    for number, row in enumerate(rows):
        question = row.ranking.question
        known = labels.by_question[question]
        for label in known.values():
            pairs[number, label.low, label.high] += 1
            if label.grade is not None:
                used[number, label.grade] += 1
        if question in labels.covered:
            unlisted[number] = uncovered - sum(
                1
                for key in known
                if key in text_hashes and text_hashes[key] not in labels.complete_hashes
            )
        else:
            unlisted[number] = len(text_hashes) - sum(1 for key in known if key in text_hashes)
        for rank, graded in enumerate(row.hits):
            label = graded.label
            grade[number, rank] = OPEN if label.grade is None else label.grade
            low[number, rank], high[number, rank] = label.low, label.high
            settled[number, rank] = label.settled
            listed[number, rank] = graded.hit.key in known
    return Judged(grade, low, high, settled, listed, pairs, used, unlisted)


def _numbers(judged: Judged, rows: Sequence[_Row], labels: Labels, k: int) -> list[dict[str, Any]]:
    """What a QuestionScore holds beside its outcome, one per scored row."""
    if not rows:
        return []
    threshold = labels.scoring.threshold
    scores = score(judged, k, threshold)
    width = max(len(row.hits) for row in rows)
    raw = np.full((len(rows), width), np.nan)
    for number, row in enumerate(rows):
        raw[number, : len(row.hits)] = [graded.hit.score for graded in row.hits]
    ties = ties_across(raw, k)
    known = judged.unlisted if labels.scoring.completeness == "complete" else _none(judged)
    everything = bounds(judged, k, threshold, ties=ties)
    evidence = bounds(judged, k, threshold, known, ties)
    # Neither the order of equal scores nor an unsettled grade makes a score provisional.
    undecided = bounds(without_unsettled(judged), k, threshold, known)
    return [
        {
            "values": {
                name: _value(scores.metric(name), undecided[name], number) for name in METRICS
            },
            "as_zero": {name: float(scores.metric(name)[number]) for name in METRICS},
            "bounds": {name: _ends(everything[name], number) for name in METRICS},
            "known_bounds": {name: _ends(evidence[name], number) for name in METRICS},
            "judged": None if np.isnan(scores.judged[number]) else float(scores.judged[number]),
            "relevant": int(scores.relevant[number]),
            "tied": bool(ties[number, 0] >= 0),
        }
        for number in range(len(rows))
    ]


def _none(judged: Judged) -> Ints:
    return np.zeros_like(judged.unlisted)


def _value(values: Floats, undecided: Bounds, number: int) -> float | None:
    wide = undecided.upper[number] - undecided.lower[number] > _WIDTH
    return None if wide else float(values[number])


def _ends(found: Bounds, number: int) -> tuple[float, float]:
    return float(found.lower[number]), float(found.upper[number])


def _acceptances(
    rows: Sequence[_Row], labels: Labels, cutoffs: Sequence[int], threshold: float | None
) -> list[Acceptance]:
    """Unsupported questions that were searched; the top score is the uncut ranking's."""
    return [
        Acceptance(
            question=row.ranking.question,
            k=k,
            hits=len(row.hits[:k]),
            top_score=row.ranking.hits[0].score if row.ranking.hits else None,
            threshold=threshold,
            accepted=None if threshold is None else len(row.hits) > 0,
        )
        for row in rows
        if row.outcome != "failed" and labels.kinds[row.ranking.question] == "unsupported"
        for k in cutoffs
    ]

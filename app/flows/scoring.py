"""Scores of rankings under labels: per question and K, unsupported questions apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.core.bounds import Bounds, bounds, ties_across, without_unsettled
from app.core.labels import Kind, Labels
from app.core.metrics import METRICS, NO_HIT, OPEN, Flags, Floats, Judged, score
from app.core.model import ChunkKey, Ranking, ScoringSettings
from app.flows.scored import Acceptance, Asked, GradedHit, Numbers, Scored

#: Bounds narrower than this are a number: float64 sums of the same grades differ by less.
_WIDTH = 1e-12


def score_rankings(
    rankings: Sequence[Ranking],
    labels: Labels,
    text_hashes: Mapping[ChunkKey, str],
    cutoffs: Sequence[int],
    threshold: float | None = None,
    split: str | None = None,
    *,
    ties: bool = True,
) -> Scored:
    """Score every question at every K; `split` keeps only the questions of one split.

    `text_hashes` are those of the eligible chunks of the execution's corpus. `threshold` cuts
    hits with a lower score. Without `ties` the order of equal scores stands. Outcomes come in the
    order of the questions' file; rankings of questions that are no longer there are left out. What
    is in the store is scored there, by `app.flows.stored_scoring`.
    """
    by_question = {ranking.question: ranking for ranking in rankings}
    kept = [
        by_question[question.id]
        for question in labels.questions.values()
        if question.id in by_question and split in (None, question.split)
    ]
    graded = {r.question: graded_hits(r, labels, text_hashes, threshold) for r in kept}
    questions = tuple(_asked(ranking, labels) for ranking in kept)
    hits = {one.question: graded[one.question] for one in questions if one.outcome == "scored"}
    judged = _judged(hits, labels, text_hashes)
    raw = np.full(judged.grade.shape, np.nan)
    for row, found in enumerate(hits.values()):
        raw[row, : len(found)] = [one.hit.score for one in found]
    return Scored(
        asked=questions,
        numbers={k: numbers(judged, raw, k, labels.scoring, ties=ties) for k in cutoffs},
        unsupported=tuple(
            acceptance(
                one.question,
                k,
                len(graded[one.question]),
                max((hit.score for hit in by_question[one.question].hits), default=None),
                threshold,
            )
            for one in questions
            if one.outcome != "failed" and one.kind == "unsupported"
            for k in cutoffs
        ),
        evidence=graded.__getitem__,
    )


def graded_hits(
    ranking: Ranking, labels: Labels, text_hashes: Mapping[ChunkKey, str], threshold: float | None
) -> tuple[GradedHit, ...]:
    """The hits of a ranking with their labels, those below the threshold cut.

    What is left moves up: an order that is not that of the scores is cut anywhere.
    """
    kept = [hit for hit in ranking.hits if threshold is None or hit.score >= threshold]
    return tuple(
        GradedHit(
            hit if hit.rank == rank else replace(hit, rank=rank),
            labels.label(ranking.question, hit.key, text_hashes.get(hit.key, "")),
        )
        for rank, hit in enumerate(kept, start=1)
    )


def acceptance(
    question: str, k: int, hits: int, top_score: float | None, threshold: float | None
) -> Acceptance:
    """What an unsupported question got back: `hits` after the threshold, the top score uncut."""
    accepted = None if threshold is None else hits > 0
    return Acceptance(question, k, min(hits, k), top_score, threshold, accepted)


def _asked(ranking: Ranking, labels: Labels) -> Asked:
    question = labels.questions[ranking.question]
    kind = labels.kinds[question.id]
    listed = labels.by_question[question.id].values()
    waits = any(
        p.state in ("disputed", "stale") and p.high >= labels.scoring.threshold for p in listed
    )
    return asked(question.id, question.category, question.split, kind, ranking.failure, waits)


def asked(
    question: str, category: str, split: str, kind: Kind, failure: str | None, waits: bool
) -> Asked:
    """A question with its outcome; `waits`: it has evidence that is disputed or stale."""
    if failure is not None:
        return Asked(question, category, split, kind, "failed", failure)
    if kind == "answerable":
        return Asked(question, category, split, kind, "scored")
    reason = "only disputed or stale evidence" if waits and kind != "unsupported" else kind
    return Asked(question, category, split, kind, "not applicable", reason)


def _judged(
    hits: Mapping[str, Sequence[GradedHit]], labels: Labels, text_hashes: Mapping[ChunkKey, str]
) -> Judged:
    """The rankings as arrays, with the pairs of each question."""
    highest = labels.scoring.highest
    shape = (len(hits), max((len(found) for found in hits.values()), default=0))
    grade = np.full(shape, NO_HIT, dtype=np.int8)
    low, high = grade.copy(), grade.copy()
    settled, listed = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    pairs = np.zeros((len(hits), highest + 1, highest + 1), dtype=np.int64)
    used = np.zeros((len(hits), highest + 1), dtype=np.int64)
    unlisted = np.zeros(len(hits), dtype=np.int64)
    uncovered = {
        key for key, text_hash in text_hashes.items() if text_hash not in labels.complete_hashes
    }
    for row, (question, found) in enumerate(hits.items()):
        known = labels.by_question[question]
        for label in known.values():
            pairs[row, label.low, label.high] += 1
            if label.grade is not None:
                used[row, label.grade] += 1
        unknown = uncovered if question in labels.covered else text_hashes.keys()
        unlisted[row] = len(unknown) - sum(1 for key in known if key in unknown)
        for rank, graded in enumerate(found):
            label, key = graded.label, graded.hit.key
            grade[row, rank] = OPEN if label.grade is None else label.grade
            low[row, rank], high[row, rank] = label.low, label.high
            settled[row, rank] = label.settled
            listed[row, rank] = key in known
            # A hit without a text here is one more pair whose grade nobody knows.
            unlisted[row] += key not in known and key not in text_hashes
    return Judged(grade, low, high, settled, listed, pairs, used, unlisted)


def numbers(
    judged: Judged, raw: Floats, k: int, scoring: ScoringSettings, *, ties: bool = True
) -> Numbers:
    """Every metric at K with its bounds.

    `raw` are the hits' scores [questions, depth], NaN where nothing was returned. Without `ties`
    the order of equal scores is taken as it is.
    """
    scores = score(judged, k, scoring.threshold)
    groups = ties_across(raw, k) if ties else np.full((len(raw), 2), -1, dtype=np.int64)
    pooled = scoring.completeness != "complete"
    known = np.zeros_like(judged.unlisted) if pooled else judged.unlisted
    everything = bounds(judged, k, scoring.threshold, ties=groups)
    evidence = (
        bounds(judged, k, scoring.threshold, known, groups)
        if known is not judged.unlisted
        else everything
    )
    # Neither the order of equal scores nor an unsettled grade makes a score provisional.
    undecided = bounds(without_unsettled(judged), k, scoring.threshold, known)
    return Numbers(
        k=k,
        values={
            name: np.where(_wide(undecided[name]), np.nan, scores.metric(name)) for name in METRICS
        },
        as_zero={name: scores.metric(name) for name in METRICS},
        bounds={name: (everything[name].lower, everything[name].upper) for name in METRICS},
        known_bounds={name: (evidence[name].lower, evidence[name].upper) for name in METRICS},
        judged=scores.judged,
        relevant=scores.relevant,
        tied=groups[:, 0] >= 0,
    )


def _wide(found: Bounds) -> Flags:
    wide: Flags = found.upper - found.lower > _WIDTH
    return wide

"""Effective and possible grades of one (question, chunk), from its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.corpus import Corpus
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.questions import Question

State = Literal[
    "judged", "implicit", "unsettled", "disputed", "stale", "cannot-judge", "unjudged", "retired"
]


@dataclass(frozen=True, slots=True)
class PairLabel:
    """What is known of one (question, chunk).

    `grade` is the effective grade or None; `low` and `high` bound the possible grades.
    `departed`: the chunk has left the corpus; a relevant one stays a miss.
    """

    state: State
    grade: int | None
    low: int
    high: int
    departed: bool = False

    @property
    def settled(self) -> bool:
        """Whether one grade is agreed, given or by completeness."""
        return self.state in ("judged", "implicit", "retired")


def effective(judgments: Sequence[Judgment], threshold: int, highest: int) -> PairLabel:
    """One label from the live, fresh judgments of one (question, text).

    An adjudication wins; blind grades shut out those given while not blind; equal grades agree;
    different grades on one side of the threshold and less than 2 apart are unsettled (the lower
    is used); others are disputed.
    """
    grades = [j for j in judgments if j.kind == "grade"]
    chosen = [j for j in grades if j.adjudication] or [j for j in grades if j.blind] or grades
    if not chosen:
        if any(j.kind == "cannot-judge" for j in judgments):
            return PairLabel("cannot-judge", None, 0, highest)
        return PairLabel("unjudged", None, 0, highest)
    low, high = min(j.value for j in chosen), max(j.value for j in chosen)
    if low == high:
        return PairLabel("judged", low, low, high)
    if high - low < 2 and (low >= threshold) == (high >= threshold):
        return PairLabel("unsettled", low, low, high)
    return PairLabel("disputed", None, low, high)


def text_judged(event: Judgment, corpus: Corpus) -> object:
    """What a judgment speaks of: the text it was given for, or by hand the text its id has now."""
    chunk = corpus.chunks.get(event.key)
    return event.text_hash or (chunk.text_hash if chunk else event.key)


def is_fresh(event: Judgment, question: Question, guidelines: str | None) -> bool:
    """Whether a judgment was given for the question as it reads now, under these guidelines.

    `guidelines` is None where a change of them does not matter; what a line written by hand
    leaves out is taken to fit.
    """
    return event.question_hash in (None, question.hash) and (
        guidelines is None or event.guidelines in (None, guidelines)
    )


def live(judgments: Iterable[Placed[Judgment]], corpus: Corpus) -> list[Placed[Judgment]]:
    """The judgments in force: not replaced, the last of one reviewer on one question and text.

    Order is the ledger's; clocks are never asked.
    """
    events = list(judgments)
    authors = {p.event.event: p.event.author for p in events}
    replaced = {
        p.event.replaces
        for p in events
        # Nobody replaces another's judgment but by an adjudication, which wins anyway.
        if p.event.replaces and authors.get(p.event.replaces) == p.event.author
    }
    heads: dict[tuple[str, str, object, bool], Placed[Judgment]] = {}
    for placed in events:
        event = placed.event
        if event.event not in replaced:
            about = text_judged(event, corpus)
            heads[event.author, event.question, about, event.adjudication] = placed
    return [p for p in heads.values() if p.event.kind != "withdraw"]

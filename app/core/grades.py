"""Effective and possible grades of one (question, chunk), from its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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
    `departed`: the chunk has left the corpus; a relevant one stays a miss. `carried`: a judgment of
    a chunk that has left the corpus counts here, for this chunk holds its evidence.
    """

    state: State
    grade: int | None
    low: int
    high: int
    departed: bool = False
    carried: bool = False

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
    if len(judgments) == 1 and judgments[0].kind == "grade":
        value = judgments[0].value
        return pair_label("judged", value, value, value)
    grades = [j for j in judgments if j.kind == "grade"]
    chosen = [j for j in grades if j.adjudication] or [j for j in grades if j.blind] or grades
    if not chosen:
        unable = any(j.kind == "cannot-judge" for j in judgments)
        return pair_label("cannot-judge" if unable else "unjudged", None, 0, highest)
    low, high = min(j.value for j in chosen), max(j.value for j in chosen)
    if low == high:
        return pair_label("judged", low, low, high)
    if high - low < 2 and (low >= threshold) == (high >= threshold):
        return pair_label("unsettled", low, low, high)
    return pair_label("disputed", None, low, high)


@cache
def pair_label(state: State, grade: int | None, low: int, high: int) -> PairLabel:
    """A label of a chunk that is there; there are few, so each is made once."""
    return PairLabel(state, grade, low, high)


#: Of what one reviewer has one judgment in force: author, question, what it speaks of, and
#: whether it adjudicates.
Subject = tuple[str, str, object, bool]


def subject_of(event: Judgment, about: object) -> Subject:
    """The subject of a judgment that speaks of `about`."""
    return event.author, event.question, about, event.adjudication


def text_judged(event: Judgment, corpus: Corpus) -> object:
    """What a judgment speaks of: the text it was given for, or by hand the text its id has now."""
    if event.text_hash:
        return event.text_hash
    key = event.key
    chunk = corpus.chunks.get(key)
    return chunk.text_hash if chunk else key


def is_fresh(event: Judgment, question: Question, guidelines: str | None) -> bool:
    """Whether a judgment was given for the question as it reads now, under these guidelines.

    `guidelines` is None where a change of them does not matter; what a line written by hand
    leaves out is taken to fit.
    """
    return event.question_hash in (None, question.hash) and (
        guidelines is None or event.guidelines in (None, guidelines)
    )


def last_words(
    judgments: Iterable[Placed[Judgment]], corpus: Corpus
) -> dict[Subject, Placed[Judgment]]:
    """What every reviewer said last of every subject and did not replace, withdrawals included.

    Order is the ledger's; clocks are never asked.
    """
    events = list(judgments)
    replacing = [p.event for p in events if p.event.replaces]
    replaced: set[str | None] = set()
    if replacing:
        authors = {p.event.event: p.event.author for p in events}
        # Nobody replaces another's judgment but by an adjudication, which wins anyway.
        replaced = {e.replaces for e in replacing if authors.get(e.replaces or "") == e.author}
    said: dict[Subject, Placed[Judgment]] = {}
    for placed in events:
        event = placed.event
        if event.event not in replaced:
            said[subject_of(event, text_judged(event, corpus))] = placed
    return said


def live(judgments: Iterable[Placed[Judgment]], corpus: Corpus) -> list[Placed[Judgment]]:
    """The judgments in force: not replaced, the last of one reviewer on one question and text."""
    return in_force(last_words(judgments, corpus))


def in_force(said: Mapping[Subject, Placed[Judgment]]) -> list[Placed[Judgment]]:
    """The last words that are judgments: what was withdrawn is out."""
    return [placed for placed in said.values() if placed.event.kind != "withdraw"]

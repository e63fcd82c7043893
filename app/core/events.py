"""Events that are no judgments: `labels/<collection>/events/<author>.jsonl`, one a line.

Every kind is a record of its own, told apart by `kind`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, model_validator

from app.core.errors import InvalidInput, Problem
from app.core.judgments import Author, Retirement, _grade, _key
from app.core.ledger import Ledger, Placed
from app.core.model import ChunkKey
from app.core.questions import Id, Question, Text, parse_record
from app.core.text import shown
from app.core.validation import Record

Grade = Annotated[int, AfterValidator(_grade)]


def _some(value: list[str]) -> list[str]:
    if not value:
        raise ValueError("names no event")
    return value


class _Event(Record):
    """What events of every kind have: an id, a time (UTC, ISO 8601) and an author."""

    format: Literal[1]
    event: Id
    time: Text
    author: Author


class QuestionChange(_Event):
    """A question as somebody added or edited it: the whole record, not what differs.

    `base` is the digest of the record in questions.jsonl it was made over, None where the file had
    none; `replaces` the event of this question it follows, None for the first. `settles` are events
    that count no more and were known to who made this one. `searched` is what the corpus was
    searched for by who found the question unsupported.
    """

    kind: Literal["question"]
    question: Id
    value: Question
    base: Text | None = None
    replaces: Id | None = None
    note: Text | None = None
    searched: list[Text] = []
    settles: list[Id] = []

    @model_validator(mode="after")
    def _consistent(self) -> QuestionChange:
        if self.value.id != self.question:
            raise ValueError(f"value is the question {shown(self.value.id)}, not {self.question}")
        if self.searched and self.value.unsupported_as_of is None:
            raise ValueError("searched has no meaning without unsupported_as_of in value")
        return self


class QuestionRetirement(_Event):
    """A decision that a question is no longer asked, until a later change brings it back.

    `base`, `replaces` and `settles` are those of `QuestionChange`.
    """

    kind: Literal["retire-question"]
    question: Id
    base: Text | None = None
    replaces: Id | None = None
    note: Text
    settles: list[Id] = []


class Example(_Event):
    """A decision proposed as an example for the guidelines: the grade of a text for a question.

    `of` is the event of the decision; `text` is the chunk's text as it was decided on.
    """

    kind: Literal["example"]
    question: Id
    chunk: Annotated[list[str], AfterValidator(_key)]
    grade: Grade
    text: Text
    of: Id
    note: Text | None = None

    @property
    def key(self) -> ChunkKey:
        """The chunk's key."""
        return ChunkKey(*self.chunk)


class Restoration(_Event):
    """Retired labels count again: `restores` are the events that retired them."""

    kind: Literal["restore-label"]
    question: Id
    chunk: Annotated[list[str], AfterValidator(_key)]
    restores: Annotated[list[Id], AfterValidator(_some)]

    @property
    def key(self) -> ChunkKey:
        """The chunk's key."""
        return ChunkKey(*self.chunk)


class Practice(_Event):
    """A reviewer finished the practice items, or passed them over.

    `given` has the grade given to each item, by the item's id.
    """

    kind: Literal["practice"]
    given: dict[Id, Grade] = {}
    skipped: bool = False


Event = Retirement | Restoration | QuestionChange | QuestionRetirement | Example | Practice
#: The record of each kind.
KINDS: Mapping[str, type[Event]] = {
    "retire-label": Retirement,
    "restore-label": Restoration,
    "question": QuestionChange,
    "retire-question": QuestionRetirement,
    "example": Example,
    "practice": Practice,
}

EventT = TypeVar(
    "EventT", Retirement, Restoration, QuestionChange, QuestionRetirement, Example, Practice
)


def parse_event(value: dict[str, Any], place: str, problems: list[Problem]) -> Event | None:
    """The record of a line, by its kind; None with the reasons added to `problems`."""
    kind = value.get("kind")
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is not None:
        return parse_record(model, value, place, problems)
    if "kind" not in value:
        problems.append(Problem("the key kind is missing", place, "Add kind"))
        return None
    near = difflib.get_close_matches(str(kind), KINDS, n=1)
    remedy = f"Did you mean {near[0]}?" if near else f"Write one of {', '.join(KINDS)}"
    problems.append(Problem(f"kind is {shown(str(kind))}, which is no event", place, remedy))
    return None


def readable(ledger: Ledger[Event]) -> Sequence[Placed[Event]]:
    """Every event; where a line is refused, those of the files without one."""
    try:
        return ledger.read().events
    except InvalidInput:
        found: list[Placed[Event]] = []
        for path in sorted(ledger.folder.glob("*.jsonl")):
            with suppress(InvalidInput):
                found += ledger.read(path.name).events
        return found


def of_kind(events: Iterable[Placed[Event]], kind: type[EventT]) -> tuple[Placed[EventT], ...]:
    """Those events that are of one kind, in their order."""
    return tuple(Placed(one.event, one.place) for one in events if isinstance(one.event, kind))


def retirements(events: Iterable[Placed[Event]]) -> tuple[Placed[Retirement], ...]:
    """The labels that are retired by the events, in their order; without those brought back."""
    every = [*events]
    back = {name for one in of_kind(every, Restoration) for name in one.event.restores}
    return tuple(one for one in of_kind(every, Retirement) if one.event.event not in back)

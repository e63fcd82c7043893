"""The questions of a collection as a list to look through, and the history of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.errors import DeskError
from app.core.events import QuestionChange, QuestionRetirement
from app.core.question_events import QuestionEvent, question_events
from app.core.questions import Question
from app.core.text import shown
from app.flows.loading import Loaded
from app.flows.wording import count
from app.workspace import Collection

#: Kinds, as the list has them: those of `Labels.kinds`, retired, and unknown where a label is
#: refused.
KINDS = ("answerable", "no evidence yet", "undecided", "unsupported", "retired", "unknown")
_FIELDS = ("text", "need", "facts", "category", "tags", "source", "split")


@dataclass(frozen=True, slots=True)
class Listed:
    """A question in the list. `labels` are its labeled pairs, None where labels are refused."""

    question: Question
    kind: str
    labels: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the list is narrowed to; blank for anything. `words` must all stand in a question."""

    words: str = ""
    category: str = ""
    kind: str = ""
    split: str = ""
    source: str = ""


def listed(loaded: Loaded) -> list[Listed]:
    """Every question in order, then the retired ones."""
    try:
        labels = loaded.labels
    except DeskError:
        found = [Listed(one, "unknown", None) for one in loaded.questions.values()]
    else:
        found = [
            Listed(one, labels.kinds[name], len(labels.by_question[name]))
            for name, one in loaded.questions.items()
        ]
    retired = loaded.collection.asked().retired.values()
    return [*found, *(Listed(one, "retired", None) for one in retired)]


def narrowed(rows: Sequence[Listed], wanted: Wanted) -> list[Listed]:
    """Those that are wanted, in their order. Retired ones only where they are asked for."""
    words = wanted.words.casefold().split()
    return [
        row
        for row in rows
        if (wanted.kind in ("", row.kind) and (row.kind != "retired" or wanted.kind == "retired"))
        and wanted.category in ("", row.question.category)
        and wanted.split in ("", row.question.split)
        and wanted.source in ("", row.question.source)
        and all(word in _searched(row.question) for word in words)
    ]


def _searched(question: Question) -> str:
    parts = [question.id, question.text, question.need or "", *question.tags]
    return "\n".join([*parts, *(fact.text for fact in question.facts)]).casefold()


def counts_words(rows: Sequence[Listed]) -> str:
    """How many questions there are of each kind, in words."""
    kinds = Counter(row.kind for row in rows)
    asked = len(rows) - kinds["retired"]
    named = [f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind]]
    return f"{count(asked, 'question')}: {', '.join(named)}" if named else "No questions yet"


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of a question's history in words. `counts`: whether it is in effect."""

    event: str
    time: str
    author: str
    words: str
    note: str
    counts: bool


def history(collection: Collection, name: str) -> tuple[Entry, ...]:
    """What was done to a question, newest first; the file's own lines have no history here.

    Raises InvalidInput where a line of the events is refused.
    """
    said = [one.event for one in question_events(collection.events.read().events).get(name, [])]
    asked = collection.asked()
    chain = frozenset(asked.standing(name).chain)
    filed = asked.filed.get(name)
    by_base = {filed.question.record_digest: filed.question} if filed is not None else {}
    events = {event.event: event for event in said}
    return tuple(
        Entry(
            event.event,
            event.time,
            event.author,
            _words(event, events, by_base.get(event.base or "")),
            event.note or "",
            event.event in chain,
        )
        for event in reversed(said)
    )


def _words(event: QuestionEvent, events: dict[str, QuestionEvent], filed: Question | None) -> str:
    if isinstance(event, QuestionRetirement):
        return "retired it"
    last = events.get(event.replaces or "")
    before = _value(last, events) or filed
    if before is None:
        # (The record it was made over is no longer in the file.)
        return "added it" if event.base is None else f"saved it as {shown(event.value.text, 120)}"
    parts = ["brought it back"] if isinstance(last, QuestionRetirement) else []
    if event.value.unsupported_as_of != before.unsupported_as_of:
        parts.append(_mark(event))
    parts += [
        _difference(name, before, event.value)
        for name in _FIELDS
        if _differ(name, before, event.value)
    ]
    return "; ".join(parts) or "saved it unchanged"


def _mark(event: QuestionChange) -> str:
    if event.value.unsupported_as_of is None:
        return "took back that it is unsupported"
    searched = ", ".join(shown(one) for one in event.searched)
    return "marked it unsupported" + (f" (searched for {searched})" if searched else "")


def _value(event: QuestionEvent | None, events: dict[str, QuestionEvent]) -> Question | None:
    """What a question was after an event: behind a retirement, what it was before."""
    seen: set[str] = set()
    while isinstance(event, QuestionRetirement) and event.event not in seen:
        seen.add(event.event)
        event = events.get(event.replaces or "")
    return event.value if isinstance(event, QuestionChange) else None


def _differ(name: str, one: Question, other: Question) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def _difference(name: str, before: Question, after: Question) -> str:
    if name == "facts":
        return f"changed the facts ({len(before.facts)} before, {len(after.facts)} now)"
    old, new = (_shown(getattr(one, name)) for one in (before, after))
    return f"changed the {name} from {old} to {new}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else shown(str(value), 120)

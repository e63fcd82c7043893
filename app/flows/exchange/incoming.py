"""Events on their way into the ledger: held against what is there, then appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from app.core.errors import Problem
from app.core.events import KINDS, Event, parse_event
from app.core.grades import is_fresh, live, text_judged
from app.core.ids import event_id
from app.core.judgments import Judgment, file_name, now
from app.core.ledger import Snapshot
from app.core.questions import parse_record
from app.core.text import shown
from app.flows.events import event_line
from app.flows.exchange.label_rows import LabelRow
from app.flows.exchange.outcome import Outcome
from app.flows.loading import Loaded

AnyEvent = Judgment | Event
EventT = TypeVar("EventT", bound=AnyEvent)


@dataclass
class Incoming:
    """New events, each with the line of the file it comes from.

    `made` has, for those made of rows, what they judge: the text, or the key of a chunk without.
    `seen` are the events that were there when this was decided.
    """

    judgments: list[tuple[int, Judgment]] = field(default_factory=list)
    others: list[tuple[int, Event]] = field(default_factory=list)
    made: dict[str, object] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()

    def add(self, line: int, event: AnyEvent) -> None:
        if isinstance(event, Judgment):
            self.judgments.append((line, event))
        else:
            self.others.append((line, event))

    def without(self, lines: set[int]) -> None:
        self.judgments = [one for one in self.judgments if one[0] not in lines]
        self.others = [one for one in self.others if one[0] not in lines]

    def __len__(self) -> int:
        return len(self.judgments) + len(self.others)


def take_events(
    loaded: Loaded,
    lines: Iterable[tuple[int, dict[str, object] | str]],
    incoming: Incoming,
    found: Outcome,
) -> None:
    collection = loaded.collection
    there: dict[str, AnyEvent] = {p.event.event: p.event for p in collection.ledger.read().events}
    there |= {p.event.event: p.event for p in collection.events.read().events}
    for line, value in lines:
        found.read += 1
        where = f"{found.source}:{line}"
        problems: list[Problem] = []
        event: AnyEvent | None = None
        if isinstance(value, str):
            problems.append(Problem(f"the line {value}", where, "Correct the line"))
        elif value.get("kind") in KINDS:
            event = parse_event(value, where, problems)
        else:
            event = parse_record(Judgment, value, where, problems)
        earlier = there.get(event.event) if event else None
        if event is not None and earlier is None:
            there[event.event] = event
            incoming.add(line, event)
        elif event is not None and earlier == event:
            found.known += 1
        elif event is not None:
            message = f"the event {shown(event.event)} is there already and says something else"
            problems.append(Problem(message, where, "Give the line an id of its own"))
        for problem in problems:
            found.refused.add(problem, line)


def take_rows(
    loaded: Loaded, rows: list[LabelRow], incoming: Incoming, found: Outcome, *, blind: bool
) -> None:
    """Rows as judgments made now, unless the reviewer's label in force says the same."""
    there = loaded.collection.ledger.read().events
    incoming.seen = frozenset(placed.event.event for placed in there)
    in_force: dict[tuple[str, str, object], Judgment] = {
        (p.event.author, p.event.question, text_judged(p.event, loaded.corpus)): p.event
        for p in live(there, loaded.corpus)
        if not p.event.adjudication
    }
    made, pin = now(), loaded.collection.guidelines_pin()
    for row in rows:
        chunk = None if row.textless else loaded.corpus.chunks[row.key]
        about: object = chunk.text_hash if chunk else row.key
        question = loaded.questions[row.question]
        before = in_force.get((row.reviewer, row.question, about))
        fresh = before is not None and is_fresh(before, question, pin)
        if before is not None and fresh and before.kind == "grade" and before.grade == row.grade:
            found.known += 1
            continue
        value: dict[str, object] = {
            "format": 1, "event": event_id(), "time": made, "author": row.reviewer,
            "kind": "grade", "question": row.question,
            "chunk": [row.key.document, row.key.version, row.key.chunk],
            "grade": row.grade, "blind": blind, "question_hash": question.hash,
        }  # fmt: skip
        value |= {"text_hash": chunk.text_hash} if chunk else {"no_text": True}
        value |= {"note": row.note} if row.note else {}
        value |= {"replaces": before.event} if before else {}
        problems: list[Problem] = []
        event = parse_record(Judgment, value, f"{found.source}:{row.line}", problems)
        if event is not None:
            incoming.judgments.append((row.line, event))
            incoming.made[event.event] = about
        for problem in problems:
            found.refused.add(problem, row.line)


def write(loaded: Loaded, incoming: Incoming) -> int:
    """Append to the file of each author; the number of events appended.

    What somebody judged while this was read is not judged again: the later one is the one that was
    given by a person who saw it.
    """
    written = 0

    def judgments(mine: list[Judgment], snapshot: Callable[[], Snapshot[Judgment]]) -> list[bytes]:
        nonlocal written
        there = [placed.event for placed in snapshot().events]
        ids = {event.event for event in there}
        meanwhile = {
            (event.author, event.question, text_judged(event, loaded.corpus))
            for event in there
            if event.event not in incoming.seen
        }
        lines = [
            event_line(event)
            for event in mine
            if event.event not in ids
            and (event.author, event.question, incoming.made.get(event.event)) not in meanwhile
        ]
        written += len(lines)
        return lines

    def others(mine: list[Event], snapshot: Callable[[], Snapshot[Event]]) -> list[bytes]:
        nonlocal written
        there = {placed.event.event for placed in snapshot().events}
        lines = [event_line(event) for event in mine if event.event not in there]
        written += len(lines)
        return lines

    collection = loaded.collection
    for name, judged in _by_file(event for _, event in incoming.judgments).items():
        collection.ledger.append_lines(name, partial(judgments, judged))
    for name, said in _by_file(event for _, event in incoming.others).items():
        collection.events.append_lines(name, partial(others, said))
    return written


def _by_file(events: Iterable[EventT]) -> dict[str, list[EventT]]:
    found: dict[str, list[EventT]] = {}
    for event in events:
        found.setdefault(file_name(event.author), []).append(event)
    return found

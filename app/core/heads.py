"""What is in force, kept up event by event.

The same rule as `grades.live`, which reads all events at once: of one subject the last thing said
that its author has not replaced, in the order of the ledger; clocks are never asked.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable
from typing import Generic, TypeVar

from app.core.following import Position
from app.core.judgments import Judgment

SubjectT = TypeVar("SubjectT", bound=Hashable)
ValueT = TypeVar("ValueT")


class Heads(Generic[SubjectT, ValueT]):
    """The value in force of every subject. A subject names its author."""

    def __init__(self) -> None:
        """Nothing said yet."""
        self._said: dict[SubjectT, list[tuple[Position, str, ValueT]]] = {}
        self._subjects: dict[str, tuple[SubjectT, str]] = {}
        self._replaced: set[tuple[str, str]] = set()

    def add(
        self, subject: SubjectT, position: Position, event: Judgment, value: ValueT
    ) -> list[SubjectT]:
        """Take an event in; returns the subjects whose head may have changed."""
        insort(self._said.setdefault(subject, []), (position, event.event, value), key=_by_position)
        self._subjects[event.event] = subject, event.author
        touched = [subject]
        # Nobody replaces another's judgment but by an adjudication, which wins anyway.
        if event.replaces:
            self._replaced.add((event.replaces, event.author))
            before = self._subjects.get(event.replaces)
            if before is not None and before[1] == event.author and before[0] != subject:
                touched.append(before[0])
        return touched

    def of(self, subject: SubjectT) -> ValueT | None:
        """The value in force, None where everything said was replaced."""
        for _, name, value in reversed(self._said.get(subject, ())):
            if (name, self._subjects[name][1]) not in self._replaced:
                return value
        return None


def _by_position(said: tuple[Position, str, object]) -> Position:
    return said[0]

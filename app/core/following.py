"""Each event of a ledger once, as it is added: for what is kept up event by event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from app.core.ledger import EventT, FileNow, Ledger

#: Where an event stands: its file, and its place among the events of that file.
Position = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Added(Generic[EventT]):
    """What was added since the last time; after `anew` it is everything there is.

    `refused` is the number of lines that cannot be read, `notices` what is to be known of others.
    """

    events: list[tuple[Position, EventT]]
    anew: bool
    refused: int
    notices: tuple[str, ...]


class Follower(Generic[EventT]):
    """Follows the files of a ledger, or one of them. Not safe for threads."""

    def __init__(self, ledger: Ledger[EventT], name: str | None = None) -> None:
        """Follow the whole ledger, or the file `name` alone."""
        self._ledger = ledger
        self._name = name
        self._read: dict[str, tuple[int, int, EventT | None]] = {}
        self._ids: set[str] = set()
        self._begun = False

    def poll(self) -> Added[EventT]:
        """What was added since the last call; everything where an earlier line was changed."""
        files = self._ledger.files(self._name)
        anew = not self._begun or self._changed(files)
        if anew:
            self._read, self._ids, self._begun = {}, set(), True
        events = [one for file in files for one in self._added(file)]
        refused = sum(file.refused for file in files)
        notices = tuple(notice for file in files for notice in file.notices)
        return Added(events, anew, refused, notices)

    def _changed(self, files: list[FileNow[EventT]]) -> bool:
        """Whether something that was read has gone or reads otherwise."""
        there = {file.name: file for file in files}
        for name, (anew, _, last) in self._read.items():
            file = there.get(name)
            if file is None or file.anew != anew:
                return True
            if last is not None and not _still_there(last, file):
                return True
        return False

    def _added(self, file: FileNow[EventT]) -> Iterator[tuple[Position, EventT]]:
        _, count, _ = self._read.get(file.name, (0, 0, None))
        placed = file.events[count:] + ([file.last] if file.last else [])
        for number, one in enumerate(placed, start=count):
            # Two lines with one id are one event: a merge may bring a line twice.
            if one.event.event not in self._ids:
                self._ids.add(one.event.event)
                yield (file.name, number), one.event
        last = file.last.event if file.last else None
        self._read[file.name] = (file.anew, len(file.events), last)


def _still_there(last: EventT, file: FileNow[EventT]) -> bool:
    """Whether a line that had no line end stands there unchanged, with or without one."""
    if file.last is not None:
        return file.last.event == last
    return any(one.event == last for one in reversed(file.events[-50:]))

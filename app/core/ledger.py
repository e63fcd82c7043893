"""Append-only files of JSON lines, one file per author.

An append is one write, a flush and an fsync under a file lock; only then is it saved. Files
are parsed from where the last read ended, and anew where earlier lines were edited. A last line
that a crash cut short is never counted: it is reported, and moved to `<file>.torn` before the
next append.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from filelock import FileLock, Timeout

from app.core.appending import set_torn_aside, stamp, write
from app.core.errors import InvalidInput, LabelNotSaved, Problem
from app.core.jsonlines import parse_object
from app.core.text import canonical, shown

LOCK_SECONDS = 10.0


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a line of a ledger, its line end included."""
    return canonical(record).encode() + b"\n"


class Event(Protocol):
    """What every line of a ledger has."""

    @property
    def event(self) -> str:
        """The event's id: two lines with one id are one event."""


EventT = TypeVar("EventT", bound=Event)
Parse = Callable[[dict[str, Any], str, list[Problem]], EventT | None]


@dataclass(frozen=True, slots=True)
class Placed(Generic[EventT]):
    """An event and the `file:line` it stands on."""

    event: EventT
    place: str


@dataclass(slots=True)
class _File(Generic[EventT]):
    """What was read of a file: whole lines up to `offset` with their checksum, then `tail`.

    `anew` counts how often it was read from its beginning.
    """

    stamp: tuple[int, int, int] = (-1, -1, -1)
    offset: int = 0
    lines: int = 0
    checksum: int = 0
    tail: bytes = b""
    anew: int = 0
    events: list[Placed[EventT]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileNow(Generic[EventT]):
    """A file as it is: `events` is a list that only grows while `anew` stays the same.

    `last` is a whole last line that has no line end yet; `refused` the number of refused lines.
    """

    name: str
    anew: int
    events: list[Placed[EventT]]
    last: Placed[EventT] | None
    refused: int
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[EventT]):
    """All events in ledger order (file by file, line by line), and what was noticed."""

    events: tuple[Placed[EventT], ...]
    notices: tuple[str, ...]


class Ledger(Generic[EventT]):
    """The files of one folder. Safe for threads; appends are safe between processes."""

    def __init__(self, folder: Path, place: str, parse: Parse[EventT]) -> None:
        """`place` is the folder as messages show it; `parse` makes an event of an object."""
        self.folder = folder
        self._place = place
        self._parse = parse
        self._files: dict[str, _File[EventT]] = {}
        self._mutex = Lock()

    def read(self, name: str | None = None) -> Snapshot[EventT]:
        """Every event so far; those of the file `name` alone where it is given.

        Raises InvalidInput with every line that cannot be read. Lines are parsed once; a file
        that has not changed is not read.
        """
        with self._mutex:
            return self._read(name)

    def _read(self, name: str | None) -> Snapshot[EventT]:
        events: list[Placed[EventT]] = []
        notices: list[str] = []
        problems: list[Problem] = []
        seen: dict[str, Placed[EventT]] = {}
        paths = [self.folder / name] if name else sorted(self.folder.glob("*.jsonl"))
        for path in (path for path in paths if path.exists()):
            try:
                state = self._advance(path)
            except OSError as error:
                place, remedy = f"{self._place}/{path.name}", "Mend it or its permissions"
                message = f"the file cannot be read: {error.strerror}"
                problems.append(Problem(message, place, remedy))
                continue
            problems += state.problems
            placed = [*state.events]
            if state.tail.strip():
                self._read_tail(path, state, placed, problems, notices)
            for one in placed:
                first = seen.setdefault(one.event.event, one)
                if first is one:
                    events.append(one)
                elif first.event != one.event:
                    message = f"the event id {shown(one.event.event)} was used at {first.place}"
                    remedy = "Give this line an id of its own"
                    problems.append(Problem(f"{message} for something else", one.place, remedy))
        if problems:
            raise InvalidInput.of(problems)
        return Snapshot(tuple(events), tuple(notices))

    def files(self, name: str | None = None) -> list[FileNow[EventT]]:
        """Every file as it is now, or the file `name` alone; what is refused is only counted."""
        found: list[FileNow[EventT]] = []
        with self._mutex:
            paths = [self.folder / name] if name else sorted(self.folder.glob("*.jsonl"))
            for path in paths:
                try:
                    state = self._advance(path)
                except FileNotFoundError:
                    continue
                except OSError:
                    found.append(FileNow(path.name, -1, [], None, 1, ()))
                    continue
                last: list[Placed[EventT]] = []
                problems, notices = list(state.problems), list[str]()
                if state.tail.strip():
                    self._read_tail(path, state, last, problems, notices)
                one = last[0] if last else None
                refused = len(problems)
                found.append(
                    FileNow(path.name, state.anew, state.events, one, refused, tuple(notices))
                )
        return found

    def _advance(self, path: Path) -> _File[EventT]:
        """Parse the whole lines that were added; all of them where earlier ones were edited."""
        state = self._files.get(path.name)
        if state is not None and state.stamp == stamp(path):
            return state
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            found = status.st_ino, status.st_size, status.st_mtime_ns
            data = file.read()
        if state is None or zlib.crc32(data[: state.offset]) != state.checksum:
            state = self._files[path.name] = _File(anew=state.anew + 1 if state else 0)
        state.stamp = found
        self._take(path.name, state, data[state.offset :])
        return state

    def _take(self, name: str, state: _File[EventT], added: bytes) -> None:
        """Parse what was added behind the last whole line that was read."""
        whole, newline, state.tail = added.rpartition(b"\n")
        for raw in whole.split(b"\n") if newline else []:
            state.lines += 1
            if raw.strip():
                place = f"{self._place}/{name}:{state.lines}"
                self._read_line(raw, place, state.events, state.problems)
        if newline:
            state.offset += len(whole) + 1
            state.checksum = zlib.crc32(whole + newline, state.checksum)

    def _read_line(
        self,
        raw: bytes,
        place: str,
        events: list[Placed[EventT]],
        problems: list[Problem],
    ) -> None:
        value = parse_object(raw.rstrip(b"\r"))
        if isinstance(value, str):
            problems.append(Problem(f"the line {value}", place, "Correct or remove the line"))
        elif (event := self._parse(value, place, problems)) is not None:
            events.append(Placed(event, place))

    def _read_tail(
        self,
        path: Path,
        state: _File[EventT],
        placed: list[Placed[EventT]],
        problems: list[Problem],
        notices: list[str],
    ) -> None:
        """A last line without a line end: whole if an editor left it, torn if a crash did."""
        place = f"{self._place}/{path.name}:{state.lines + 1}"
        if isinstance(parse_object(state.tail), dict):
            self._read_line(state.tail, place, placed, problems)
        else:
            notices.append(
                f"{place}: the last line is cut short ({len(state.tail)} bytes) and not counted. A "
                "line that a crash cut was never confirmed as saved: the next save moves it to "
                f"{path.name}.torn. One that was whole before: put it back from git or a backup."
            )

    def append(
        self,
        name: str,
        record: Mapping[str, Any],
        check: Callable[[Snapshot[EventT]], None] | None = None,
    ) -> str | None:
        """Append one record to the file `name`; it is on the disk when this returns.

        `check` sees that file as it is under the lock and may raise, then nothing is written.
        Returns what was noticed (a torn line moved aside), or None. Raises LabelNotSaved.
        """
        line = line_of(record)

        def lines(snapshot: Callable[[], Snapshot[EventT]]) -> list[bytes]:
            if check is not None:
                check(snapshot())
            return [line]

        return self.append_lines(name, lines)

    def append_lines(
        self, name: str, lines: Callable[[Callable[[], Snapshot[EventT]]], Iterable[bytes]]
    ) -> str | None:
        """Append lines to the file `name` in one write. Returns and raises as `append`.

        A process that is killed inside a large write may leave the first of them.

        `lines` is called under the lock, with a function that reads the file as it is then; what
        it raises, nothing is written.
        """
        path = self.folder / name
        shown_path = f"{self._place}/{name}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
                data = b"".join(lines(lambda: self.read(name)))
                if not data:
                    return None
                notice = set_torn_aside(path, shown_path)
                before = stamp(path)
                write(path, data)
                self._know(path, before, data)
                return notice
        except Timeout:
            raise LabelNotSaved(
                f"another process has held the file for {LOCK_SECONDS:.0f} s; nothing was saved",
                place=shown_path,
                remedy="Try again",
            ) from None
        except OSError as error:
            raise LabelNotSaved(
                f"nothing was saved: {error.strerror or error}",
                place=shown_path,
                remedy="Free some space or mend the folder's permissions, then try again",
            ) from error

    def _know(self, path: Path, before: tuple[int, int, int] | None, data: bytes) -> None:
        """Take in what this process wrote, so that the file need not be read again for it."""
        with self._mutex:
            state = self._files.get(path.name)
            if state is not None and state.stamp == before and not state.tail:
                now = stamp(path)
                if now is not None and now[1] == state.offset + len(data):
                    self._take(path.name, state, data)
                    state.stamp = now

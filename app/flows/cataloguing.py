"""Points of a foreign collection as lines of its catalogue."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core.corpus import MAX_CHUNK_CHARACTERS, is_eligible
from app.core.errors import Problem
from app.core.jsonlines import parse_object
from app.core.model import ChunkKey, FieldValue
from app.core.payload import comparable, values_at
from app.core.text import canonical, fault_in_id, fault_in_text, shown, text_hash
from app.settings import CollectionSettings

PointId = str | int
#: Problems that are told one by one; the others are counted.
_MOST = 100


class _Unusable(Exception):
    """Why a point is no chunk."""


def order(point: PointId) -> tuple[int, int, str]:
    """The order points come in: numbers, then UUIDs."""
    return (0, point, "") if isinstance(point, int) else (1, 0, point)


@dataclass
class Reader:
    """Makes a line of every point, and remembers what cannot be one.

    `left_out` counts points that the filter keeps out and that are no chunk, or that of another
    point; `eligible` those it lets pass. A point that passes and is no chunk is a problem.
    """

    settings: CollectionSettings
    problems: list[Problem] = field(default_factory=list)
    refused: int = 0
    left_out: int = 0
    eligible: int = 0
    catalogued: int = 0
    _seen: dict[bytes, PointId] = field(default_factory=dict)
    _kept_out: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take the mapping from the settings."""
        source = self.settings.source
        self._roles: dict[str, str] = {str(role): path for role, path in source.fields.items()}
        self._version = source.version or self.settings.chunking.rule
        self._filters = self.settings.filters

    @property
    def fields(self) -> list[str]:
        """The payload paths that are read."""
        return [*self._roles.values(), *self._filters]

    def line(self, point: PointId, payload: Mapping[str, Any]) -> bytes | None:
        """The line of a point, None for one that is left out or refused."""
        fields = self._fields(payload)
        eligible = is_eligible(fields, self._filters)
        try:
            record = self._record(payload, point)
            key = ChunkKey(record["document"], record["version"], record["chunk"])
            self._once(key, point, eligible=eligible)
        except _Unusable as reason:
            if not eligible:
                self.left_out += 1
                return None
            self.refused += 1
            if len(self.problems) < _MOST:
                place = f"{self.settings.source.collection}, point {point}"
                remedy = "Correct the payload or source.fields, or keep it out by [eligible]"
                self.problems.append(Problem(str(reason), place, remedy))
            return None
        self.catalogued += 1
        self.eligible += eligible
        line = canonical({"format": 1, "point": point, **record, "fields": fields})
        return f"{line}\n".encode()

    def _fields(self, payload: Mapping[str, Any]) -> dict[str, FieldValue]:
        """What the filter compares, by the name it has there."""
        found: dict[str, FieldValue] = {}
        for name in self._filters:
            if values := comparable(values_at(payload, name)):
                found[name] = values[0] if len(values) == 1 else values
        return found

    def _record(self, payload: Mapping[str, Any], point: PointId) -> dict[str, str]:
        text = self._value(payload, "text")
        if not text.strip():
            raise _Unusable("the text is blank")
        if len(text) > MAX_CHUNK_CHARACTERS:
            raise _Unusable(f"the text has {len(text):,} characters, over {MAX_CHUNK_CHARACTERS:,}")
        rule = self.settings.source.key
        chunk = (
            str(point)
            if rule == "point-id"
            else text_hash(text)
            if rule == "text-hash"
            else self._id(payload, "chunk")
        )
        return {
            "document": self._id(payload, "document") if "document" in self._roles else chunk,
            "version": self._id(payload, "version") if "version" in self._roles else self._version,
            "chunk": chunk,
            "text": text,
            "title": self._value(payload, "title", optional=True),
            "section": self._value(payload, "section", optional=True),
        }

    def _value(self, payload: Mapping[str, Any], role: str, *, optional: bool = False) -> str:
        path = self._roles.get(role)
        found = values_at(payload, path) if path is not None else []
        value = found[0] if found else None
        if value is None and optional:
            return ""
        if isinstance(value, int) and not isinstance(value, bool) and role != "text":
            value = str(value)
        if not isinstance(value, str):
            state = "is missing" if value is None else f"is {type(value).__name__}, not text"
            raise _Unusable(f"the payload field {shown(str(path))} {state}")
        if fault := fault_in_text(value):
            raise _Unusable(f"the payload field {shown(str(path))} {fault}")
        return value

    def _id(self, payload: Mapping[str, Any], role: str) -> str:
        value = self._value(payload, role)
        if fault := fault_in_id(value):
            raise _Unusable(f"the {role} id {shown(value)} {fault}")
        return value

    def _once(self, key: ChunkKey, point: PointId, *, eligible: bool) -> None:
        """A key stands once. Only hashes of the keys are held, and the points that have them.

        Where the filter keeps out the point that came first, the one it lets pass has the key.
        """
        name = hashlib.blake2b(str(key).encode(), digest_size=16).digest()
        other = self._seen.get(name)
        if other is None:
            if not eligible:
                self._kept_out.add(name)
        elif eligible and name in self._kept_out:
            self._kept_out.remove(name)
            self.catalogued -= 1
            self.left_out += 1
        else:
            hint = "; key = 'point-id' tells them apart" if self._by_text else ""
            raise _Unusable(f"the chunk {key.short()} is also that of point {other}{hint}")
        self._seen[name] = point

    @property
    def _by_text(self) -> bool:
        return self.settings.source.key == "text-hash"


@dataclass
class Changes:
    """What is new, changed and gone, counted against the catalogue as it was."""

    before: Iterator[bytes]
    new: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    _read: tuple[int, int, str] | None = None

    def __post_init__(self) -> None:
        """Look at the first line."""
        self._next()

    def take(self, point: PointId, line: bytes | None) -> None:
        """Count one point; points come in their order, as the lines before did."""
        if line is not None and line == self._line:
            # A line holds its point: nothing need be read of one that is as it was.
            self.unchanged += 1
            self._next()
            return
        here = order(point)
        while self._line is not None and self._at < here:
            self.removed += 1
            self._next()
        known = self._line if self._line is not None and self._at == here else None
        if known is not None:
            self._next()
        if line is None:
            self.removed += known is not None
        elif known is None:
            self.new += 1
        elif known == line:
            self.unchanged += 1
        else:
            self.changed += 1

    def end(self) -> None:
        """What is left of the old catalogue is gone."""
        while self._line is not None:
            self.removed += 1
            self._next()

    def _next(self) -> None:
        self._line = next(self.before, None)
        self._read = None

    @property
    def _at(self) -> tuple[int, int, str]:
        """Where the point of the old line stands in the order, read once and only if need be."""
        if self._read is None:
            value = parse_object(self._line or b"")
            point = value.get("point") if isinstance(value, dict) else None
            # A line that was damaged counts as one that is gone.
            self._read = order(point) if isinstance(point, str | int) else (0, -1, "")
        return self._read


def lines_of(path: Path) -> Generator[bytes]:
    """The lines of a catalogue, none where there is none yet."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        yield from file

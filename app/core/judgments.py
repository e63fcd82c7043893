"""Judgments: what one reviewer said of one (question, chunk), as a line of the ledger."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import AfterValidator, Field, model_validator

from app.core.errors import InvalidInput
from app.core.ids import event_id
from app.core.model import HIGHEST_GRADE, ChunkKey
from app.core.questions import Id, Text
from app.core.text import digest, fault_in_id, shown
from app.core.validation import Record

Reason = Literal[
    "ambiguous question",
    "needs more context",
    "outside my expertise",
    "broken text",
    "other language",
]


_DEVICE = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
#: File systems take names of 255 bytes; `.jsonl.lock` and the like must fit too.
_LONGEST_NAME = 180


def _grade(value: object) -> object:
    if isinstance(value, bool) or (value is not None and not isinstance(value, int)):
        raise ValueError(f"{shown(repr(value))} is not a whole number")
    if isinstance(value, int) and not 0 <= value <= HIGHEST_GRADE:
        raise ValueError(f"{value} is outside 0..{HIGHEST_GRADE}")
    return value


def _key(value: list[str]) -> list[str]:
    names = ("document", "version", "chunk")
    if len(value) != len(names):
        raise ValueError("is not a list of document, version and chunk")
    for name, part in zip(names, value, strict=True):
        if fault := fault_in_id(part):
            raise ValueError(f"has a {name} id that {fault}")
    return value


def reviewer_id(name: str) -> str:
    """The identity behind a typed name: NFC, single blanks, case folded.

    Raises InvalidInput for a name that is blank, too long or holds control characters.
    """
    identity = unicodedata.normalize("NFC", " ".join(name.split())).casefold()
    fault = fault_in_id(identity)
    if fault is None and len(identity) > 60:
        fault = "has over 60 characters"
    if fault:
        raise InvalidInput(f"the name {shown(name)} {fault}", remedy="Enter a name")
    return identity


def _author(value: str) -> str:
    try:
        identity = reviewer_id(value)
    except InvalidInput:
        raise ValueError(f"{shown(value)} has over 60 characters") from None
    if value != identity:
        raise ValueError(f"{shown(value)} must be written {shown(identity)}")
    return value


Author = Annotated[Id, AfterValidator(_author)]


class Evidence(Record):
    """A quoted sentence, its offsets in the source document, and the facts it supports."""

    quote: Text
    start: int | None = None
    end: int | None = None
    facts: list[Id] = []


class Judgment(Record):
    """One event. Never changed in place: a later event names the one it `replaces`.

    `text_hash` and `question_hash` pin the label to what was read: when either changes, the
    label is stale. Lines written by hand may leave them out; such a label follows its key.
    `undoes` is the event that an undo took back. `no_text`: the label came from elsewhere and its
    chunk had no text here. It counts as evidence no search can find, until a chunk has its key.
    """

    format: Literal[1]
    event: Id
    time: Text
    author: Author
    kind: Literal["grade", "cannot-judge", "later", "withdraw"]
    question: Id
    chunk: Annotated[list[str], AfterValidator(_key)]
    grade: Annotated[object, AfterValidator(_grade)] = None
    reason: Reason | None = None
    note: Text | None = None
    evidence: list[Evidence] = Field(default_factory=list)
    blind: bool = True
    adjudication: bool = False
    text_hash: Text | None = None
    question_hash: Text | None = None
    guidelines: Text | None = None
    replaces: Id | None = None
    undoes: Id | None = None
    no_text: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Judgment:
        if self.no_text and self.text_hash is not None:
            raise ValueError("no_text contradicts text_hash; remove one")
        if (self.grade is not None) != (self.kind == "grade"):
            missing = self.kind == "grade"
            raise ValueError("the grade is missing" if missing else f"a {self.kind} has no grade")
        if (self.reason is not None) != (self.kind == "cannot-judge"):
            missing = self.kind == "cannot-judge"
            raise ValueError(
                "cannot-judge needs a reason" if missing else f"a {self.kind} has no reason"
            )
        return self

    @property
    def key(self) -> ChunkKey:
        """The chunk's key."""
        return ChunkKey(*self.chunk)

    @property
    def value(self) -> int:
        """The grade of a grade event, 0 to the highest grade."""
        if not isinstance(self.grade, int):
            raise TypeError(f"{self.event} is a {self.kind}, which has no grade")
        return self.grade


class Retirement(Record):
    """A decision that a (question, chunk) no longer counts: it is neither a miss nor open.

    With a `text_hash` it speaks of that text, wherever it stands. Without one it speaks of the
    chunk's id, and only while that has no text with a grade of its own: ids are given again.
    """

    format: Literal[1]
    event: Id
    time: Text
    author: Author
    kind: Literal["retire-label"]
    question: Id
    chunk: Annotated[list[str], AfterValidator(_key)]
    note: Text
    text_hash: Text | None = None

    @property
    def key(self) -> ChunkKey:
        """The chunk's key."""
        return ChunkKey(*self.chunk)

    @property
    def about(self) -> str | ChunkKey:
        """What it speaks of: the text's hash, without one the chunk's key."""
        return self.text_hash or self.key


def now() -> str:
    """UTC, to the millisecond, as ISO 8601 with a Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def file_name(author: str) -> str:
    """The ledger file of an author: the identity, percent-encoded where a path needs it."""
    name = quote(author, safe="@+").replace("_", "%5F").replace("%20", "_")
    # A hidden file is no ledger, and a device's name (`con`) is no file where git brings it next.
    if name.startswith(".") or _DEVICE.fullmatch(name.partition(".")[0]):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}~{digest(author)[:16]}"
    return f"{name}.jsonl"


def new_judgment(
    author: str,
    question: str,
    key: ChunkKey,
    *,
    grade: int | None = None,
    kind: Literal["grade", "cannot-judge", "later", "withdraw"] = "grade",
    reason: Reason | None = None,
    note: str | None = None,
    evidence: list[Evidence] | None = None,
    blind: bool = True,
    adjudication: bool = False,
    text_hash: str | None,
    question_hash: str | None,
    guidelines: str | None,
    replaces: str | None = None,
) -> Judgment:
    """A judgment made now, with an id of its own."""
    return Judgment(
        format=1,
        event=event_id(),
        time=now(),
        author=author,
        kind=kind,
        question=question,
        chunk=[key.document, key.version, key.chunk],
        grade=grade,
        reason=reason,
        note=note,
        evidence=evidence or [],
        blind=blind,
        adjudication=adjudication,
        text_hash=text_hash,
        question_hash=question_hash,
        guidelines=guidelines,
        replaces=replaces,
    )

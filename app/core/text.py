"""Text as identity: normalisation, hashes, and what no text or id may hold."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

#: An id is a name: longer ones are texts that stand in the wrong column.
LONGEST_ID = 1000

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Controls of C0 and C1, and those that turn the direction of what follows.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def normalise(text: str) -> str:
    """NFC, `\\n` line ends, no blanks at the end of a line or of the text."""
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def same_words(one: str, other: str) -> bool:
    """Whether two texts are one, blanks at line ends and spellings of characters aside."""
    return one == other or normalise(one) == normalise(other)


def text_hash(text: str) -> str:
    """Sha256 of the normalised text, 64 hexadecimal digits. Chunks with one hash are twins."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def canonical(value: Any) -> str:
    """One JSON text per value, whatever the order of its keys."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(value: Any) -> str:
    """Sha256 of the canonical JSON of a value, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def digest_of_list(items: Iterable[Any]) -> str:
    """The digest of a list, without holding its JSON."""
    made = hashlib.sha256(b"[")
    for number, item in enumerate(items):
        made.update(f"{',' if number else ''}{canonical(item)}".encode())
    made.update(b"]")
    return made.hexdigest()


def fault_in_text(text: str) -> str | None:
    """Why a text cannot be stored or hashed, or None."""
    if found := _SURROGATE.search(text):
        return f"holds the lone surrogate U+{ord(found.group()):04X}, which is no character"
    if "\x00" in text:
        return "holds a NUL character"
    return None


@lru_cache(maxsize=100_000)
def fault_in_id(value: str) -> str | None:
    """Why an id cannot be used, or None. Ids are opaque and case-sensitive, never blank."""
    if not value.strip():
        return "is blank"
    if fault := fault_in_text(value):
        return fault
    if value != value.strip():
        return "begins or ends with a blank"
    if _CONTROL.search(value):
        return "holds a control character"
    if len(value) > LONGEST_ID:
        return f"has {len(value):,} characters, over {LONGEST_ID:,}"
    return None


def shown(value: str, limit: int = 60) -> str:
    """A value inside a message: quoted, printable, cut at `limit` characters."""
    text = value if len(value) <= limit else value[: limit - 1] + "…"
    return json.dumps(text, ensure_ascii=bool(_SURROGATE.search(text) or _CONTROL.search(text)))

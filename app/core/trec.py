"""TREC files: qrels `question 0 key grade`, runs `question Q0 key rank score tag`.

A token holds no white space, so ids are percent-encoded where they need it, and a chunk's key is
`document|version|chunk`. Files are read line by line as bytes; ids are decoded by who knows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from app.core.model import ChunkKey

#: Characters an id keeps: neither white space nor what has a meaning in a TREC file.
_KEPT = "/:@+,;=~!$&()*[]"

#: number of the line from 1, and its columns.
Row = tuple[int, list[bytes]]


def token(name: str) -> str:
    """An id as one word of a TREC file."""
    return quote(name, safe=_KEPT)


def key_token(key: ChunkKey) -> str:
    """A chunk's key as one word: `document|version|chunk`, each part percent-encoded."""
    return "|".join(token(part) for part in (key.document, key.version, key.chunk))


def name_of(word: str) -> str | None:
    """The id a word stands for; None where it is no text."""
    try:
        return unquote_to_bytes(word).decode("utf-8")
    except UnicodeError:
        return None


def key_of(word: str) -> ChunkKey | None:
    """The key a word of three parts stands for, or None."""
    parts = [name_of(part) for part in word.split("|")]
    if len(parts) != 3 or not all(part and part.strip() for part in parts):
        return None
    document, version, chunk = (part or "" for part in parts)
    return ChunkKey(document, version, chunk)


def items_token(keys: Iterable[ChunkKey]) -> str:
    """Chunks' keys as one word for a link: separated by commas, those inside an id encoded.

    Each stands there once and in the order of keys: that of a ranking would tell the ranks.
    """
    return ",".join(key_token(key).replace(",", "%2C") for key in sorted(set(keys)))


def items_of(word: str) -> list[ChunkKey] | None:
    """The keys such a word stands for, in its order; None where a part of it is no key."""
    found = [key_of(part) for part in word.split(",")] if word else []
    keys = [key for key in found if key is not None]
    return keys if len(keys) == len(found) else None


def rows(path: Path) -> Iterator[Row]:
    """The lines of a file split at white space; blank lines and comments (`#`) are passed over.

    Raises OSError where the file cannot be read.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            words = (raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw).split()
            if words and not words[0].startswith(b"#"):
                yield number, words

"""Quotes of judgments marked in a text, which is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.documents import locate
from app.core.facts import EvidenceOf
from app.core.model import ChunkKey
from app.core.sentences import Span
from app.ui import text

#: What was quoted of each chunk of a question.
Marks = Mapping[ChunkKey, EvidenceOf]


def marked(words: str, marks: EvidenceOf | None) -> str:
    """A whole text as HTML."""
    return piece(words, 0, len(words), quoted(words, marks))


def quoted(words: str, marks: EvidenceOf | None) -> list[Span]:
    """Where the quotes of judgments stand in a text, in order and without overlap."""
    places = [locate(words, quote) for quote in marks.quotes] if marks else []
    found: list[Span] = []
    for start, end in sorted(place for place in places if place is not None):
        if found and start < found[-1].end:
            found[-1] = Span(found[-1].start, max(end, found[-1].end))
        else:
            found.append(Span(start, end))
    return found


def piece(words: str, start: int, end: int, spans: Sequence[Span]) -> str:
    """A part of a text as HTML, what lies in `spans` marked."""
    parts: list[str] = []
    at = start
    for span in spans:
        first, last = max(span.start, start), min(span.end, end)
        if first < last:
            parts += [text.escape(words[at:first]), "<mark>", text.escape(words[first:last])]
            parts.append("</mark>")
            at = last
    return "".join([*parts, text.escape(words[at:end])])

"""A chunk's text as HTML to be judged: literal, with marks a reviewer asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from app.core.sentences import Span
from app.ui.text import escape

#: Characters that are shown at once; the rest is one click away.
SHOWN = 20_000


def marked(
    text: str,
    *,
    sentences: Sequence[Span] = (),
    chosen: Collection[int] = (),
    words: Iterable[Span] = (),
) -> str:
    """The text as HTML, every character of it escaped.

    `sentences` can be clicked, by their number in `data-s`; those `chosen` are marked as evidence.
    `words` are marked as words of the question. What goes beyond `SHOWN` characters is folded.
    """
    spans = list(words)
    whole = _pieces(text, 0, min(len(text), SHOWN), sentences, chosen, spans)
    if len(text) <= SHOWN:
        return whole
    rest = _pieces(text, SHOWN, len(text), sentences, chosen, spans)
    return (
        f"{whole}<details><summary>Show the other {len(text) - SHOWN:,} characters</summary>"
        f"{rest}</details>"
    )


def _pieces(
    text: str,
    start: int,
    end: int,
    sentences: Sequence[Span],
    chosen: Collection[int],
    words: Sequence[Span],
) -> str:
    parts: list[str] = []
    at = start
    for number, span in enumerate(sentences):
        first, last = max(span.start, start), min(span.end, end)
        if first >= last:
            continue
        parts.append(_with_words(text, at, first, words))
        kind = "desk-sentence desk-chosen" if number in chosen else "desk-sentence"
        inside = _with_words(text, first, last, words)
        parts.append(f'<span class="{kind}" data-s="{number}">{inside}</span>')
        at = last
    parts.append(_with_words(text, at, end, words))
    return "".join(parts)


def _with_words(text: str, start: int, end: int, words: Sequence[Span]) -> str:
    parts: list[str] = []
    at = start
    # Words are in order and do not overlap: the first that may reach into the piece is one before.
    for number in range(max(0, bisect_left(words, Span(start, start)) - 1), len(words)):
        span = words[number]
        if span.start >= end:
            break
        first, last = max(span.start, at), min(span.end, end)
        if first >= last:
            continue
        parts.append(escape(text[at:first]))
        parts.append(f"<mark>{escape(text[first:last])}</mark>")
        at = last
    parts.append(escape(text[at:end]))
    return "".join(parts)

"""A text in sentences, to click one as evidence: rules of punctuation and lines, no model.

A blank line, a heading, a table row and a list item end what stands before them; in a code block
each line stands alone. Lines that were wrapped belong together, others stand alone too: so a text
without punctuation comes in its lines. Where a rule is in doubt, it does not cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


class Span(NamedTuple):
    """A piece of a text: the offset of its first character and the one behind its last."""

    start: int
    end: int


#: Start and end of lines that belong together, and the offset behind a list item's mark.
_Block = tuple[int, int, int]

#: A paragraph narrower than this was not wrapped.
_WRAPPED_FROM = 40
#: A word with more characters is no abbreviation.
_LONGEST_ABBREVIATION = 12

_LINE = re.compile(r"([^\n\r\u2028\u2029]*)(?:\r\n|[\n\r\u2028\u2029]|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦–—·]|(?:\d{1,3}|[A-Za-z])[.)]|\(\w{1,3}\))\s+(?=\S)")
_ALONE = re.compile(r" {0,3}#{1,6}(?=\s|$)|\s*\||[^\t]*\S\t+\S")
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"\w")

#: Marks that end a sentence whatever follows; others need a blank behind them.
_STRONG = "。！？｡．؟۔।॥።။។։׃᠃"
_MARKS = re.compile(f"[.!?…{_STRONG}]+")
_CLOSERS = re.compile(r"[\"'”’»›)\]}」』）】〉》*_`]*")
_ANY_END = re.compile(rf"[.!?…][\"'”’»›)\]}}*_`]*(?:\s|\Z)|[{_STRONG}]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Behind these a sentence goes on, whatever stands next.
_NEVER = _set(
    "mr mrs ms dr prof st hr fr vs cf approx ca bzw vgl resp incl excl viz ggf sog "
    "e.g i.e eg ie z.b d.h u.a s.o s.u p.ex"
)
#: And behind these where a number is next, as in No. 5.
_BEFORE_NUMBERS = _set(
    "no nos nr fig figs sec sect eq eqs art abs p pp vol ch tab abb ref ver v "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
#: German writes 3. Oktober.
_MONTHS = _set("januar februar märz april mai juni juli august september oktober november dezember")
#: Initials and the like: J. Smith, U.S. Navy; but not 5 p.m.
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")


def sentences(text: str) -> list[Span]:
    """The sentences of a text in order: every character that is not blank is in exactly one.

    No span begins or ends with a blank, or inside a character as people see it (a letter with its
    marks, a joined emoji). Time grows with the length of the text alone.
    """
    return [span for block in _blocks(text) for span in _cut(text, block)]


def behind_mark(text: str, span: Span) -> int:
    """Where the words of a span begin: behind the mark of a list item, where it has one."""
    item = _ITEM.match(text, span.start, span.end)
    return item.end() if item else span.start


def _blocks(text: str) -> Iterator[_Block]:
    prose: list[tuple[int, int]] = []
    fence = ""
    code = first = True
    for found in _LINE.finditer(text):
        line, content = found.span(1), found.group(1)
        words = content.strip()
        opened = _FENCE.match(content)
        item = _ITEM.match(content)
        # Indented behind a blank line is code, behind a list item it goes on.
        code = content.startswith(("    ", "\t")) and not item and (first or code)
        alone = bool(fence or opened or code or _ALONE.match(content) or not _LETTER.search(words))
        if fence and words.startswith(fence) and not words.strip(fence[0]):
            fence = ""
        elif opened and not fence:
            fence = opened.group(1)
        if alone or item:
            yield from _joined(text, prose)
            prose.clear()
        if not alone:
            prose.append(line)
        elif words:
            yield (*line, line[1])
        first = not words
    yield from _joined(text, prose)


def _joined(text: str, lines: Sequence[tuple[int, int]]) -> Iterator[_Block]:
    """Lines of one paragraph, put together where they were wrapped."""
    if not lines:
        return
    start, last = lines[0][0], lines[-1][1]
    item = _ITEM.match(text, *lines[0])
    words = item.end() if item else start
    widest = max(end - begin for begin, end in lines)
    wraps = widest >= _WRAPPED_FROM and _ANY_END.search(text, words, last)
    for (begin, end), following in pairwise(lines):
        word = _WORD.search(text, *following) if wraps else None
        # Wrapped: the next word had no room on the line.
        if word is None or end - begin + 1 + word.end() - word.start() <= widest:
            yield start, end, words
            start = words = following[0]
    yield start, last, words


def _cut(text: str, block: _Block) -> Iterator[Span]:
    start, end, words = block
    start = _skip_blanks(text, start, end)
    for mark in _MARKS.finditer(text, words, end):
        if mark.end() < end and text[mark.end()].isalnum() and mark.group()[-1] in ".!?…":
            continue  # example.com
        closed = _CLOSERS.match(text, mark.end(), end)
        behind = closed.end() if closed else mark.end()
        while behind < end and _belongs(text[behind]):
            behind += 1
        following = _skip_blanks(text, behind, end)
        if following == end:
            break
        if _ends(text, mark.group(), Span(max(words, start), mark.start()), behind, following):
            yield Span(start, behind)
            start = following
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield Span(start, end)


def _skip_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _belongs(character: str) -> bool:
    """Whether a character is drawn as part of the one before it."""
    return (
        unicodedata.category(character)[0] == "M"
        or character in "\u200c\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _ends(text: str, marks: str, before: Span, behind: int, following: int) -> bool:
    """Whether a sentence ends with these marks; `before` is the text from its start to them."""
    if _belongs(text[following]) or text[behind - 1] == "\u200d":
        return False
    lower, closed = text[following].islower(), behind > before.end + len(marks)
    if any(mark in _STRONG for mark in marks):
        # The quoted sentence is part of one that goes on.
        return not (closed and following == behind and text[following].isalpha())
    if following == behind:
        return False
    if marks[-1] in "!?":
        # "Why?" he asked.
        return not (closed and lower)
    return not lower and (len(marks) > 1 or not _abbreviated(text, before, following))


def _abbreviated(text: str, before: Span, following: int) -> bool:
    """Whether a dot belongs to the word before it."""
    tail = text[max(before.start, before.end - _LONGEST_ABBREVIATION - 1) : before.end]
    word = tail.split()[-1] if tail and not tail[-1].isspace() else ""
    if len(word) > _LONGEST_ABBREVIATION:
        return False
    word = word.lstrip("(\"'“„«[*_").casefold()
    found = _WORD.match(text, following, following + 2 * _LONGEST_ABBREVIATION)
    after = found.group().casefold() if found else ""
    if word.isdigit():
        return len(word) < 3 and after.rstrip(".,;:)") in _MONTHS
    if word in _BEFORE_NUMBERS:
        return after[:1].isdigit()
    return word in _NEVER or (
        bool(_INITIALS.fullmatch(word)) and word not in ("a.m", "p.m") and word != "i"
    )

"""Where the words of a question stand in a text. For the eye alone: it decides nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from app.core.sentences import Span

_WORD = re.compile(r"\w+")
#: Scripts that put no blanks between words: there, two characters are what can be looked for.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff]{2,}")
_ENDINGS = ("ingly", "edly", "ing", "ies", "ied", "es", "ed", "ly", "s", "e", "y")
#: Letters a word must keep when its ending is taken off.
_FEWEST = 4
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all also an and any are as at be been before both but by can could did do
        does each else for from had has have how if in into is it its just may more most must no
        nor not of off on one only or our out over own same she should so some such than that
        the their them then there these they this those through to too under until up use used
        using very was we were what when where which while who whom whose why will with would
        you your
        """,
    )
)


def _stem(word: str) -> str:
    """A word without its ending, the same for its forms; rough, and enough to look for it."""
    folded = unicodedata.normalize("NFC", word).casefold()
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= _FEWEST:
            return folded.removesuffix(ending)
    return folded


def _grams(text: str) -> set[str]:
    return {
        run[place : place + 2] for run in _UNSPACED.findall(text) for place in range(len(run) - 1)
    }


def question_words(question: str, text: str) -> list[Span]:
    """Spans of a text that hold a word of the question, in any of its forms, in order.

    Words that nearly every question has are passed over. Linear in the length of the text.
    """
    words = [word for word in _WORD.findall(question) if word.casefold() not in _COMMON]
    stems = {_stem(word) for word in words}
    found = [
        Span(match.start(), match.end())
        for match in _WORD.finditer(text)
        if match.group().casefold() not in _COMMON and _stem(match.group()) in stems
    ]
    return sorted({*found, *_runs(text, _grams(question))})


def _runs(text: str, grams: set[str]) -> Iterator[Span]:
    """Stretches of unspaced script that a question shares with a text."""
    for match in _UNSPACED.finditer(text) if grams else ():
        start: int | None = None
        for place in range(match.start(), match.end()):
            shared = place + 2 <= match.end() and text[place : place + 2] in grams
            if shared and start is None:
                start = place
            elif not shared and start is not None:
                yield Span(start, place + 1)
                start = None

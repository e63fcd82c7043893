"""Whether a quote stands in a text, white space and spellings of characters aside."""

from __future__ import annotations

import unicodedata

#: Places of one quote that are looked at before it is given up.
_MOST_PLACES = 1000
#: Between letters or digits these make one word or number of both: 5.5, re-run, don't.
_INNER = frozenset(".,:'’-_/+@")


def plain(text: str) -> str:
    """A text in Unicode NFC with one blank for all white space between two words."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def find(text: str, quote: str, start: int = 0, end: int | None = None) -> int | None:
    """The offset of the first place from `start` on where a quote stands; both made `plain`.

    A quote does not stand inside a longer word or number: "5 days" is not in "15 days", "under 5."
    not in "under 5.5". None also for a quote without words.
    """
    place = start - 1
    end = len(text) if end is None else end
    for _ in range(_MOST_PLACES if quote else 0):
        place = text.find(quote, place + 1, end)
        if place < 0:
            return None
        if _apart(text, place, quote) and not _goes_on(text, place + len(quote)):
            return place
    return None


def _apart(text: str, place: int, quote: str) -> bool:
    """Whether nothing before a place belongs to the word that begins there."""
    if place == 0 or not quote[0].isalnum():
        return True
    before = text[place - 1]
    return not (before.isalnum() or before in _INNER or before == "−")


def _goes_on(text: str, end: int) -> bool:
    """Whether the word that ends at a place goes on behind it."""
    last, behind = text[end - 1], text[end : end + 2]
    if unicodedata.combining(behind[:1] or " "):
        return True
    if last.isalnum() or last in _INNER:
        inner = behind[:1] in _INNER and last.isalnum()
        return behind[inner:][:1].isalnum()
    return False

"""What rows of TREC qrels and runs have in common: columns, words, numbers."""

from __future__ import annotations

import math

from app.core.errors import InvalidInput
from app.core.text import shown
from app.flows.wording import count

#: Ranks from here on are a mistake, and no number the columns hold.
_FARTHEST = 2**62


def text_of(word: bytes) -> str:
    """A word as text; raises InvalidInput where it is none."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("the line is not UTF-8", remedy="Save the file as UTF-8") from None


def require_columns(words: list[bytes], number: int, wanted: str) -> None:
    """Raise InvalidInput where a line has too few columns."""
    if len(words) < number:
        raise InvalidInput(
            f"the line has {count(len(words), 'column')}, not {number}", remedy=f"Write: {wanted}"
        )


def numbers(score: bytes, rank: bytes, *, by_rank: bool) -> tuple[float, int]:
    """The score and the rank of a row, rank 0 unless `by_rank`; raises InvalidInput."""
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(
            f"the score {shown(score.decode('utf-8', 'replace'))} is no number",
            remedy="Correct the line",
        )
    try:
        place = int(rank) if by_rank else 0
    except ValueError:
        place = _FARTHEST
    if abs(place) < _FARTHEST:
        return value, place
    raise InvalidInput(
        f"the rank {shown(rank.decode('utf-8', 'replace'))} is no whole number",
        remedy="Correct the line, or order by score: --order score",
    )

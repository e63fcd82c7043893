"""Other grading scales: an explicit mapping of their grades to those of this program."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.core.errors import InvalidInput
from app.core.model import HIGHEST_GRADE
from app.core.text import shown

#: A grade as files have it, to one of ours; None: rows with it are left out.
Scale = Mapping[int, int | None]

OURS: Scale = {grade: grade for grade in range(HIGHEST_GRADE + 1)}


def parse_scale(words: str, highest: int = HIGHEST_GRADE) -> dict[int, int | None]:
    """A mapping such as `0=0,1=1,2=1,3=2`; `-1=skip` leaves rows out.

    Raises InvalidInput for anything else, a grade named twice, or one above `highest`.
    """
    scale: dict[int, int | None] = {}
    for part in words.split(","):
        found = re.fullmatch(r"\s*(-?\d{1,9})\s*=\s*(\d{1,9}|skip)\s*", part)
        if not found:
            raise InvalidInput(
                f"{shown(part)} is not a mapping of one grade to another",
                remedy="Write them as 0=0,1=1,2=1,3=2; -1=skip leaves rows out",
            )
        theirs = int(found[1])
        ours = None if found[2] == "skip" else int(found[2])
        if theirs in scale:
            raise InvalidInput(
                f"the grade {theirs} is mapped twice", remedy="Name every grade once"
            )
        if ours is not None and ours > highest:
            raise InvalidInput(
                f"{shown(part)} maps to {ours}, which is outside 0..{highest}",
                remedy=f"Map to a grade from 0 to {highest}, or to skip",
            )
        scale[theirs] = ours
    return scale


def scale_words(scale: Scale) -> str:
    """A mapping as it is written."""
    return ",".join(f"{a}={'skip' if b is None else b}" for a, b in sorted(scale.items()))


def grade_of(value: object) -> int | None:
    """The whole number a cell or a word holds, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    found = re.fullmatch(r"\s*([+-]?\d{1,9})(?:\.0+)?\s*", str(value))
    return int(found[1]) if found else None

"""Paths into a payload, as Qdrant reads them: `meta.lang`, `tags[].name`, `parts[0]`, `"a.b"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from app.core.text import fault_in_text, shown

_NAME = r'(?:[\w-]+|"[^"]+")'
_STEP = re.compile(rf"{_NAME}|\[\d*\]")
_PATH = re.compile(rf"{_NAME}(?:\[\d*\])*(?:\.{_NAME}(?:\[\d*\])*)*")

#: What a path goes into, step by step: a name, a place in a list, or all of a list (None).
Steps = tuple[str | int | None, ...]


@lru_cache(maxsize=256)
def steps(path: str) -> Steps:
    """The steps of a path; raises ValueError for what Qdrant would refuse."""
    if not _PATH.fullmatch(path):
        raise ValueError(
            f"{shown(path)} is not a payload path such as meta.lang, tags[].name, parts[0] or "
            '"a name"'
        )
    return tuple(_step(found) for found in _STEP.findall(path))


def _step(found: str) -> str | int | None:
    if not found.startswith("["):
        return found.strip('"')
    return int(found[1:-1]) if found != "[]" else None


def outermost(path: str) -> str:
    """The first name of a path, as it stands there."""
    found = _STEP.match(path)
    return found.group() if found else path


def values_at(payload: Any, path: str) -> list[Any]:
    """Every value a path leads to."""
    return list(_values(payload, steps(path)))


def comparable(values: list[Any]) -> list[str | int | float | bool]:
    """What a filter can find among them: a list among them stands for its elements.

    Filters hold texts, whole numbers, true and false. What else is there equals none of these.
    """
    each = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return [
        one
        for one in each
        if isinstance(one, int) or (isinstance(one, str) and not fault_in_text(one))
    ]


def _values(value: Any, left: Steps) -> Iterator[Any]:
    if not left:
        yield value
        return
    step, rest = left[0], left[1:]
    if isinstance(step, str):
        if isinstance(value, dict) and step in value:
            yield from _values(value[step], rest)
    elif isinstance(value, list):
        for one in value if step is None else value[step : step + 1]:
            yield from _values(one, rest)

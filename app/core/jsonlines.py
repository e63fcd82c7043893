"""Reading JSON lines with the place of everything that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import Problem
from app.core.text import shown


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number from 1, and its object."""

    number: int
    value: dict[str, Any]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_duplicate(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {shown(twice)} stands twice")
    return value


#: Made once: a ledger has a hundred thousand lines.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_duplicate)


def parse_object(raw: bytes) -> dict[str, Any] | str:
    """The object on a line, or the reason why there is none; a byte order mark is passed over."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (byte {error.start + 1} of the line)"
    except json.JSONDecodeError as error:
        return f"is not JSON ({error.msg.removesuffix(' at')} at column {error.colno})"
    except (ValueError, RecursionError) as error:
        return f"is not usable JSON ({error})"
    if not isinstance(value, dict):
        return "is JSON, but not an object in braces"
    return value


def read_objects(path: Path, place: str, problems: list[Problem]) -> Iterator[Line]:
    """Every object of a file, in order; blank lines are passed over.

    Lines that cannot be read are added to `problems` as `place:line` and left out; so is a file
    that cannot be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        remedy = "Put a readable file of JSON lines there"
        problems.append(Problem(f"the file cannot be read: {error.strerror}", place, remedy))
        return
    with file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip(b"\xef\xbb\xbf \t\r\n"):
                continue
            value = parse_object(raw.rstrip(b"\r\n"))
            if isinstance(value, str):
                problems.append(
                    Problem(f"the line {value}", f"{place}:{number}", "Correct the line")
                )
            else:
                yield Line(number, value)

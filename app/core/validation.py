"""Pydantic's findings in our words: the key, the cause, the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from app.core.errors import Problem
from app.core.text import shown


class Record(BaseModel):
    """A frozen record that refuses unknown keys and takes no type for another."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def problems_in(
    error: ValidationError, place: str, known: Iterable[str] = (), remedy: str = "Correct it"
) -> list[Problem]:
    """One problem per finding. `known` are the keys to suggest for an unknown one."""
    return [_problem(detail, place, tuple(known), remedy) for detail in error.errors()]


def _problem(detail: ErrorDetails, place: str, known: tuple[str, ...], remedy: str) -> Problem:
    key = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    if kind == "extra_forbidden":
        name = str(detail["loc"][-1])
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Remove it"
        return Problem(f"unknown key {shown(key)}", place, hint)
    if kind == "missing":
        return Problem(f"the key {key} is missing", place, f"Add {key}")
    if kind == "value_error":
        message = str(context.get("error", detail["msg"]))
        return Problem(f"{key} {message}" if key else message, place, remedy)
    if kind == "literal_error":
        return Problem(f"{key} is {shown(str(value))}, not {context['expected']}", place, remedy)
    said = "null" if value is None else shown(repr(value))
    wanted = detail["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return Problem(f"{key} is {said}, not {wanted}", place, remedy)

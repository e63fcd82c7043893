"""Runs and qrels in DataFrames and mappings, as notebooks have them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from app.core.errors import InvalidInput
from app.core.text import shown
from app.flows.exchange.plain_files import Row


def run_rows(run: Any) -> tuple[list[Row], bool]:
    """The rows of a run, and whether it has scores but no order of its own.

    Raises InvalidInput for anything but a DataFrame with question, chunk and rank or score, or a
    mapping of questions to chunks in order or to scores by chunk.
    """
    if isinstance(run, pd.DataFrame):
        _require(run, ("question", "chunk"))
        by_score = "rank" not in run and "score" in run
        ranks = run["rank"].map(_rank) if "rank" in run else [None] * len(run)
        scores = run["score"].map(_score) if "score" in run else [None] * len(run)
        columns = run["question"].map(_id), run["chunk"].map(_id), ranks, scores
        return list(zip(*columns, strict=True)), by_score
    if not isinstance(run, Mapping):
        raise InvalidInput(
            f"a run is a file, a DataFrame or a mapping, not {type(run).__name__}",
            remedy="Give questions with their chunks in order",
        )
    rows: list[Row] = []
    for question, chunks in run.items():
        rows += _rows(_id(question), chunks)
    return rows, any(isinstance(chunks, Mapping) for chunks in run.values())


def _rows(question: str, chunks: Any) -> Iterator[Row]:
    if isinstance(chunks, Mapping):
        for chunk, score in chunks.items():
            yield question, _id(chunk), None, _score(score)
    elif isinstance(chunks, Iterable) and not isinstance(chunks, str | bytes):
        for rank, chunk in enumerate(chunks, start=1):
            yield question, _id(chunk), rank, None
    else:
        raise InvalidInput(
            f"what {shown(question)} got back is {type(chunks).__name__}, no list of chunks",
            remedy="Give chunks in order, or scores by chunk",
        )


def qrels(found: Any) -> dict[str, dict[str, int]]:
    """Grades by question and chunk of a DataFrame or a mapping; raises InvalidInput."""
    grades: dict[str, dict[str, int]] = {}
    if isinstance(found, pd.DataFrame):
        _require(found, ("question", "chunk", "grade"))
        columns = (found[name] for name in ("question", "chunk", "grade"))
        for question, chunk, grade in zip(*columns, strict=True):
            grades.setdefault(_id(question), {})[_id(chunk)] = _grade(grade)
        return grades
    if not isinstance(found, Mapping) or not all(isinstance(j, Mapping) for j in found.values()):
        raise InvalidInput(
            "qrels are a file, a DataFrame or grades by question and chunk",
            remedy='For example {"q1": {"c7": 2}}',
        )
    return {
        _id(question): {_id(chunk): _grade(grade) for chunk, grade in judged.items()}
        for question, judged in found.items()
    }


def _id(value: Any) -> str:
    """An id as text; a column with a gap makes 10 of pandas 10.0."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _grade(value: Any) -> int:
    return _whole(value, "grade")


def _rank(value: Any) -> int:
    return _whole(value, "rank")


def _whole(value: Any, what: str) -> int:
    number = _number(value)
    if number is None or not number.is_integer():
        raise InvalidInput(f"the {what} {value!r} is no whole number", remedy="Correct it")
    return int(number)


def _score(value: Any) -> float:
    number = _number(value)
    if number is None:
        raise InvalidInput(f"the score {value!r} is no number", remedy="Correct it")
    return number


def _number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool | str | bytes) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _require(frame: pd.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in frame:
            raise InvalidInput(
                f"the DataFrame has no column {name}",
                remedy=f"Its columns: {', '.join(map(str, frame.columns))}",
            )

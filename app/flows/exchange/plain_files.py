"""TREC runs and qrels as plain values, for scores that are nowhere stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from app.core.errors import InvalidInput, Problem
from app.core.files import reading
from app.core.scale import grade_of
from app.core.text import shown
from app.core.trec import rows
from app.flows.exchange.run_rows import Order
from app.flows.exchange.trec_rows import numbers, require_columns, text_of
from app.flows.wording import count

#: One row of a run: question, chunk, rank or None, score or None.
Row = tuple[str, str, int | None, float | None]
Notices = tuple[str, ...]
Value = TypeVar("Value")


def trec_run(path: Path, order: Order) -> tuple[list[Row], Notices]:
    """The rows of a TREC run, and what was noticed.

    Raises InvalidInput with every line that is none. The rank column is read only where it decides.
    """

    def row(words: list[bytes]) -> Row:
        if len(words) == 4:
            raise InvalidInput(
                "the line has 4 columns, as qrels have, not 6",
                remedy="Name the run first, then qrels",
            )
        require_columns(words, 6, "question Q0 chunk rank score tag")
        score, rank = numbers(words[4], words[3], by_rank=order == "rank")
        return text_of(words[0]), text_of(words[2]), rank, score

    return _read(path, 6, row)


def trec_qrels(path: Path) -> tuple[dict[str, dict[str, int]], Notices]:
    """Grades by question and chunk of TREC qrels, and what was noticed.

    Raises InvalidInput with every line that is none, or that contradicts an earlier one.
    """
    judged: dict[str, dict[str, int]] = {}

    def take(words: list[bytes]) -> None:
        require_columns(words, 4, "question 0 chunk grade")
        question, chunk, grade = text_of(words[0]), text_of(words[2]), grade_of(words[3])
        if grade is None:
            said = shown(words[3].decode("utf-8", "replace"))
            raise InvalidInput(f"the grade {said} is no whole number", remedy="Correct the line")
        if judged.setdefault(question, {}).setdefault(chunk, grade) != grade:
            raise InvalidInput(
                f"{shown(question)} and {shown(chunk)} had the grade {judged[question][chunk]} "
                f"before, and {grade} here",
                remedy="Keep one of the two",
            )

    _, notices = _read(path, 4, take)
    if not judged:
        raise InvalidInput("the qrels are empty", place=path.name, remedy="Name another file")
    return judged, notices


def _read(
    path: Path, columns: int, parse: Callable[[list[bytes]], Value]
) -> tuple[list[Value], Notices]:
    found: list[Value] = []
    problems: list[Problem] = []
    more = 0
    with reading(str(path)):
        for line, words in rows(path):
            more += len(words) > columns
            try:
                found.append(parse(words))
            except InvalidInput as error:
                problems.append(replace(error.problems[0], place=f"{path.name}:{line}"))
    if problems:
        raise InvalidInput.of(problems)
    said = f"{path.name}: {count(more, 'line')} with more columns than {columns}, not used."
    return found, (said,) if more else ()

"""Questions of a collection: `labels/<collection>/questions.jsonl`, one a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, ValidationError, model_validator

from app.core.errors import InvalidInput, Problem
from app.core.jsonlines import read_objects
from app.core.text import digest, fault_in_id, fault_in_text, normalise, shown
from app.core.validation import Record, problems_in


def _id(value: str) -> str:
    if fault := fault_in_id(value):
        raise ValueError(f"{shown(value)} {fault}")
    return value


def _text(value: str) -> str:
    if fault := fault_in_text(value):
        raise ValueError(fault)
    if not value.strip():
        raise ValueError("is blank")
    return value


Id = Annotated[str, AfterValidator(_id)]
Text = Annotated[str, AfterValidator(_text)]


class Fact(Record):
    """One thing a complete answer must state."""

    id: Id
    text: Text


class Question(Record):
    """A question with the need behind it.

    `unsupported_as_of` is the corpus revision a person searched and found to hold no answer.
    """

    format: Literal[1] = 1
    id: Id
    text: Text
    category: Id
    tags: list[Id] = []
    source: Literal["log", "expert", "synthetic"] = "expert"
    split: Literal["development", "held-out"] = "development"
    need: Text | None = None
    facts: list[Fact] = []
    unsupported_as_of: Id | None = None

    @model_validator(mode="after")
    def _distinct_facts(self) -> Question:
        names = [fact.id for fact in self.facts]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two facts have the id {shown(twice[0])}")
        return self

    @cached_property
    def hash(self) -> str:
        """Content hash of what a reviewer judges against: text, need and facts."""
        return question_hash(self.text, self.need, [(fact.id, fact.text) for fact in self.facts])

    @cached_property
    def record_digest(self) -> str:
        """Content digest of the whole record; fields that say what they say unless given are out.

        So that a field a later version adds changes the digest of no question that leaves it out.
        """
        return digest(self.model_dump(exclude_defaults=True))


def question_hash(text: str, need: str | None, facts: list[tuple[str, str]]) -> str:
    """Sha256 over the normalised text, need and facts; a label remembers it."""
    return digest(
        [
            normalise(text),
            normalise(need) if need else None,
            [[name, normalise(fact)] for name, fact in facts],
        ]
    )


RecordT = TypeVar("RecordT", bound=Record)


def parse_record(
    model: type[RecordT], value: dict[str, object], place: str, problems: list[Problem]
) -> RecordT | None:
    """The record of a line, or None with the reasons added to `problems`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems.extend(problems_in(error, place, model.model_fields, "Correct the line"))
        return None


@dataclass(frozen=True, slots=True)
class Filed:
    """A question of a file and the number of its line, from 1."""

    question: Question
    line: int


class QuestionFile:
    """A questions.jsonl, parsed again only when it has changed. Safe for threads."""

    def __init__(self, path: Path, place: str) -> None:
        """`place` is the file as messages show it."""
        self.path = path
        self.place = place
        self._mutex = Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._filed: Mapping[str, Filed] = {}

    def read(self) -> Mapping[str, Filed]:
        """The questions by id, in file order. Raises InvalidInput as `read_questions`."""
        with self._mutex:
            stamp = _stamp(self.path)
            if stamp is None or stamp != self._stamp:
                self._stamp = None  # stays where reading raises
                self._filed = read_filed(self.path, self.place)
                self._stamp = stamp
            return self._filed


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes with a file: inode, size, time; None where it cannot be told."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_questions(path: Path, place: str) -> dict[str, Question]:
    """Every question by id, in file order; no file: none.

    Raises InvalidInput with every problem found: malformed lines, unknown keys, blank or
    duplicate ids.
    """
    return {name: filed.question for name, filed in read_filed(path, place).items()}


def read_filed(path: Path, place: str) -> dict[str, Filed]:
    """The same with the line of each. Raises as `read_questions`."""
    problems: list[Problem] = []
    found: dict[str, Filed] = {}
    if not path.exists():
        return found
    for line in read_objects(path, place, problems):
        here = f"{place}:{line.number}"
        question = parse_record(Question, line.value, here, problems)
        if question is None:
            continue
        if question.id in found:
            problems.append(
                Problem(
                    f"the question id {shown(question.id)} was already used on line "
                    f"{found[question.id].line}",
                    here,
                    "Give one of the two another id",
                )
            )
            continue
        found[question.id] = Filed(question, line.number)
    if problems:
        raise InvalidInput.of(problems)
    return found

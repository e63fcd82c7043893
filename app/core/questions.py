"""Questions of a collection: `labels/<collection>/questions.jsonl`, one a line."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
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


def read_questions(path: Path, place: str) -> dict[str, Question]:
    """Every question by id, in file order; no file: none.

    Raises InvalidInput with every problem found: malformed lines, unknown keys, blank or
    duplicate ids.
    """
    problems: list[Problem] = []
    questions: dict[str, Question] = {}
    lines: dict[str, int] = {}
    if not path.exists():
        return questions
    for line in read_objects(path, place, problems):
        here = f"{place}:{line.number}"
        question = parse_record(Question, line.value, here, problems)
        if question is None:
            continue
        if question.id in questions:
            problems.append(
                Problem(
                    f"the question id {shown(question.id)} was already used on line "
                    f"{lines[question.id]}",
                    here,
                    "Give one of the two another id",
                )
            )
            continue
        questions[question.id], lines[question.id] = question, line.number
    if problems:
        raise InvalidInput.of(problems)
    return questions

"""Many questions at once, from a sheet or from pasted cells: tried first, then written."""

from __future__ import annotations

import csv
import io
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.errors import InvalidInput, LabelConflict, Problem
from app.core.question_events import Asked, QuestionEvent
from app.core.questions import Question
from app.core.text import shown
from app.engines.sheets import is_sheet
from app.flows.asking import Changed, save
from app.flows.drafts import categories, is_blank_category, slug
from app.flows.exchange.columns import ALIASES
from app.flows.exchange.outcome import Outcome, Refused
from app.flows.exchange.questions import COLUMNS, question_rows
from app.flows.exchange.uploading import called, name_as_theirs, named
from app.flows.loading import Loaded
from app.flows.near import near_names, near_questions
from app.flows.question_saving import change_of
from app.flows.wording import count

#: The name of what was pasted, as messages show it.
PASTED = "pasted.tsv"
#: More rows than a person looks through at once are a matter of `desk import`.
MOST_ROWS = 5000


@dataclass(frozen=True, slots=True)
class NearRow:
    """A row that asks almost what a question, or a row before it, asks. `overlap` is 0.8 to 1."""

    line: int
    text: str
    other: str
    other_text: str
    overlap: float


@dataclass(frozen=True)
class Plan:
    """What rows came to: `new` questions by their line, near-duplicates, and the outcome.

    Nothing is written yet. `categories` are those that are not in use.
    """

    outcome: Outcome
    new: tuple[tuple[int, Question], ...]
    near: tuple[NearRow, ...]
    categories: tuple[str, ...]


def plan_file(
    loaded: Loaded, name: str, data: bytes, *, category: str = "", new_categories: bool = False
) -> Plan:
    """Try the rows of a CSV, TSV or XLSX file by its name; writes nothing.

    `category` is for rows without one; where it is blank, they are refused. `new_categories`:
    whether categories not in use are meant. Raises InvalidInput where the file is no sheet or has
    no column for the text.
    """
    theirs = called(name)
    if not is_sheet(Path(theirs)):
        raise InvalidInput(
            f"{shown(theirs, 100)} does not look like a sheet",
            remedy="Save it as CSV UTF-8, TSV or XLSX, so that its name ends that way",
        )
    with tempfile.TemporaryDirectory() as folder:
        # Not under their name: it may be longer than the disk allows.
        path = Path(folder) / f"{secrets.token_hex(12)}{Path(theirs).suffix.lower()}"
        path.write_bytes(data)
        with named({str(path): theirs, path.name: theirs}) as names:
            plan = _plan(loaded, path, 0, category, new_categories)
            name_as_theirs(plan.outcome, names)
            return plan


def plan_pasted(
    loaded: Loaded, pasted: str, *, category: str = "", new_categories: bool = False
) -> Plan:
    """Try the rows of cells pasted from a spreadsheet, tabs between them; writes nothing.

    Without a first line of column names, one column is taken for the texts. Raises InvalidInput
    where there are several columns and none is named so that it must be the text.
    """
    text, shift = _well_formed(pasted.lstrip("\ufeff")), 0
    if not text.strip():
        raise InvalidInput("nothing is pasted", remedy="Paste cells, the names of columns first")
    first = next(_reader(text), [])
    if not {cell.strip().lower().replace(" ", "_") for cell in first} & set(ALIASES["text"]):
        if len(first) > 1:
            raise InvalidInput(
                "no column is named text or question",
                place=f"{PASTED}:1",
                remedy=f"Let the first line name the columns: {', '.join(COLUMNS[:8])}",
            )
        text, shift = f"text\n{text}", 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / PASTED
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        return _plan(loaded, path, shift, category, new_categories)


def _reader(text: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)


def _well_formed(text: str) -> str:
    """The text as it is where its quote marks are a spreadsheet's; else taken literally."""
    try:
        for _ in _reader(text):
            pass
    except csv.Error:
        quoted = text.replace('"', '""').splitlines()
        lines = ("\t".join(f'"{cell}"' for cell in line.split("\t")) for line in quoted)
        return "\n".join(lines) + "\n"
    return text


def _plan(loaded: Loaded, path: Path, shift: int, category: str, new_categories: bool) -> Plan:
    """Rows against the questions in effect; lines of the file are `shift` further down."""
    asked = loaded.collection.asked()
    known = {**asked.questions, **asked.retired}
    found = Outcome(f"questions of {loaded.collection.name}", path.name)
    taken = {*asked.filed, *asked.standings}

    def name_for(text: str) -> str:
        name = slug(text, taken)
        taken.add(name)
        return name

    in_use = categories(loaded)
    meant_new: dict[str, None] = {}
    new: dict[str, tuple[int, Question]] = {}
    texts: dict[str, int] = {}
    rows = question_rows(path, {}, category, known, found, name_for)
    for below, question in rows:
        line = below - shift
        if len(new) >= MOST_ROWS:
            raise InvalidInput(
                f"there are more than {MOST_ROWS:,} new questions",
                place=path.name,
                remedy="Take them in with desk import, or paste fewer",
            )
        reason = _refusal(question, asked, new)
        if reason is None and question.text in texts:
            reason = (
                f"the text stands on line {texts[question.text]} already",
                "Remove one of the two",
            )
        if reason is None and question.id in asked.questions:
            found.known += 1
            continue
        if reason is None and in_use and question.category not in in_use:
            meant_new[question.category] = None
            if not new_categories:
                near = near_names(question.category, in_use)
                reason = (
                    f"there is no category {shown(question.category)} yet",
                    f"Did you mean {near[0]}?" if near else "Choose one, or allow new categories",
                )
        if reason is not None:
            found.refuse(below, *reason)
            continue
        new[question.id] = line, question
        texts[question.text] = line
    found.new = len(new)
    found.refused.problems[:] = map(_without_category, found.refused.problems)
    if shift:
        found.refused = _lifted(found, shift)
    return Plan(found, tuple(new.values()), tuple(_near(known, new)), tuple(meant_new))


def _refusal(
    question: Question, asked: Asked, new: dict[str, tuple[int, Question]]
) -> tuple[str, str] | None:
    """Why a row cannot be taken, and what to do; None where it can."""
    name = shown(question.id)
    if question.id in new:
        return f"the question id {name} stands twice", "Give one of the two another id"
    if question.id in asked.retired:
        return f"the question {name} was retired", "Bring it back there, or remove the row"
    there = asked.questions.get(question.id)
    if there is not None and there != question:
        return (
            f"the question {name} is there already and says something else",
            "Edit it there, or give the row another id",
        )
    if there is None and question.unsupported_as_of is not None:
        return (
            "unsupported_as_of cannot come with a new question",
            "Clear the cell, search the corpus, then mark it",
        )
    return None


def _without_category(problem: Problem) -> Problem:
    """In words of the page where a row has no category and none was chosen for such rows."""
    if not is_blank_category(problem):
        return problem
    remedy = "Fill the cell, or choose a category of rows without one"
    return replace(problem, message="the row has no category", remedy=remedy)


def _lifted(found: Outcome, by: int) -> Refused:
    """What was refused, with the lines of what was pasted: without the header put above it."""
    lifted = Refused(lines={line - by for line in found.refused.lines})
    for problem in found.refused.problems:
        line = int(problem.place.rpartition(":")[2])
        lifted.problems.append(replace(problem, place=f"{found.source}:{line - by}"))
    return lifted


def _near(known: dict[str, Question], new: dict[str, tuple[int, Question]]) -> Iterator[NearRow]:
    texts = {name: question.text for name, question in known.items()}
    fresh = {name: question.text for name, (_, question) in new.items()}
    for one in near_questions(fresh, texts):
        line, question = new[one.new]
        other_text = texts.get(one.other) or fresh[one.other]
        other = one.other if one.other in texts else f"line {new[one.other][0]}"
        yield NearRow(line, question.text, other, other_text, one.overlap)


def plan_words(plan: Plan) -> str:
    """What a plan would do, in one sentence."""
    found = plan.outcome
    words = [f"{found.new:,} new", f"{found.known:,} there already"]
    words += [f"{len(found.refused):,} refused", f"{len(plan.near):,} almost like another one"]
    return f"{count(found.read, 'row')} read: {', '.join(words)}. Nothing is written yet."


def add_planned(
    loaded: Loaded,
    author: str,
    plan: Plan,
    *,
    skip_refused: bool = False,
    skip_near: bool = False,
) -> Changed:
    """Write the new questions of a plan, in one write.

    `skip_refused` leaves refused rows out; without it nothing is written where a row is refused.
    `skip_near` leaves near-duplicates out. Raises InvalidInput, LabelConflict where an id was taken
    since, LabelNotSaved.
    """
    if plan.outcome.refused.lines and not skip_refused:
        raise InvalidInput(
            f"{count(len(plan.outcome.refused), 'row')} refused, so nothing was written",
            remedy="Mend the rows, or say that they are to be left out",
        )
    near = {one.line for one in plan.near} if skip_near else set()
    questions = [question for line, question in plan.new if line not in near]
    if not questions:
        raise InvalidInput("no row is new", remedy="There is nothing to add")
    return save(loaded, author, lambda asked: _added(asked, author, questions))


def _added(asked: Asked, author: str, questions: Sequence[Question]) -> list[QuestionEvent]:
    taken = [one.id for one in questions if asked.standing(one.id).question is not None]
    if taken:
        raise LabelConflict(
            f"somebody has added the question {shown(taken[0])} meanwhile",
            remedy="Nothing was saved: try the rows again",
        )
    return [change_of(asked.standing(one.id), author, one) for one in questions]

"""Questions in and out: JSON lines, CSV and XLSX."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from app.core.errors import NotReady, Problem
from app.core.events import QuestionChange
from app.core.files import replace_file
from app.core.jsonlines import parse_object
from app.core.ledger import line_of
from app.core.question_events import Asked
from app.core.questions import Filed, Question, parse_record
from app.core.scale import grade_of
from app.core.text import shown
from app.engines.sheets import Cell, is_sheet
from app.engines.sheets_out import write_sheet
from app.flows.exchange.columns import read_table, words_of
from app.flows.exchange.outcome import Outcome
from app.flows.question_saving import append_changes, change_of, questions_locked
from app.flows.sharing.bundling import read_bundle
from app.workspace import Collection

#: Who changed a question, where a file did.
IMPORTED = "imported"
COLUMNS = ("id", "text", "category", "tags", "need", "facts", "source", "split",
           "unsupported_as_of", "format")  # fmt: skip


def question_line(question: Question) -> bytes:
    """A question as it is exported, its line end included; what it left out stays out."""
    return line_of(question.model_dump(exclude_unset=True))


def export_questions(collection: Collection, path: Path) -> int:
    """Write every question as JSON lines, CSV, TSV or XLSX by the file's name; their number."""
    questions = collection.questions().values()
    if is_sheet(path):
        write_sheet(path, COLUMNS, ([_cell(q, name) for name in COLUMNS] for q in questions))
    else:
        replace_file(path, b"".join(map(question_line, questions)).decode())
    return len(questions)


def _cell(question: Question, name: str) -> Cell:
    if name not in question.model_fields_set:
        return None
    value = getattr(question, name)
    if name == "tags":
        simple = not any(";" in tag or tag.startswith("[") for tag in value)
        return "; ".join(value) if simple else json.dumps(value, ensure_ascii=False)
    if name == "facts":
        facts = [fact.model_dump(exclude_unset=True) for fact in value]
        return json.dumps(facts, ensure_ascii=False)
    return value  # type: ignore[no-any-return]


def import_questions(
    collection: Collection,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    category: str = "general",
    update: bool = False,
    dry_run: bool = False,
    skip_refused: bool = False,
) -> Outcome:
    """Take questions from JSON lines, CSV, TSV, XLSX, or a bundle of labels.

    Questions are compared with those in effect. One whose id is there already and that says the
    same is left as it is; one that says something else, or was retired, is refused unless `update`
    is set. Without ids a question gets the next free one. `category` is for rows without one.
    Raises InvalidInput where the file cannot be read.
    """
    if path.suffix.lower() == ".zip":
        return _from_bundle(
            collection, path, category=category, update=update, dry_run=dry_run,
            skip_refused=skip_refused,
        )  # fmt: skip
    return _import(
        collection, path, {}, columns=columns or {}, category=category, update=update,
        dry_run=dry_run, skip_refused=skip_refused,
    )  # fmt: skip


def _import(
    collection: Collection,
    path: Path,
    filed: Mapping[str, Filed],
    *,
    columns: Mapping[str, str],
    category: str,
    update: bool,
    dry_run: bool,
    skip_refused: bool,
) -> Outcome:
    """Take the questions of a file; what is in `filed` is there already, whatever is in effect."""
    asked = collection.asked()
    known = {**asked.questions, **asked.retired}
    found = Outcome(f"questions of {collection.name}", path.name)
    taken: dict[str, Question] = {}
    for line, question in question_rows(path, columns, category, known, found):
        if question.id in taken:
            message = f"the question id {shown(question.id)} stands twice"
            found.refuse(line, message, "Give one of the two another id")
        elif question.id in filed and filed[question.id].question == question:
            found.known += 1
        elif question.id in asked.retired and not update:
            message = f"the question {shown(question.id)} was retired"
            found.refuse(line, message, "Bring it back with --update, or leave it out")
        elif asked.questions.get(question.id) == question:
            found.known += 1
        elif question.id in known and not update:
            message = f"the question {shown(question.id)} is there already and says something else"
            found.refuse(line, message, "Take the new one with --update, or give it another id")
        else:
            taken[question.id] = question
    found.new = len(taken)
    if update and (changed := sum(1 for name in taken if name in known)):
        found.notes.append(
            f"Questions that are there and will be replaced: {changed}. Labels given for another "
            "wording become stale."
        )
    return found.finish(
        lambda: add_questions(collection, taken, known), dry_run=dry_run, skip_refused=skip_refused
    )


def _from_bundle(collection: Collection, path: Path, **ways: Any) -> Outcome:
    """The questions of a file that `desk labels bundle` made.

    They are the lines of its questions.jsonl: what was changed since comes with its labels.
    """
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / f"{path.name}:questions.jsonl"
        inside.write_bytes(read_bundle(path).questions_jsonl)
        return _import(collection, inside, collection.question_file.read(), columns={}, **ways)


def question_rows(
    path: Path,
    columns: Mapping[str, str],
    category: str,
    known: Mapping[str, Question],
    found: Outcome,
    name_for: Callable[[str], str] | None = None,
) -> Iterator[tuple[int, Question]]:
    """The questions of a file with their lines; rows that are none are refused in `found`.

    `name_for` makes an id for a text; the next free number unless it is given.
    """
    table = read_table(path, path.name, COLUMNS, columns, required=("text",))
    if table.unused:
        found.notes.append(f"Columns that are not used: {', '.join(table.unused)}.")
    texts = {question.text: question.id for question in known.values()}
    rows = list(table.rows)
    given = {words_of(row.get("id")) for _, row in rows if isinstance(row, dict)}
    taken = (name for name in {*known, *given} if name)
    numbers = (int(m[1]) for name in taken if (m := re.fullmatch(r"q(\d{1,9})", name)))
    following = max(numbers, default=0) + 1
    for line, row in rows:
        found.read += 1
        where = f"{path.name}:{line}"
        if isinstance(row, str):
            found.refuse(line, f"the line {row}", "Correct the line")
            continue
        if row.get("text") is None and is_sheet(path):
            found.refuse(line, "the question is blank", "Write it, or clear the row")
            continue
        if row.get("id") is None and row.get("text") is not None:
            name = texts.get(str(row["text"]))
            if name is None and name_for is not None:
                name = name_for(str(row["text"]))
            if name is None:
                name, following = f"q{following}", following + 1
            row["id"] = name
        typed = _typed(row, sheet=is_sheet(path))
        earlier = known.get(str(typed.get("id")))
        # What a table has no column for stays as it is.
        kept = {} if earlier is None else earlier.model_dump(exclude_unset=True)
        kept = {name: cell for name, cell in kept.items() if name not in table.names}
        value = {"format": 1, "category": category, **(kept if is_sheet(path) else {}), **typed}
        problems: list[Problem] = []
        question = parse_record(Question, value, where, problems)
        if question is None:
            for problem in problems:
                found.refused.add(problem, line)
            continue
        yield line, question


def _typed(row: Mapping[str, Any], *, sheet: bool) -> dict[str, Any]:
    """Cells as the record wants them; ids that are numbers become text everywhere."""
    value: dict[str, Any] = {}
    for name, cell in row.items():
        if cell is None and name in ("id", "category", "format"):
            continue
        if name == "format":
            value[name] = grade_of(cell) if sheet else cell
        elif sheet and name == "tags":
            value[name] = _tags(str(cell))
        elif sheet and name == "facts":
            value[name] = _json(str(cell))
        elif name in ("id", "category") or sheet:
            value[name] = words_of(cell) if not isinstance(cell, list | dict) else cell
        else:
            value[name] = cell
    return value


def _tags(cell: str) -> Any:
    if cell.startswith("["):
        return _json(cell)
    return [part.strip() for part in cell.split(";") if part.strip()]


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return cell  # the record says what it wants instead


def add_questions(
    collection: Collection, taken: Mapping[str, Question], known: Mapping[str, Question]
) -> int:
    """Add questions, those whose id is there in place of the old ones; their number.

    `known` are the questions as they were when this was decided. Lines that stay are left as they
    are, byte for byte. Raises NotReady where another process changed one of them meanwhile.
    """
    if not taken:
        return 0
    file = collection.question_file
    with questions_locked(collection):
        asked = collection.asked()
        there = {**asked.questions, **asked.retired}
        if any(there.get(name) != known.get(name) for name in taken):
            raise NotReady(
                "another process has changed these questions meanwhile; nothing was written",
                place=file.place,
                remedy="Import again",
            )
        replace_file(file.path, _merged(file.path, taken).decode())
        # Where the file says what it said before, what was changed since would still count.
        if _over(taken, collection.asked()):
            append_changes(collection, IMPORTED, partial(_over, taken))
    return len(taken)


def _over(taken: Mapping[str, Question], asked: Asked) -> list[QuestionChange]:
    """Events that put questions over changes that would hide them."""
    hidden = [one for name, one in taken.items() if asked.questions.get(name) != one]
    return [change_of(asked.standing(one.id), IMPORTED, one) for one in hidden]


def _merged(path: Path, taken: Mapping[str, Question]) -> bytes:
    kept = path.read_bytes() if path.exists() else b""
    lines: list[bytes] = []
    left = dict(taken)
    for raw in kept.splitlines(keepends=True):
        value = parse_object(raw.rstrip(b"\r\n"))
        name = value.get("id") if isinstance(value, dict) else None
        if isinstance(name, str) and name in left:
            lines.append(question_line(left.pop(name)))
        else:
            lines.append(raw)
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    return b"".join([*lines, *map(question_line, left.values())])

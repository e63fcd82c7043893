"""Events as rows of a sheet: one event a row, every field a column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from app.core.events import Event
from app.core.judgments import Judgment
from app.core.scale import grade_of
from app.engines.sheets import Cell, read_sheet
from app.flows.exchange.columns import words_of
from app.flows.exchange.outcome import Outcome

#: Columns of an exported ledger; `question_text` is for the reader and is not read back.
COLUMNS = ("question", "question_text", "document", "version", "chunk", "grade", "kind", "reviewer",
           "note", "reason", "time", "blind", "adjudication", "evidence", "text_hash",
           "question_hash", "guidelines", "replaces", "undoes", "no_text", "event", "format",
           "value", "base", "searched", "settles", "restores", "text", "of", "given",
           "skipped")  # fmt: skip
#: Columns that are fields under another name or of another shape.
_PARTS = ("question_text", "document", "version", "chunk", "reviewer")
_FLAGS = ("blind", "adjudication", "no_text", "skipped")
_JSON = ("evidence", "value", "searched", "settles", "restores", "given")
#: Kinds of events that speak of no chunk.
_NO_CHUNK = ("question", "retire-question", "practice")


def event_row(event: Judgment | Event, question_text: str | None) -> list[Cell]:
    """An event as cells; what it leaves out is blank."""
    value = event.model_dump(exclude_unset=True)
    document, version, chunk = value.pop("chunk", (None, None, None))
    value |= {
        "question_text": question_text,
        "document": document,
        "version": version,
        "chunk": chunk,
        "reviewer": value.pop("author"),
    }
    value |= {
        # (The order of the items given is no part of what was said.)
        name: json.dumps(value[name], ensure_ascii=False, sort_keys=name == "given")
        for name in _JSON
        if name in value
    }
    return [value.get(name) for name in COLUMNS]


def read_event_rows(
    path: Path, found: Outcome
) -> Iterable[tuple[int, dict[str, object] | str]] | None:
    """The events of a sheet, or None where it has no column `event`."""
    sheet = read_sheet(path, path.name)
    if "event" not in sheet.columns or "kind" not in sheet.columns:
        return None
    unused = [name for name in sheet.columns if name and name not in COLUMNS]
    if unused:
        found.notes.append(f"Columns that are not used: {', '.join(unused)}.")
    return _events(sheet.rows)


def _events(
    rows: Iterator[tuple[int, dict[str, Cell]]],
) -> Iterator[tuple[int, dict[str, object] | str]]:
    for line, row in rows:
        value: dict[str, object] = {
            name: _value(name, row[name])
            for name in COLUMNS
            if name not in _PARTS and row.get(name) is not None
        }
        if row.get("reviewer") is not None:
            value["author"] = words_of(row["reviewer"])
        if value.get("kind") not in _NO_CHUNK:
            value["chunk"] = [words_of(row.get(n)) or "" for n in ("document", "version", "chunk")]
        yield line, value


def _value(name: str, cell: Cell) -> Any:
    if name in ("grade", "format"):
        number = grade_of(cell)
        return cell if number is None else number
    if name in _FLAGS:
        flags: Mapping[str, bool] = {"true": True, "false": False, "1": True, "0": False}
        return flags.get(str(cell).lower(), cell)
    if name in _JSON:
        try:
            return json.loads(str(cell))
        except ValueError:
            return cell
    return words_of(cell)

"""Rows of files people have, under the names this program uses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.errors import InvalidInput
from app.core.files import reading
from app.core.jsonlines import parse_object
from app.core.text import shown
from app.engines.sheets import is_sheet, read_sheet

#: Names that other tools give to what we call by the first; lower case, blanks as underscores.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "query_id", "question_id", "qid", "query-id"),
    "text": ("text", "question", "query"),
    "question": ("question", "question_id", "query_id", "qid", "query-id"),
    "document": ("document", "document_id"),
    "version": ("version", "chunking_version"),
    "chunk": ("chunk", "chunk_id", "doc_id", "docid", "docno", "corpus-id", "corpus_id", "_id"),
    "grade": ("grade", "rating", "relevance", "label", "judgment", "judgement", "score"),
    "reviewer": ("reviewer", "author", "rater", "annotator", "assessor"),
    "need": ("need", "information_need"),
}


@dataclass(frozen=True)
class Table:
    """Rows, each with its line; a line that is no object is the reason why.

    `names` are their names of our columns; `unused` columns have no name here.
    """

    rows: Iterator[tuple[int, dict[str, Any] | str]]
    names: Mapping[str, str]
    unused: tuple[str, ...]


def parse_columns(words: Iterable[str]) -> dict[str, str]:
    """`OURS=THEIRS` pairs of `--column`; raises InvalidInput for anything else."""
    found: dict[str, str] = {}
    for word in words:
        ours, equals, theirs = word.partition("=")
        if not equals or not ours.strip() or not theirs.strip():
            raise InvalidInput(
                f"{shown(word)} does not name a column", remedy="For example --column id=query_id"
            )
        found[ours.strip()] = theirs.strip()
    return found


def renaming(
    theirs: Iterable[str],
    ours: Iterable[str],
    given: Mapping[str, str],
    more: Mapping[str, tuple[str, ...]] = {},
) -> dict[str, str]:
    """Their name of each of our columns that is there; `more` are aliases beside ALIASES.

    Raises InvalidInput where a column given does not exist, there or here.
    """
    there, here = list(theirs), list(ours)
    lowered = {name.strip().lower().replace(" ", "_"): name for name in reversed(there)}
    found: dict[str, str] = {}
    for name, wanted in given.items():
        if name not in here:
            raise InvalidInput(
                f"there is no column {shown(name)} here", remedy=f"Columns: {', '.join(here)}"
            )
        if wanted not in there:
            raise InvalidInput(
                f"the file has no column {shown(wanted)}",
                remedy=f"Its columns: {', '.join(map(shown, there))}",
            )
        found[name] = wanted
    taken = set(found.values())
    for name in here:
        for alias in (*ALIASES.get(name, (name,)), *more.get(name, ())):
            theirs_name = lowered.get(alias)
            if name not in found and theirs_name is not None and theirs_name not in taken:
                found[name] = theirs_name
                taken.add(theirs_name)
    return found


def read_table(
    path: Path,
    place: str,
    ours: Iterable[str],
    given: Mapping[str, str],
    required: Iterable[str] = (),
) -> Table:
    """The rows of a sheet or of JSON lines, under our names.

    `required` names must each have a column. Raises InvalidInput where a column is missing or the
    file cannot be read.
    """
    table = open_table(path, place, ours, given, required)
    rows = (
        (number, row if isinstance(row, str) else _renamed(row, table.names))
        for number, row in table.rows
    )
    return Table(rows, table.names, table.unused)


def open_table(
    path: Path,
    place: str,
    ours: Iterable[str],
    given: Mapping[str, str],
    required: Iterable[str] = (),
    more: Mapping[str, tuple[str, ...]] = {},
) -> Table:
    """The same with the rows as they are, under their own names."""
    rows: Iterator[tuple[int, dict[str, Any] | str]]
    if not is_sheet(path) and path.suffix.lower() not in (".jsonl", ".json", ".ndjson"):
        raise InvalidInput(
            "the file's name does not say that it is JSON lines, CSV, TSV or XLSX",
            place=place,
            remedy="Let it end in .jsonl, .csv, .tsv or .xlsx",
        )
    if is_sheet(path):
        sheet = read_sheet(path, place)
        columns, rows = sheet.columns, iter(sheet.rows)
    else:
        columns = _json_columns(path, place)
        if not columns:
            raise InvalidInput(
                "there is no row in it", place=place, remedy="Write one JSON object a line"
            )
        rows = ((number, parse_object(raw)) for number, raw in raw_lines(path, place))
    names = renaming(columns, ours, given, more)
    for name in required:
        if name not in names:
            raise InvalidInput(
                f"there is no column {name}",
                place=place,
                remedy=f"Columns there: {', '.join(map(shown, columns))}. Say which one it is: "
                f"--column {name}=THEIRS",
            )
    unused = tuple(name for name in columns if name and name not in names.values())
    return Table(rows, names, unused)


def _renamed(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {ours: row[theirs] for ours, theirs in names.items() if theirs in row}


def raw_lines(path: Path, place: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank; raises InvalidInput where it cannot be read."""
    with reading(place), path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.strip(b"\xef\xbb\xbf \t\r\n"):
                yield number, raw.rstrip(b"\r\n")


def _json_columns(path: Path, place: str) -> tuple[str, ...]:
    """Every key of a file of JSON lines, in the order of their first use."""
    found: dict[str, None] = {}
    for _, raw in raw_lines(path, place):
        value = parse_object(raw)
        if isinstance(value, dict):
            found.update(dict.fromkeys(value))
    return tuple(found)


def words_of(value: Any) -> str | None:
    """A cell as text: a number or a truth value as it is written, blank as None."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value) or None
    return json.dumps(value, ensure_ascii=False)

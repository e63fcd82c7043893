"""Spreadsheets, CSV and XLSX, as people have them; `sheets_out` writes them.

A cell that a spreadsheet would take for a formula (`= + - @`, tab, carriage return) gets a quote
mark in front in CSV, and loses it when it comes back. In XLSX a text is a text and needs none.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path

import openpyxl

from app.core.errors import InvalidInput
from app.core.files import reading
from app.core.text import shown

Cell = str | int | float | bool | None

#: What a spreadsheet takes for a formula, behind the quote marks that keep it from that.
FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
#: Sheets unpacked above this, or so many times their size, are refused: no list is as large.
_MOST_BYTES = 200_000_000
_MOST_RATIO = 100

#: What openpyxl and the modules below it raise for a file that is damaged.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, StopIteration, SyntaxError,
    NotImplementedError, RuntimeError, TypeError, AttributeError,
)  # fmt: skip

csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Sheet:
    """A table with a header: its columns, and its rows with the line each begins on."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[int, dict[str, Cell]]]


def is_sheet(path: Path) -> bool:
    """Whether a file's name says that it is a table for people."""
    return path.suffix.lower() in (".csv", ".tsv", ".xlsx")


def read_sheet(path: Path, place: str, *, people: bool = True) -> Sheet:
    """Open a table by its name's ending; raises InvalidInput where it is none.

    `people` is whether it was made for people, its formulas defused.
    """
    with reading(place):
        if path.suffix.lower() == ".xlsx":
            return _read_xlsx(path, place)
        delimiter = "\t" if path.suffix.lower() == ".tsv" else None
        text = _decoded(path.read_bytes(), place)
        return read_text(text, place, people=people, delimiter=delimiter)


def _decoded(raw: bytes, place: str) -> str:
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidInput(
            f"the file is not UTF-8 (byte {error.start + 1})",
            place=f"{place}:{line}",
            remedy="Save it as CSV UTF-8",
        ) from error


def read_text(text: str, place: str, *, people: bool = True, delimiter: str | None = None) -> Sheet:
    """A table in text: commas, semicolons or tabs between cells, as its first line has them."""
    first = re.sub('"[^"]*"', "", text.split("\n", 1)[0])
    delimiter = delimiter or max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InvalidInput(f"the first line is not CSV: {error}", place=f"{place}:1") from error
    plain = _undefused if people else str
    columns = _columns([plain(name) for name in header], place)

    def rows() -> Iterator[tuple[int, dict[str, Cell]]]:
        while True:
            number = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise InvalidInput(
                    f"the line is not CSV: {error}",
                    place=f"{place}:{number}",
                    remedy="Mend its quote marks",
                ) from error
            if len(cells) > len(columns) and any(cells[len(columns) :]):
                raise InvalidInput(
                    f"the row has {len(cells)} cells, the first line has {len(columns)}",
                    place=f"{place}:{number}",
                    remedy="Put quote marks around cells that hold a separator",
                )
            if any(cells):
                found = [plain(cell) or None for cell in cells]
                cut = zip(columns, found, strict=False)
                yield number, {name: cell for name, cell in cut if cell is not None}

    return Sheet(columns, rows())


def _columns(header: Sequence[object], place: str) -> tuple[str, ...]:
    names = [str(name).strip() if name is not None else "" for name in header]
    while names and not names[-1]:
        names.pop()
    if not any(names):
        raise InvalidInput(
            "there is no header", place=f"{place}:1", remedy="Name the columns in the first row"
        )
    if twice := next((n for n in names if n and names.count(n) > 1), None):
        message = f"the column {shown(twice)} stands twice"
        raise InvalidInput(message, place=f"{place}:1", remedy="Name every column once")
    return tuple(names)


def _read_xlsx(path: Path, place: str) -> Sheet:
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size > min(_MOST_BYTES, max(10_000_000, _MOST_RATIO * path.stat().st_size)):
            message = f"the file unpacks to {size:,} bytes, more than a list of rows would"
            raise InvalidInput(message, place=place, remedy="Save it as CSV UTF-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about looks, which do not matter here
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        sheet = next(s for s in book.worksheets if s.sheet_state == "visible")
        # Some programs state a size that is wrong; what is there counts.
        sheet.reset_dimensions()
        read = [[_cell(value) for value in row] for row in sheet.iter_rows(values_only=True)]
        header, lines = (read[0], read[1:]) if read else ([], [])
    except _BROKEN as error:
        raise InvalidInput(
            "the file is not a readable spreadsheet",
            place=place,
            remedy="Save it again as .xlsx, or as CSV UTF-8",
        ) from error

    columns = _columns(header, place)
    if where := _uncomputed(path):
        raise InvalidInput(
            f"the cell {where} holds a formula whose value was never computed",
            place=place,
            remedy="Open and save it in a spreadsheet program, or paste values",
        )

    def rows() -> Iterator[tuple[int, dict[str, Cell]]]:
        for number, cells in enumerate(lines, start=2):
            if any(cell is not None for cell in cells[len(columns) :]):
                raise InvalidInput(
                    f"the row has cells to the right of the {len(columns)} columns of the header",
                    place=f"{place}:{number}",
                    remedy="Name the column, or clear the cells",
                )
            if any(cell is not None for cell in cells):
                cut = zip(columns, cells, strict=False)
                yield number, {name: cell for name, cell in cut if cell is not None}

    return Sheet(columns, rows())


def _uncomputed(path: Path) -> str | None:
    """The first cell with a formula and no value, or None."""
    with zipfile.ZipFile(path) as packed:
        sheets = [name for name in packed.namelist() if name.startswith("xl/worksheets/sheet")]
        if not any(re.search(rb"<f[ />]", packed.read(name)) for name in sheets):
            return None
    books = [openpyxl.load_workbook(path, read_only=True, data_only=only) for only in (False, True)]
    first, second = (
        next(s for s in book.worksheets if s.sheet_state == "visible").iter_rows() for book in books
    )
    for formulas, values in zip(first, second, strict=False):
        for formula, value in zip(formulas, values, strict=False):
            if formula.data_type == "f" and value.value is None:
                return str(formula.coordinate)
    return None


def _cell(value: object) -> Cell:
    if isinstance(value, str):
        return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), value) or None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _undefused(text: str) -> str:
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text

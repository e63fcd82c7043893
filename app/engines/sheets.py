"""Spreadsheets, CSV and XLSX, in and out, for people.

A cell that a spreadsheet would take for a formula (`= + - @`, tab, carriage return) gets a quote
mark in front in CSV, and loses it when it comes back. In XLSX a text is a text and needs none.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
from openpyxl.cell import WriteOnlyCell

from app.core.errors import InvalidInput
from app.core.text import shown

Cell = str | int | float | bool | None

#: What a spreadsheet takes for a formula, behind the quote marks that keep it from that.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
#: What XML cannot hold, and what reads like an escape for it.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4})")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
#: The most characters a cell of a spreadsheet takes, counted in UTF-16.
MOST_IN_CELL = 32_767
#: Sheets unpacked above this are refused: no list of questions or labels is as large.
_MOST_BYTES = 1_000_000_000
#: One time for all: the same content gives the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)

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
    try:
        if path.suffix.lower() == ".xlsx":
            return _read_xlsx(path, place)
        delimiter = "\t" if path.suffix.lower() == ".tsv" else None
        text = _decoded(path.read_bytes(), place)
        return read_text(text, place, people=people, delimiter=delimiter)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise InvalidInput(message, place=place, remedy="Name a readable file") from error


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
        if size > _MOST_BYTES:
            raise InvalidInput(f"the file unpacks to {size:,} bytes", place=place)
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


def write_sheet(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, people: bool = True
) -> None:
    """Write a table by its name's ending; the file is there whole or not at all.

    For `people` formulas are defused and CSV begins with a byte order mark; for programs not.
    Raises InvalidInput for a text that is too long for a cell of a spreadsheet.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.suffix.lower() == ".xlsx":
            _write_xlsx(beside, columns, rows, path.name)
        else:
            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            _write_csv(beside, columns, rows, delimiter, people=people)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _write_csv(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    delimiter: str,
    *,
    people: bool,
) -> None:
    encoding, line_end = ("utf-8-sig", "\r\n") if people else ("utf-8", "\n")
    safe = _defused if people else str
    with path.open("w", encoding=encoding, newline="") as file:
        line = io.StringIO()
        # With this line end a carriage return in a cell is quoted, whatever ends the line.
        writer = csv.writer(line, delimiter=delimiter, lineterminator="\r\n")
        for row in itertools.chain([columns], rows):
            writer.writerow([safe(_words(cell)) for cell in row])
            file.write(line.getvalue().removesuffix("\r\n") + line_end)
            line.seek(0)
            line.truncate()


def _words(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else str(cell)


def _defused(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _undefused(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _write_xlsx(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[Cell]], name: str
) -> None:
    book = openpyxl.Workbook(write_only=True)
    fixed = datetime(*_TIME)
    book.properties.created = book.properties.modified = fixed
    sheet = book.create_sheet("Sheet1")
    sheet.freeze_panes = "A2"

    def text_cell(text: str, number: int) -> WriteOnlyCell:
        if len(text.encode("utf-16-le")) // 2 > MOST_IN_CELL:
            raise InvalidInput(
                f"a text of {len(text):,} characters is too long for a cell, which takes "
                f"{MOST_IN_CELL:,}",
                place=f"{name}:{number}",
                remedy="Export as CSV or JSONL",
            )
        cell = WriteOnlyCell(sheet)
        # Given its type by hand: a text that begins with = is no formula.
        cell.data_type = "s"
        cell._value = _UNFIT.sub(_escaped, text)
        return cell

    # All of them first: a row that is refused would leave the sheet's writer open.
    cells = [
        [text_cell(cell, n) if cell and isinstance(cell, str) else _plain(cell) for cell in row]
        for n, row in enumerate([columns, *rows], start=1)
    ]
    for row_cells in cells:
        sheet.append(row_cells)
    packed = io.BytesIO()
    book.save(packed)
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.namelist():
            info = zipfile.ZipInfo(member, _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            content = source.read(member)
            # The time of saving is set whatever the properties say.
            content = re.sub(
                rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>1980-01-01T00:00:00Z", content
            )
            target.writestr(info, content)


def _plain(cell: Cell) -> Cell:
    """A cell that is no text; an empty text is no cell."""
    return None if cell == "" else cell


def _escaped(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"

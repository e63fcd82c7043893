"""Spreadsheets, CSV and XLSX, for people to read."""

from __future__ import annotations

import csv
import io
import itertools
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import openpyxl
from openpyxl.cell import WriteOnlyCell

from app.core.errors import InvalidInput
from app.core.files import replacing
from app.engines.sheets import FORMULA, Cell

#: What XML cannot hold, and what reads like an escape for it.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4})")
#: The most characters a cell of a spreadsheet takes, counted in UTF-16.
MOST_IN_CELL = 32_767
#: One time for all: the same content gives the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)


def write_sheet(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, people: bool = True
) -> None:
    """Write a table by its name's ending; the file is there whole or not at all.

    For `people` formulas are defused and CSV begins with a byte order mark; for programs not.
    Raises InvalidInput for a text that is too long for a cell of a spreadsheet.
    """
    with replacing(path) as beside:
        if path.suffix.lower() == ".xlsx":
            _write_xlsx(beside, columns, rows, path.name)
        else:
            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            _write_csv(beside, columns, rows, delimiter, people=people)


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
    return f"'{text}" if FORMULA.match(text) else text


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

"""Workbooks as people's programs write them, and broken ones."""

import re
import zipfile
from datetime import date, datetime, time

import openpyxl
import pytest

from app.core.errors import InvalidInput
from app.engines.sheets import read_sheet

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def book(tmp_path):
    """Saves a workbook of rows; returns its path."""

    def save(*rows, change=None):
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        if change:
            change(made)
        path = tmp_path / "a.xlsx"
        made.save(path)
        return path

    return save


def repacked(path, member, change):
    """The same workbook with one member changed."""
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    assert change(members[member]) != members[member]
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return path


def rows_of(path):
    return [row for _, row in read_sheet(path, path.name).rows]


def refused(path):
    with pytest.raises(InvalidInput) as caught:
        rows_of(path)
    return str(caught.value)


def test_cells_of_every_kind(book):
    cells = [
        7,
        1.5,
        2.0,
        True,
        datetime(2026, 1, 2, 3, 4),
        date(2026, 1, 2),
        time(3, 4),
        "#N/A",
        "01",
    ]
    path = book(list("abcdefghi"), cells)
    assert list(rows_of(path)[0].values()) == [
        7, 1.5, 2, True, "2026-01-02T03:04:00", "2026-01-02T00:00:00", "03:04:00", "#N/A", "01",
    ]  # fmt: skip
    assert type(rows_of(path)[0]["c"]) is int


def test_the_value_of_a_formula_is_read_where_it_was_kept(book):
    path = book(["id", "grade"], ["a", "=1+1"])
    repacked(path, SHEET, lambda raw: re.sub(rb"<v ?/>|<v></v>", b"<v>2</v>", raw))
    assert rows_of(path) == [{"id": "a", "grade": 2}]


def test_blank_rows_and_columns_are_passed_over(book):
    path = book(
        ["id", None, "text", None], [], ["a", "x", "b"], [None, None, None], ["c", None, None]
    )
    sheet = read_sheet(path, "a.xlsx")
    rows = [(number, row["id"], row.get("text")) for number, row in sheet.rows]
    assert sheet.columns == ("id", "", "text") and rows == [(3, "a", "b"), (5, "c", None)]


def test_the_first_sheet_that_shows_is_read(book):
    def hide(made):
        made.active.sheet_state = "hidden"
        made.create_sheet("Shown").append(["id"])
        made["Shown"].append(["seen"])
        made.create_sheet("Last").append(["id"])

    assert rows_of(book(["id"], ["hidden"], change=hide)) == [{"id": "seen"}]


def test_a_workbook_whose_stated_size_is_wrong_is_read_whole(book):
    path = book(["id", "text"], ["a", "b"], ["c", "d"])
    repacked(
        path, SHEET, lambda raw: re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', raw)
    )
    assert rows_of(path) == [{"id": "a", "text": "b"}, {"id": "c", "text": "d"}]


def test_text_as_excel_keeps_it(book):
    path = book(["id", "text"], ["a", "LINES"], ["b", "LITERAL"])
    kept = {b"LINES": b"a_x000D_&#10;b", b"LITERAL": b"_x005F_x000D_"}

    def write(raw):
        for word, text in kept.items():
            raw = raw.replace(word, text)
        return raw

    repacked(path, SHEET, write)
    assert [row["text"] for row in rows_of(path)] == ["a\r\nb", "_x000D_"]


def test_text_that_cells_share_as_excel_writes_it(book):
    path = book(["id", "text"], ["a", "b"])
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    part = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + kind + b'"/></Types>'
    repacked(path, "[Content_Types].xml", lambda raw: raw.replace(b"</Types>", part))
    shared = re.compile(rb'<c r="B2"[^>]*>.*?</c>')
    repacked(path, SHEET, lambda raw: shared.sub(b'<c r="B2" t="s"><v>0</v></c>', raw))
    with zipfile.ZipFile(path, "a") as packed:
        space = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
        text = b"<si><r><t>a_x000D_&#10;</t></r><r><t>b</t></r></si>"
        packed.writestr("xl/sharedStrings.xml", b"<sst " + space + b">" + text + b"</sst>")
    assert rows_of(path) == [{"id": "a", "text": "a\r\nb"}]


@pytest.mark.parametrize("first", [[], [None, None]])
def test_a_workbook_without_a_header(book, first):
    said = "a.xlsx:1: there is no header. Name the columns in the first row."
    assert refused(book(first, ["a", "b"])) == said


def test_a_column_that_stands_twice(book):
    assert 'the column "id" stands twice' in refused(book(["id", "text", " id "], [1, 2, 3]))


BROKEN = "a.xlsx: the file is not a readable spreadsheet. Save it again as .xlsx, or as CSV UTF-8."


@pytest.mark.parametrize("raw", [b"", b"id,text\na,b\n", b"\xd0\xcf\x11\xe0" + bytes(600), b"PK"])
def test_what_is_no_workbook(tmp_path, raw):
    path = tmp_path / "a.xlsx"
    path.write_bytes(raw)
    assert refused(path) == BROKEN


def test_a_zip_that_holds_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as packed:
        packed.writestr("a", "b")
    assert refused(tmp_path / "a.xlsx") == BROKEN


@pytest.mark.parametrize(
    ("member", "raw"),
    [
        ("xl/workbook.xml", b"<a/>"),
        ("xl/workbook.xml", b"junk"),
        ("[Content_Types].xml", b"junk"),
        ("[Content_Types].xml", b"<a/>"),
        (SHEET, b""),
        (SHEET, b"junk"),
    ],
)
def test_a_workbook_with_a_broken_part(book, member, raw):
    path = repacked(book(["id"], ["a"]), member, lambda _: raw)
    assert refused(path).startswith("a.xlsx")


def test_a_sheet_that_is_cut_short_behind_its_header(book):
    path = book(["id"], *[[f"row {number}"] for number in range(20)])
    repacked(path, SHEET, lambda raw: raw[:-300])
    assert "not a readable spreadsheet" in refused(path)


def test_a_sheet_whose_packed_bytes_are_damaged(book):
    path = book(["id"], *[[f"row {number}"] for number in range(200)])
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as packed:
        begin = packed.getinfo(SHEET).header_offset + 30 + len(SHEET)
        middle = begin + packed.getinfo(SHEET).compress_size // 2
    raw[middle : middle + 40] = bytes(40)
    path.write_bytes(raw)
    assert "not a readable spreadsheet" in refused(path)


def test_a_workbook_that_would_fill_the_memory_is_refused(book, monkeypatch):
    monkeypatch.setattr("app.engines.sheets._MOST_BYTES", 1000)
    assert re.match(r"a\.xlsx: the file unpacks to \d+,\d+ bytes", refused(book(["id"], ["a"])))

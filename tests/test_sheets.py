"""Tables for people: what is written comes back, and no cell of it is a formula."""

import csv
import gc
import io
import os
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.engines.sheets import is_sheet, read_sheet, read_text
from app.engines.sheets_out import MOST_IN_CELL, write_sheet
from tests.exchanging import IDS, TEXTS

FORMULAS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "'''@x", "=", "-", "'", "''",
    '=HYPERLINK("http://a.b","c")', "=cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "＝1", "'a",
]  # fmt: skip
ESCAPES = [
    "_x000D_", "_x000D_x000D_", "_x005F_x000D_", "_x0041\r", "_x_x000D_", "__x000D_", "_x000d_",
    "_xFFFF_", "_xZZZZ_", "_x0041", "_", "_x000D\r_", "_x0041_x0042_x0043_",
]  # fmt: skip
CELLS = TEXTS | st.sampled_from([*FORMULAS, *ESCAPES]) | st.just(None)
COLUMNS = IDS.filter(lambda name: not set(name) & set(",;\t"))
FORMATS = pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])


def there_and_back(folder, ending, columns, rows, *, people=True):
    path = folder / f"table.{ending}"
    write_sheet(path, columns, rows, people=people)
    sheet = read_sheet(path, path.name, people=people)
    return sheet.columns, [filled(row) for _, row in sheet.rows]


def filled(row):
    return {name: cell for name, cell in row.items() if cell is not None}


def as_read(columns, rows):
    return [filled(dict(zip(columns, row, strict=True))) for row in rows if any(row)]


@FORMATS
@settings(deadline=None, max_examples=100)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=4))
@example(rows=[(cell, None, "a") for cell in (*FORMULAS, *ESCAPES)])
@example(rows=[("a,b;c\td", "a\nb\r\nc\rd", 'a"b')])
@example(rows=[("\ufeff", "\x85\u2028", "\x1a\x01\x1f\x7f")])
def test_cells_come_back_as_they_were(tmp_path_factory, ending, rows):
    columns = ("id", "text", "note")
    found = there_and_back(tmp_path_factory.mktemp("sheet"), ending, columns, rows)
    assert found == (columns, as_read(columns, rows))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
@example([("a\rb", "=1")])
def test_files_for_programs_come_back_as_they_were(tmp_path_factory, rows):
    columns = ("a", "b")
    found = there_and_back(tmp_path_factory.mktemp("sheet"), "tsv", columns, rows, people=False)
    assert found == (columns, as_read(columns, rows))


@FORMATS
@settings(deadline=None, max_examples=60)
@given(columns=st.lists(COLUMNS, min_size=1, max_size=3, unique=True))
@example(columns=["=a", "#"])
@example(columns=["a"])
def test_columns_come_back_as_they_were(tmp_path_factory, ending, columns):
    rows = [["a,b;c d"] * len(columns)]
    found = there_and_back(tmp_path_factory.mktemp("sheet"), ending, columns, rows)
    assert found == (tuple(columns), as_read(columns, rows))


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(CELLS, CELLS), max_size=4))
@example(rows=[(cell, cell) for cell in FORMULAS])
def test_no_cell_of_a_file_is_a_formula(tmp_path_factory, ending, rows):
    path = tmp_path_factory.mktemp("sheet") / f"table.{ending}"
    write_sheet(path, ("=id", "@text"), rows)
    text = path.read_bytes().decode("utf-8-sig")
    cells = [c for row in csv.reader(io.StringIO(text, newline=""),
                                     delimiter="\t" if ending == "tsv" else ",")
             for c in row]  # fmt: skip
    assert len(cells) >= 2 and not [c for c in cells if c.startswith(tuple("=+-@\t\r"))]


def test_numbers_and_truth_keep_their_kind_in_a_workbook_and_are_words_in_text(tmp_path):
    row = [2, -1, 0.5, True, False]
    columns = tuple("abcde")
    _, [found] = there_and_back(tmp_path, "xlsx", columns, [row])
    assert list(found.values()) == row and found["d"] is True
    _, [found] = there_and_back(tmp_path, "csv", columns, [row])
    assert list(found.values()) == ["2", "-1", "0.5", "true", "false"]


def test_a_csv_for_people_is_what_a_spreadsheet_opens(tmp_path):
    path = tmp_path / "a.csv"
    write_sheet(path, ("id", "text"), [("q1", 'é, "a"'), ("=1", None)])
    assert path.read_bytes() == '\ufeffid,text\r\nq1,"é, ""a"""\r\n\'=1,\r\n'.encode()
    write_sheet(path, ("id", "text"), [("=1", "é")], people=False)
    assert path.read_bytes() == "id,text\n=1,é\n".encode()
    assert next(read_sheet(path, "a.csv", people=False).rows)[1] == {"id": "=1", "text": "é"}


@FORMATS
def test_the_same_content_is_the_same_bytes(tmp_path, ending):
    first, second = (tmp_path / f"{name}.{ending}" for name in ("first", "second"))
    write_sheet(first, ("id", "text"), [("a", "b"), (1, True)])
    time.sleep(1.1 if ending == "xlsx" else 0)  # a workbook may note the second it was saved in
    write_sheet(second, ("id", "text"), [("a", "b"), (1, True)])
    assert first.read_bytes() == second.read_bytes()


def test_the_largest_cell(tmp_path):
    _, rows = there_and_back(tmp_path, "xlsx", ("a",), [["x" * MOST_IN_CELL]])
    assert rows == [{"a": "x" * 32_767}]
    _, rows = there_and_back(tmp_path, "csv", ("a",), [["x" * 200_000]])
    assert len(rows[0]["a"]) == 200_000


def too_long(path, text):
    with pytest.raises(InvalidInput) as caught:
        write_sheet(path, ("id", "text"), [("q1", "short"), ("q2", text)])
    return str(caught.value)


@pytest.mark.parametrize("text", ["x" * 32_768, "😀" * 16_384])
def test_a_text_too_long_for_a_cell_is_refused_and_nothing_is_left(tmp_path, text):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"before")
    assert too_long(path, text) == (
        f"a.xlsx:3: a text of {len(text):,} characters is too long for a cell, which takes 32,767. "
        "Export as CSV or JSONL."
    )
    assert os.listdir(tmp_path) == ["a.xlsx"] and path.read_bytes() == b"before"


def test_a_refused_workbook_leaves_no_error_behind(tmp_path, monkeypatch):
    late = []
    monkeypatch.setattr(sys, "unraisablehook", late.append)
    too_long(tmp_path / "a.xlsx", "x" * 32_768)
    gc.collect()
    assert [str(one.exc_value) for one in late] == []


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.tsv", "a.xlsx", "A.XLSX"])
def test_tables_are_told_by_their_ending(name, tmp_path):
    path = tmp_path / name
    assert is_sheet(path) and not is_sheet(tmp_path / "a.txt") and not is_sheet(tmp_path / "csv")
    write_sheet(path, ("id", "text"), [("a", "b")])
    assert list(read_sheet(path, name).rows) == [(2, {"id": "a", "text": "b"})]


def table(raw):
    sheet = read_text(raw, "a.csv")
    return sheet.columns, list(sheet.rows)


@pytest.mark.parametrize(
    "raw",
    [
        "id,text\na,b\n",
        "id,text\r\na,b\r\n",
        "id,text\ra,b\r",
        "id;text\na;b",
        "id\ttext\na\tb\n",
        '"id","text"\n"a","b"\n',
        "id,text,,\na,b,,\n",
        " id , text \na,b",
    ],
)
def test_separators_and_line_ends_as_programs_write_them(raw):
    assert table(raw) == (("id", "text"), [(2, {"id": "a", "text": "b"})])


def test_a_separator_inside_quotes_of_the_header_separates_nothing():
    expected = (("Frage, wie gestellt", "chunk"), [(2, {"Frage, wie gestellt": "a", "chunk": "b"})])
    assert table('"Frage, wie gestellt";chunk\na;b\n') == expected


def test_rows_keep_the_line_they_begin_on():
    _, rows = table('id,text\n\na,"one\ntwo"\n,\nb,c\n')
    assert rows == [(3, {"id": "a", "text": "one\ntwo"}), (6, {"id": "b", "text": "c"})]


def test_a_short_row_has_no_more_cells():
    assert table("id,text\na\n")[1] == [(2, {"id": "a"})]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", "a.csv:1: there is no header. Name the columns in the first row."),
        ("\na,b\n", "a.csv:1: there is no header. Name the columns in the first row."),
        (",,\n", "a.csv:1: there is no header. Name the columns in the first row."),
        ("a,b,a\n1,2,3", 'a.csv:1: the column "a" stands twice. Name every column once.'),
        ("a, a\n1,2", 'a.csv:1: the column "a" stands twice. Name every column once.'),
        (
            "a,b\n1,2\n1,2,3\n",
            "a.csv:3: the row has 3 cells, the first line has 2. "
            "Put quote marks around cells that hold a separator.",
        ),
        (
            'a,b\n1,2\n"x\n\n',
            "a.csv:3: the line is not CSV: unexpected end of data. Mend its quote marks.",
        ),
        (
            'a,b\n"x"y,2\n',
            "a.csv:2: the line is not CSV: ',' expected after '\"'. Mend its quote marks.",
        ),
        ('"a"b,c\n', "a.csv:1: the first line is not CSV: ',' expected after '\"'."),
    ],
)
def test_text_that_is_no_table(raw, message):
    with pytest.raises(InvalidInput) as caught:
        table(raw)
    assert str(caught.value) == message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_as_spreadsheets_write_them(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("id;text\r\né;😀\r\n".encode(encoding))
    assert list(read_sheet(path, "a.csv").rows) == [(2, {"id": "é", "text": "😀"})]


@pytest.mark.parametrize(
    ("raw", "place"),
    [("é,b\n".encode("latin1"), "a.csv:1"), (b"a,b\n1,2\n\xff,x\n", "a.csv:3")],
)
def test_what_is_not_utf_8_is_refused_by_line(tmp_path, raw, place):
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    with pytest.raises(InvalidInput) as caught:
        read_sheet(path, "a.csv")
    (problem,) = caught.value.problems
    assert (problem.place, problem.remedy) == (place, "Save it as CSV UTF-8")
    assert problem.message == f"the file is not UTF-8 (byte {raw.index(max(raw)) + 1})"


@FORMATS
def test_a_file_that_cannot_be_read(tmp_path, ending):
    with pytest.raises(InvalidInput, match="the file cannot be read: No such file"):
        read_sheet(tmp_path / f"none.{ending}", "none")

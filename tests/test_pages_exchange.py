"""Page Label, view Import and export, run as Streamlit runs it but without a browser."""

import io
import json
import shutil
import zipfile

import openpyxl
import pytest
from streamlit.testing.v1 import AppTest

from app.core.errors import DeskError
from app.flows import asking
from app.flows.exchange.downloading import FORMS, counts, made
from app.flows.exchange.exporting import Choice, send_out
from app.flows.exchange.importing import Options
from app.flows.exchange.uploading import (
    MOST_BYTES,
    MOST_LINES,
    Upload,
    called,
    pasted,
    taken,
    tried,
)
from app.flows.loading import load
from tests.conftest import REPOSITORY
from tests.exchanging import tree
from tests.labelpage import shown
from tests.reviewing import filled, read, said, write

ROWS = "question,chunk,grade,reviewer\nq1,apple,2,bob\nq1,pear,1,\nq2,plum,7,bob\nq2,nope,0,bob\n"


@pytest.fixture
def root(tiny, monkeypatch):
    """Ann's one judgment."""
    root = filled(tiny, said("ann", "apple", 2))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def view(root):
    """Opens the view; `**query` is what the link asks for."""

    def run(**query):
        at = AppTest.from_file(str(REPOSITORY / "app/main.py"), default_timeout=60)
        for key, value in {"view": "exchange", "reviewer": "cem", **query}.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        return at

    return run


def field(at, kind, ending):
    """The one widget whose key ends that way."""
    (found,) = [one for one in getattr(at, kind) if one.key and one.key.endswith(ending)]
    return found


def give(at, name, content):
    data = content if isinstance(content, bytes) else content.encode()
    field(at, "file_uploader", "-file").set_value((name, data, "application/octet-stream")).run()
    assert not at.exception
    return at


def button(at):
    (found,) = [one for one in at.button if one.label.startswith("Import ")]
    return found


def test_a_file_is_tried_and_nothing_is_written_before_the_button(view, root):
    before = tree(root)
    at = give(view(), "rows.csv", ROWS)
    text = shown(at)
    assert "rows.csv: 4 rows read, labels of tiny: 2 new, 0 there already, 2 refused." in text
    assert "Grades as they are: 0=0,1=1,2=2." in text
    assert "Under the names of: bob 1, imported 1." in text
    assert "rows.csv:4" in text and "the grade &quot;7&quot; is outside the scale" in text
    assert "rows.csv:5" in text and "the chunk &quot;nope&quot; is unknown" in text
    assert "“Grades of another scale” 0=0,1=1,2=1,3=2" in text and "--" not in text
    assert button(at).label == "Import 2 labels" and button(at).disabled
    assert "Nothing can be imported while rows are refused" in text
    assert tree(root) == before


def test_refused_rows_are_left_out_when_the_user_says_so(view, root):
    at = give(view(), "rows.csv", ROWS)
    [box] = [one for one in at.checkbox if one.label == "Leave out the 2 refused rows"]
    box.check().run()
    button(at).click().run()
    assert "Imported 2 labels of rows.csv, 2 refused rows left out." in shown(at)
    assert not [one for one in at.button if one.label.startswith("Import ")]
    by = {path.stem for path in (root / "labels/tiny/judgments").glob("*.jsonl")}
    assert by == {"ann", "bob", "imported"}


def test_options_map_the_scale_the_columns_and_who_judged(view, root):
    at = give(view(), "stars.csv", "question,passage,grade\nq1,pear,3\nq2,plum,-1\n")
    assert "there is no column chunk" in shown(at) and "“Names of columns”" in shown(at)
    field(at, "text_area", "-columns").set_value("chunk=passage").run()
    field(at, "text_input", "-grades").set_value("0=0,3=2,-1=skip").run()
    field(at, "text_input", "-reviewer").set_value("Old Team").run()
    field(at, "checkbox", "-seen").check().run()
    text = shown(at)
    assert "Grades mapped: -1=skip,0=0,3=2." in text and "1 left out (grade -1)" in text
    assert "Under the names of: old team 1." in text
    button(at).click().run()
    (line,) = (root / "labels/tiny/judgments/old_team.jsonl").read_text().splitlines()
    event = json.loads(line)
    assert (event["grade"], event["author"], event["blind"]) == (2, "old team", False)
    field(at, "text_input", "-grades").set_value("0=9").run()
    assert "maps to 9, which is outside 0..2" in shown(at)


def test_pasted_qrels_keep_unknown_chunks_unless_told_otherwise(view, root):
    at = view()
    field(at, "text_area", "-pasted").set_value("q1 0 pear 1\nq1 0 gone 2\n").run()
    text = shown(at)
    assert "pasted.qrels: 2 rows read" in text and "Chunks without a text here: 1" in text
    field(at, "selectbox", "-unknown").set_value("skip").run()
    assert "1 left out (unknown chunk)" in shown(at) and button(at).label == "Import 1 label"


def test_questions_are_imported_too(view, root):
    at = view(what="questions")
    field(at, "text_area", "-pasted").set_value("id,text\nq9,What is a quince?\nq1,Other?\n").run()
    assert "1 new, 0 there already, 1 refused" in shown(at)
    assert "“Replace questions that are there”" in shown(at)
    field(at, "checkbox", "-update").check().run()
    button(at).click().run()
    assert "Imported 2 questions of pasted.csv." in shown(at)
    assert read(root).questions["q9"].text == "What is a quince?"


def test_who_may_not_grade_imports_nothing_and_exports(view, root):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["ann"]\n')
    at = view()
    assert "may read but not grade" in shown(at) and not at.file_uploader
    assert [b.label for b in view(way="out").get("download_button")]
    upload = Upload("rows.csv", ROWS.encode())
    with pytest.raises(DeskError, match="may read but not grade"):
        taken(read(root), "cem", "labels", upload, Options(skip_refused=True))


def formula():
    book = openpyxl.Workbook()
    for row in (["question", "chunk", "grade"], ["q1", "pear", "=1+1"]):
        book.active.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "empty.csv: the file is empty. Choose one with rows."),
        ("blank.jsonl", b"\xef\xbb\xbf \n\n", "blank.jsonl: the file is empty."),
        ("logo.png", b"\x89PNG\r\n\x1a\n\x00\x00", "logo.png: the file is not text."),
        ("old.csv", b"question,chunk,grade\nq\xe9,a,1\n", "old.csv:2: the file is not UTF-8 (byte"),
        ("old.txt", b"q1 0 pear 1\nq\xe9 0 a 1\n", "old.txt:2: the file is not UTF-8 (byte 14)"),
        ("rows.xlsx", b"no workbook", "rows.xlsx: the file is not a readable spreadsheet."),
        ("sum.xlsx", formula(), "sum.xlsx: the cell C2 holds a formula whose value was never"),
        ("large.csv", b"x" * (MOST_BYTES + 5_000_000), "large.csv: the file has 30.0 MB, and"),
        ("long.qrels", b"q\n" * (MOST_LINES + 1), "long.qrels: the file has 100,001 lines, and"),
        ("large.xlsx", b"x" * 5_100_000, "large.xlsx: the file has 5.1 MB, and a page takes 5."),
        ("../../x/<b>.csv", b"a,b\n1,2\n", "&lt;b&gt;.csv: there is no column question."),
        ("a\nb\x00c.csv", b"a,b\n1,2\n", "a?b?c.csv: there is no column question."),
        ("..", b"", "..: the file is empty."),
        ("cut.zip", b"PK\x03\x04", "cut.zip"),
    ],
    ids=lambda one: repr(one)[:24],
)
def test_a_file_that_is_none_is_one_sentence_and_the_page_stays(root, view, name, content, words):
    at = view()
    before = tree(root)
    give(at, name, content)
    told = [e.proto.body for e in at.get("html") if 'role="alert"' in e.proto.body]
    assert len(told) == 1 and words in told[0]
    assert not [one for one in at.button if one.label.startswith("Import ")]
    assert tree(root) == before
    assert "1 new" in shown(give(at, "good.csv", "question,chunk,grade\nq1,pear,1\n"))


@pytest.mark.parametrize(
    ("name", "shown_as"),
    [("a/b\\c.csv", "c.csv"), ("", "file"), ("x" * 300 + ".csv", f"{'x' * 60}…{'x' * 15}.csv"),
     ("\ud800.csv", "?.csv"), ("\u202ecsv.exe", "?csv.exe")],
)  # fmt: skip
def test_a_name_is_shown_in_its_last_part_printable_and_short(name, shown_as):
    assert called(name) == shown_as


@pytest.mark.parametrize(
    ("words", "name"),
    [("q1 0 d 1\nq2 0 e -1", "pasted.qrels"), ('{"event":"e"}', "pasted.jsonl"),
     ("question\tchunk\tgrade", "pasted.tsv"), ("question,chunk,grade\nq1 0 d 1", "pasted.csv")],
)  # fmt: skip
def test_what_is_pasted_is_read_as_what_it_looks_like(words, name):
    assert pasted(words, "labels").name == name


def test_a_file_that_changed_since_it_was_tried_is_not_imported(view, root):
    at = give(view(), "rows.csv", "question,chunk,grade\nq1,pear,1\n")
    field(at, "text_input", "-reviewer").set_value("Bob")
    button(at).click().run()
    assert "has changed since it was tried" in shown(at)
    assert not (root / "labels/tiny/judgments/imported.jsonl").exists()


def test_the_export_counts_says_whose_grades_it_holds_and_makes_nothing_yet(view, monkeypatch):
    monkeypatch.setattr("app.ui.label.exchange_out.made", lambda *_: pytest.fail("made too early"))
    at = view(way="out")
    text = shown(at)
    assert "hold everybody&#x27;s grades" in text
    assert "1 event<" in text and "1 pair<" in text and "2 questions<" in text
    assert "4 chunks, 2 questions, 1 pair" in text
    labels = [one.label for one in at.get("download_button")]
    assert len(labels) == len(FORMS) and labels[0] == "Download labels\\.jsonl"
    assert all(one.proto.deferred_file_id for one in at.get("download_button"))
    at.button(key="say-unpublished").click().run()
    assert "tiny: 1 of 1 events unpublished" in shown(at) or "note: " in shown(at)


def test_refused_labels_are_told_once_and_only_questions_go_out(view, root):
    (root / "labels/tiny/judgments/bob.jsonl").write_text("{no line\n")
    at = view(way="out")
    assert shown(at).count("labels/tiny/judgments/bob.jsonl:1: the line is not JSON") == 1
    able = [one.label for one in at.get("download_button") if not one.proto.disabled]
    assert able == ["Download questions\\.jsonl", "Download questions\\.csv"]


def test_every_download_is_what_the_command_writes(root, tmp_path):
    loaded = read(root)
    for form in FORMS:
        data = made(loaded, form)
        if form.ending == "beir.zip":
            send_out(loaded.collection, "beir", tmp_path / "beir", Choice())
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                found = {name: packed.read(name) for name in packed.namelist()}
            assert found == {f"beir/{name}": raw for name, raw in tree(tmp_path / "beir").items()}
            assert made(loaded, form) == data
        elif not form.ending.endswith(".map.jsonl"):
            path = tmp_path / form.ending
            send_out(loaded.collection, form.kind, path, Choice())
            assert data == path.read_bytes()
        else:
            assert data == (tmp_path / form.ending).read_bytes()
        assert counts(loaded, form)


def test_downloaded_imported_elsewhere_and_downloaded_again_it_is_the_same(
    root, view, tmp_path, monkeypatch
):
    mine = said("ann", "pear", 1, note="=cmd|' /C calc'!A0, $x$")
    back = said("ann", "pear", "withdraw", replaces=mine["event"])
    write(root, mine, back, said("bob roe", "plum", "cannot-judge", "q2"))
    loaded = read(root)
    asking.retire(loaded, "cem", loaded.questions["q2"], "Nobody asks it.")
    first = made(read(root), FORMS[0])
    second = tmp_path / "second-workspace"
    shutil.copytree(root, second)
    for path in second.glob("labels/tiny/*/*.jsonl"):
        path.unlink()
    monkeypatch.chdir(second)
    at = give(view(), "tiny-labels.jsonl", first)
    assert "5 rows read, labels of tiny: 5 new" in shown(at)
    assert "Under the names of: ann 3, bob roe 1." in shown(at)
    button(at).click().run()
    assert made(read(second), FORMS[0]) == first
    give(at, "tiny-labels.jsonl", first)
    assert "0 new, 5 there already" in shown(at) and "no row is new" in shown(at)
    assert button(at).disabled


def test_qrels_come_back_with_their_map(root):
    qrels, keys = (made(read(root), form) for form in FORMS[2:4])
    upload = Upload("qrels.trec", qrels, keys, "qrels.trec.map.jsonl")
    found = tried(load(read(root).collection), "labels", upload, Options(reviewer="ann"))
    assert (found.read, found.known, found.refused.problems) == (1, 1, [])
    bad = Upload("qrels.trec", qrels, b"{no\n", "my map")
    with pytest.raises(DeskError, match="^my map:1: "):
        tried(read(root), "labels", bad, Options())

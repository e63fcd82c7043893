"""`desk export C labels`: every event, or the grades that count; and `desk export C questions`."""

import csv
import io
import json

import openpyxl
import pytest

from app.core.text import canonical, text_hash
from tests.conftest import TEXTS, judgment
from tests.exchanging import errors, json_lines, tree

OTHER = "0" * 64
RETIRED = {
    "format": 1, "event": "r1", "time": "2026-01-01T00:00:00.000Z", "author": "dan",
    "kind": "retire-label", "question": "q2", "chunk": ["quince", "as-is-v1", "quince"],
    "note": "gone", "text_hash": text_hash(TEXTS["quince"]),
}  # fmt: skip
EVENTS = [
    judgment("q1", "apple", 2, 0),
    judgment("q1", "apple", 2, 1, author="bob"),
    judgment("q1", "pear", 1, 2),
    judgment("q1", "pear", 2, 3, author="bob"),
    judgment("q1", "plum", 2, 4),
    judgment("q1", "plum", 0, 5, author="bob"),
    judgment("q1", "quince", None, 6, kind="cannot-judge", reason="broken text"),
    judgment("q2", "apple", 1, 7, question_hash=OTHER),
    judgment("q2", "pear", 0, 8),
    judgment("q2", "plum", None, 9, kind="later"),
    judgment("q2", "quince", 2, 10),
    judgment("q2", "gone", 1, 11, text_hash=OTHER),
    judgment("q2", "away", 2, 12, no_text=True),
    judgment("q2", "plum", 2, 13),
    judgment("q2", "plum", None, 14, kind="withdraw", replaces="e13"),
]


@pytest.fixture
def root(tiny):
    """A workspace with a label of every state."""
    root = tiny(labels=EVENTS)
    folder = root / "labels/tiny/events"
    folder.mkdir()
    (folder / "dan.jsonl").write_text(json_lines([RETIRED]))
    return root


@pytest.fixture
def export(root, tmp_path, desk):
    """Exports to a file of that name; returns its path and the answer."""

    def run(kind, name, *words):
        path = tmp_path / name
        return path, desk(root, "export", "tiny", kind, path, *words)

    return run


QRELS = """\
q1 0 apple|as-is-v1|apple 2
q1 0 pear|as-is-v1|pear 1
q2 0 away|as-is-v1|away 2
q2 0 gone|as-is-v1|gone 1
q2 0 pear|as-is-v1|pear 0
"""


def test_qrels_hold_the_grades_that_count_and_the_rest_is_counted(export):
    path, answer = export("labels", "qrels.txt", "--json")
    assert path.read_text() == QRELS
    assert answer.json == {
        "format": 1, "files": [str(path), f"{path}.map.jsonl"], "lines": 5, "notes": [],
        "left_out": {"disputed": 1, "cannot-judge": 1, "stale": 1, "retired": 1},
    }  # fmt: skip
    _, answer = export("labels", "again.txt")
    assert answer.out.endswith(
        "again.txt.map.jsonl: 5 rows; 1 left out (disputed); 1 left out (cannot-judge); "
        "1 left out (stale); 1 left out (retired).\n"
    )


def test_a_map_beside_qrels_says_what_its_words_mean(export):
    path, _ = export("labels", "qrels.txt")
    lines = [json.loads(line) for line in path.with_name("qrels.txt.map.jsonl").open()]
    words = {word for line in QRELS.splitlines() for word in (line.split()[0], line.split()[2])}
    assert {line["id"] for line in lines} == words and len(lines) == len(words)
    assert {"format": 1, "id": "q1", "question": "q1"} in lines
    assert {"format": 1, "id": "pear|as-is-v1|pear", "chunk": ["pear", "as-is-v1", "pear"]} in lines


@pytest.mark.parametrize(
    ("grades", "column", "left_out"),
    [
        ("0=0,1=1,2=3", "31310", {}),
        ("0=-1", None, {}),
        ("0=0,1=1,2=skip", "110", {"grade 2": 2}),
        ("0=0,1=10,2=100", ["100", "10", "100", "10", "0"], {}),
    ],
)
def test_qrels_on_another_scale(export, grades, column, left_out):
    path, answer = export("labels", "qrels.txt", "--grades", grades, "--json")
    if column is None:
        assert answer.code == 2 and not path.exists() and errors(answer)
        return
    assert [line.split()[3] for line in path.read_text().splitlines()] == list(column)
    assert left_out.items() <= answer.json["left_out"].items()


def test_labels_that_are_complete_say_what_other_tools_will_not_know(export, edit, root):
    words = f'[labels]\ncompleteness = "complete"\ncomplete_as_of = "{OTHER}"\n'
    before = "[configurations.sparse]"
    edit(root / "data/tiny/collection.toml", before, words + before)
    _, answer = export("labels", "qrels.txt")
    assert answer.code == 0 and any("The labels are complete" in note for note in answer.notes)


def test_json_lines_hold_every_event_by_author(export):
    path, answer = export("labels", "l.jsonl")
    mine = [one for one in EVENTS if one["author"] == "ann"]
    theirs = [one for one in EVENTS if one["author"] == "bob"]
    expected = [*mine, *theirs, RETIRED]
    assert path.read_text() == "".join(canonical(one) + "\n" for one in expected)
    assert answer.out.strip() == f"{path}: 16 rows."


def test_what_a_line_left_out_stays_out_and_what_it_said_stays_in(root, export):
    whole = judgment("q1", "quince", 1, 99, replaces=None, evidence=[], blind=True)
    (root / "labels/tiny/judgments/ann.jsonl").write_text(json_lines([whole, EVENTS[0]]))
    path, _ = export("labels", "l.jsonl")
    assert [json.loads(line) for line in path.open()][:2] == [whole, EVENTS[0]]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_a_sheet_has_every_event_with_what_people_want_to_read(export, ending):
    path, answer = export("labels", f"l.{ending}")
    if ending == "xlsx":
        header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    else:
        text = path.read_bytes().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text), delimiter="\t" if ending == "tsv" else ",")
        header, *rows = reader
    assert list(header)[:8] == [
        "question", "question_text", "document", "version", "chunk", "grade", "kind", "reviewer",
    ]  # fmt: skip
    assert len(rows) == 16 and [str(cell) for cell in rows[0][:8]] == [
        "q1", "When is an apple tree pruned?", "apple", "as-is-v1", "apple", "2", "grade", "ann",
    ]  # fmt: skip
    assert answer.code == 0 and answer.out.endswith(f"l.{ending}: 16 rows.\n")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("labels", "l.jsonl"), ("labels", "l.csv"), ("labels", "l.xlsx"), ("labels", "qrels.txt"),
     ("questions", "q.jsonl"), ("questions", "q.csv"), ("questions", "q.xlsx")],
)  # fmt: skip
def test_what_is_there_is_written_over_only_by_force(export, tmp_path, kind, name):
    (tmp_path / name).write_bytes(b"mine")
    before = tree(tmp_path)
    path, answer = export(kind, name)
    assert answer.code == 2 and tree(tmp_path) == before
    said = "it is there already; nothing was written. Name another one, or write over it with"
    assert errors(answer) == [f"{path}: {said} --force."]
    _, answer = export(kind, name, "--force")
    assert answer.code == 0 and path.read_bytes() != b"mine"


def test_a_map_that_is_there_is_written_over_only_by_force(export, tmp_path):
    (tmp_path / "qrels.txt.map.jsonl").write_text("mine")
    path, answer = export("labels", "qrels.txt")
    assert answer.code == 2 and not path.exists()
    assert (tmp_path / "qrels.txt.map.jsonl").read_text() == "mine"
    assert export("labels", "qrels.txt", "--force")[1].code == 0


@pytest.mark.parametrize("name", ["l.jsonl", "l.csv", "qrels.txt"])
def test_a_ledger_that_cannot_be_read_is_told_and_nothing_is_written(root, export, name):
    with (root / "labels/tiny/judgments/ann.jsonl").open("a") as file:
        file.write("{\n")
    path, answer = export("labels", name)
    assert answer.code == 2 and not path.exists()
    assert errors(answer)[0].startswith("labels/tiny/judgments/ann.jsonl:16: the line is not JSON")


def test_an_export_changes_nothing_in_the_workspace(root, export):
    before = tree(root)
    for name in ("l.jsonl", "l.csv", "l.xlsx", "qrels.txt"):
        assert export("labels", name)[1].code == 0
    assert export("questions", "q.csv")[1].code == 0 and tree(root) == before


def test_a_folder_is_no_file_and_folders_are_made(export, tmp_path):
    (tmp_path / "folder").mkdir()
    assert errors(export("labels", "folder", "--force")[1]) == [
        f"{tmp_path / 'folder'}: this is a folder. Name a file in it."
    ]
    path, answer = export("labels", "new/deep/l.jsonl")
    assert answer.code == 0 and path.exists()
    (tmp_path / "file").write_text("x")
    assert export("labels", "file/l.jsonl")[1].code == 2


@pytest.mark.parametrize("name", ["l.json", "l.zip", "l.JSONL", "l.CSV", "l.XLSX", "l"])
def test_what_is_written_under_a_name_is_read_under_it(root, export, desk, name):
    path, exported = export("labels", name)
    answer = desk(root, "import", "tiny", "labels", path)
    assert answer.code == exported.code


def test_an_empty_collection(tiny, desk, tmp_path):
    root = tiny(labels=[], questions=[])
    for kind, name in (("labels", "l.jsonl"), ("labels", "l.txt"), ("questions", "q.jsonl")):
        answer = desk(root, "export", "tiny", kind, tmp_path / name)
        assert answer.code == 0 and (tmp_path / name).read_bytes() == b""
        assert answer.out.endswith(": 0 rows.\n")

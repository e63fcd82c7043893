"""`desk import C labels`: rows of grades that other tools and people have."""

import json
import uuid
from functools import partial

import pytest

from app.core.text import text_hash
from tests.conftest import TEXTS
from tests.exchanging import errors, import_file, json_lines, ledger, tree

APPLE = ["apple", "as-is-v1", "apple"]


@pytest.fixture
def root(tiny):
    """A workspace without a label."""
    return tiny(labels=[])


@pytest.fixture
def bring(root, desk):
    """Imports labels from a file of that name and content."""
    return partial(import_file, desk, root, "labels")


def grades(root, author="imported"):
    return [(one["question"], one["chunk"][2], one["grade"]) for one in ledger(root, author)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.csv", "question,chunk,grade\nq1,apple,2\n"),
        ("l.csv", "\ufeffquestion;chunk;grade\r\nq1;apple;2\r\n".encode()),
        ("l.csv", "question;chunk;grade\nq1;apple;2\n".encode("utf-16")),
        ("l.tsv", "question\tchunk\tgrade\nq1\tapple\t2.0\n"),
        ("l.xlsx", [["question", "chunk", "grade"], ["q1", "apple", 2]]),
        ("l.xlsx", [["question", "chunk", "grade"], ["q1", "apple", " 2 "]]),
        ("l.jsonl", '{"question":"q1","chunk":"apple","grade":2}\n'),
        ("l.json", '\ufeff\n{"question":"q1","chunk":"apple","grade":"2"}\r\n'),
        ("qrels.txt", "q1 0 apple 2\n"),
        ("qrels", "\ufeff# question 0 chunk grade\r\n\r\n q1\t0  apple\t2 \r\n"),
        ("qrels.test.trec", "q1 Q0 apple|as-is-v1|apple 2\n"),
    ],
)
def test_one_grade_from_every_format(root, bring, collection_of, name, content):
    answer = bring(name, content)
    said = f"{name}: 1 row read, labels of tiny: 1 new, 0 there already, 0 refused. Imported."
    assert (answer.code, answer.out.strip()) == (0, said)
    (line,) = ledger(root, "imported")
    question = collection_of(root).questions()["q1"]
    assert uuid.UUID(line.pop("event")).version == 7 and line.pop("time").endswith("Z")
    assert line == {
        "format": 1, "author": "imported", "kind": "grade", "question": "q1", "chunk": APPLE,
        "grade": 2, "blind": True, "question_hash": question.hash,
        "text_hash": text_hash(TEXTS["apple"]),
    }  # fmt: skip


def test_a_dry_run_writes_nothing(root, bring):
    before = tree(root)
    answer = bring("l.csv", "question,chunk,grade\nq1,apple,2\nq1,pear,0\n", "--dry-run")
    assert answer.code == 0 and tree(root) == before
    assert "2 rows read" in answer.out and "2 new, 0 there already, 0 refused" in answer.out
    assert answer.out.endswith("A dry run: nothing was written.\n")


ROWS = [
    ("q1", "apple", "2"), ("q9", "apple", "2"), ("q1", "nope", "1"), ("q1", "pear", "3"),
    ("", "pear", "1"), ("q1", "", "1"), ("q1", "pear", "one"), ("q2", "plum", "0"),
]  # fmt: skip
REFUSED = [
    'l.csv:3: the question "q9" is unknown. '
    "Correct its id, or import the questions first: desk import C questions FILE.",
    'l.csv:4: the chunk "nope" is unknown. '
    "Correct its id, or say what to do with such rows: --unknown keep or skip.",
    'l.csv:5: the grade "3" is outside the scale 0=0,1=1,2=2. '
    "Map every grade to one of 0..2: --grades 0=0,1=1,2=1,3=2.",
    "l.csv:6: the question is blank. Name it, or remove the row.",
    "l.csv:7: the chunk is blank. Name it, or remove the row.",
    'l.csv:8: the grade "one" is outside the scale 0=0,1=1,2=2. '
    "Map every grade to one of 0..2: --grades 0=0,1=1,2=1,3=2.",
]
SHEET = "question,chunk,grade\n" + "".join(",".join(row) + "\n" for row in ROWS)


def test_refused_rows_are_told_by_line_and_nothing_is_written(root, bring):
    before = tree(root)
    answer = bring("l.csv", SHEET)
    assert (answer.code, errors(answer)) == (2, REFUSED) and tree(root) == before
    assert "8 rows read, labels of tiny: 2 new, 0 there already, 6 refused" in answer.out


def test_the_others_are_written_where_the_user_says_so(root, bring):
    answer = bring("l.csv", SHEET, "--skip-refused")
    assert (answer.code, errors(answer)) == (0, REFUSED)
    assert grades(root) == [("q1", "apple", 2), ("q2", "plum", 0)]


@pytest.mark.parametrize(
    "header",
    [
        "query-id,corpus-id,score",
        "qid,docid,relevance",
        "Question ID,Doc ID,Rating",
        "query_id,docno,label",
        " question , chunk_id , judgement ",
    ],
)
def test_columns_are_known_under_other_names(root, bring, header):
    assert bring("l.csv", f"{header}\nq1,apple,2\n").code == 0
    assert grades(root) == [("q1", "apple", 2)]


def test_columns_can_be_named(root, bring):
    words = [f"--column={one}" for one in ("question=Frage", "chunk=Absatz", "grade=Note")]
    answer = bring("l.csv", "Frage,Absatz,Note,grade,wer\nq1,apple,2,0,x\n", *words)
    assert answer.code == 0 and grades(root) == [("q1", "apple", 2)]
    assert "note: Columns that are not used: grade, wer." in answer.notes


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "question,grade",
            'l.csv: there is no column chunk. Columns there: "question", "grade". '
            "Say which one it is: --column chunk=THEIRS.",
        ),
        ("chunk,grade", "l.csv: there is no column question."),
        ("question,chunk", "l.csv: there is no column grade."),
    ],
)
def test_a_column_that_must_be_there(root, bring, header, message):
    before = tree(root)
    answer = bring("l.csv", f"{header}\na,b\n")
    assert answer.code == 2 and errors(answer)[0].startswith(message) and tree(root) == before


def test_a_chunk_in_three_columns_and_a_note(root, bring):
    bring("l.csv", "question,document,version,chunk,grade,note\nq1,apple,,apple,2,=see\n")
    (line,) = ledger(root, "imported")
    assert (line["chunk"], line["note"]) == (APPLE, "=see")
    answer = bring("l.csv", "question,document,version,chunk,grade\nq1,apple,v9,apple,2\n")
    assert errors(answer)[0].startswith('l.csv:2: the chunk "apple" is unknown')


def test_a_map_says_what_ids_mean(root, bring, tmp_path):
    lines = [{"format": 1, "id": "17", "question": "q1"}, {"format": 1, "id": "d3", "chunk": APPLE}]
    (tmp_path / "qrels.txt.map.jsonl").write_text(json_lines(lines))
    assert bring("qrels.txt", "17 0 d3 2\n").code == 0
    assert grades(root) == [("q1", "apple", 2)]
    pear = {"format": 1, "id": "d3", "chunk": ["pear", "as-is-v1", "pear"]}
    (tmp_path / "m.jsonl").write_text(json_lines([lines[0], pear]))
    assert bring("qrels.txt", "17 0 d3 1\n", "--map", tmp_path / "m.jsonl").code == 0
    assert grades(root)[1:] == [("q1", "pear", 1)]


def test_another_scale_is_mapped(root, bring):
    rows = "q1 0 apple 3\nq1 0 pear 2\nq1 0 plum 1\nq1 0 quince -1\nq2 0 plum 0\n"
    answer = bring("qrels.txt", rows, "--grades", "0=0,1=1,2=1,3=2,-1=skip")
    assert answer.code == 0 and "4 new" in answer.out and "1 left out (grade -1)" in answer.out
    assert grades(root) == [
        ("q1", "apple", 2), ("q1", "pear", 1), ("q1", "plum", 1), ("q2", "plum", 0),
    ]  # fmt: skip


def test_a_grade_that_the_mapping_leaves_out_is_refused(root, bring):
    before = tree(root)
    answer = bring("qrels.txt", "q1 0 apple 3\nq1 0 pear 4\n", "--grades", "3=2")
    assert answer.code == 2 and tree(root) == before
    assert errors(answer)[0].startswith('qrels.txt:2: the grade "4" is outside the scale 3=2.')
    answer = bring("qrels.txt", "q1 0 apple 3\n", "--grades", "3=9")
    assert answer.code == 2 and '"3=9" maps to 9, which is outside 0..2' in answer.err


def test_rows_without_a_grade_are_left_out_and_counted(root, bring):
    answer = bring("l.csv", "question,chunk,grade\nq1,apple,\nq1,pear,1\nq1,plum,\n")
    assert answer.code == 0 and "1 new, 0 there already, 2 left out (no grade)" in answer.out
    assert grades(root) == [("q1", "pear", 1)]


def test_numbers_are_ids(tiny, desk):
    root = tiny({"7": "Seven.", "8": "Eight."}, {"1": "One?"}, [])
    rows = [["question", "chunk", "grade"], [1, 7, 2], [1.0, 8.0, 0]]
    assert import_file(desk, root, "labels", "l.xlsx", rows).code == 0
    assert grades(root) == [("1", "7", 2), ("1", "8", 0)]


def test_lines_of_qrels(root, bring):
    answer = bring("qrels.txt", "q1 0 apple 2 x\nq1 0 pear\nq1 0 plum 1 y z\n", "--skip-refused")
    assert errors(answer) == [
        "qrels.txt:2: the line has 3 columns, not 4. Write: question 0 chunk grade."
    ]
    assert "note: 2 lines with more than 4 columns, which are not used." in answer.notes
    assert grades(root) == [("q1", "apple", 2), ("q1", "plum", 1)]


def test_a_line_that_is_not_utf_8_is_refused(root, bring):
    before = tree(root)
    answer = bring("qrels.txt", b"q1 0 apple 2\nq1 0 caf\xe9 1\n")
    assert answer.code == 2 and errors(answer)[0].startswith("qrels.txt:2: ")
    assert tree(root) == before


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"question":"q1","chunk":"apple","grade":NaN}', "the line is not usable JSON"),
        ('{"question":"q1","chunk":"apple"', "the line is not JSON"),
        ('["q1","apple",2]', "the line is JSON, but not an object"),
        ('{"question":"q1","chunk":"apple","grade":true}', 'the grade "True" is outside'),
        ('{"question":"q1","chunk":"apple","grade":1.5}', 'the grade "1.5" is outside'),
        ('{"question":["q1"],"chunk":"apple","grade":1}', "the question"),
        ('{"question":"\\ud800","chunk":"apple","grade":1}', 'the question "\\ud800" is unknown'),
        ('{"question":"q1","chunk":"\\ud800","grade":1}', 'the chunk "\\ud800" is unknown'),
        ('{"question":"q1","chunk":"apple","grade":1,"note":"\\ud800"}', "note holds the lone"),
        ('{"question":"q1","chunk":"apple","grade":1,"reviewer":"\\ud800"}', "the name"),
    ],
)
def test_what_cannot_be_a_label_is_refused(root, bring, row, message):
    before = tree(root)
    fine = '{"question":"q1","chunk":"pear","grade":1}\n'
    answer = bring("l.jsonl", fine + row + "\n")
    assert answer.code == 2 and errors(answer)[0].startswith(f"l.jsonl:2: {message}")
    assert tree(root) == before


def test_json_says_the_same(root, bring):
    rows = "question,chunk,grade,x\nq1,apple,2,\nq1,apple,2,\nq1,pear,,\nq9,pear,1,\n"
    answer = bring("l.csv", rows, "--json")
    (one,) = answer.json["imports"]
    assert answer.code == 2 and answer.json["format"] == 1 and answer.err == ""
    assert "Columns that are not used: x." in one.pop("notes")
    assert one == {
        "what": "labels of tiny", "source": "l.csv", "read": 4, "new": 1, "known": 0,
        "left_out": {"repeated": 1, "no grade": 1}, "refused": 1, "written": False,
        "problems": [
            {
                "place": "l.csv:5", "message": 'the question "q9" is unknown',
                "remedy": "Correct its id, or import the questions first: desk import C questions "
                "FILE",
            }
        ],
    }  # fmt: skip
    assert json.loads(bring("l.csv", SHEET[:32], "--json").out)["imports"][0]["written"] is True

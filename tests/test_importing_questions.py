"""`desk import C questions`: tables and JSON lines that people have."""

import json
from functools import partial

import pytest

from tests.exchanging import errors, import_file, json_lines, tree

KEPT = "labels/tiny/questions.jsonl"


@pytest.fixture
def root(tiny):
    """A workspace with the questions q1 and q2."""
    return tiny()


@pytest.fixture
def bring(root, desk):
    """Imports questions from a file of that name and content."""
    return partial(import_file, desk, root, "questions")


def questions(root):
    lines = (root / KEPT).read_text(encoding="utf-8").splitlines()
    return {one["id"]: one for one in map(json.loads, lines)}


WHOLE = {
    "format": 1, "id": "q3", "category": "storage", "text": "How are pears, once ripe, kept?",
    "tags": ["fruit", "cold"], "source": "log", "split": "held-out", "need": "For how long.",
    "facts": [{"id": "f1", "text": "In the cold."}], "unsupported_as_of": "abc",
}  # fmt: skip
HEADER = list(WHOLE)
CELLS = {
    **WHOLE,
    "tags": "fruit; cold",
    "facts": json.dumps(WHOLE["facts"]),
}


def csv_of(separator):
    cells = ('"{}"'.format(str(cell).replace('"', '""')) for cell in CELLS.values())
    return f"{separator.join(HEADER)}\r\n{separator.join(cells)}\r\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.jsonl", json_lines([WHOLE])),
        ("q.csv", csv_of(",")),
        ("q.csv", "\ufeff" + csv_of(";")),
        ("q.csv", csv_of(";").encode("utf-16")),
        ("q.tsv", csv_of("\t")),
        ("q.xlsx", [HEADER, list(CELLS.values())]),
    ],
)
def test_every_field_of_a_question_comes_in(root, bring, name, content):
    before = (root / KEPT).read_bytes()
    answer = bring(name, content)
    said = f"{name}: 1 row read, questions of tiny: 1 new, 0 there already, 0 refused. Imported."
    assert (answer.code, answer.out.strip(), answer.err) == (0, said, "")
    assert questions(root)["q3"] == WHOLE
    assert (root / KEPT).read_bytes().startswith(before)


def test_a_dry_run_writes_nothing(root, bring):
    before = tree(root)
    answer = bring("q.csv", csv_of(","), "--dry-run")
    assert answer.code == 0 and answer.out.endswith("A dry run: nothing was written.\n")
    assert "1 new, 0 there already, 0 refused" in answer.out and tree(root) == before


REFUSED = 'id,text,split\nq3,Fine?,\n"a\nb",What?,\nq4,,\nq5,Which?,never\nq3,Another?,\nq6,So?,\n'


def test_refused_rows_are_told_by_line_and_nothing_is_written(root, bring):
    before = tree(root)
    answer = bring("q.csv", REFUSED)
    assert errors(answer) == [
        'q.csv:3: id "a\\nb" holds a control character. Correct the line.',
        "q.csv:5: the question is blank. Write it, or clear the row.",
        "q.csv:6: split is \"never\", not 'development' or 'held-out'. Correct the line.",
        'q.csv:7: the question id "q3" stands twice. Give one of the two another id.',
    ]
    assert answer.code == 2 and "6 rows read" in answer.out and "2 new" in answer.out
    assert "4 refused. Nothing was written" in answer.out and tree(root) == before


def test_the_others_are_written_where_the_user_says_so(root, bring):
    answer = bring("q.csv", REFUSED, "--skip-refused")
    assert answer.code == 0 and len(answer.errors) == 4 and answer.out.endswith("Imported.\n")
    assert list(questions(root)) == ["q1", "q2", "q3", "q6"]
    assert questions(root)["q3"]["text"] == "Fine?"


def test_a_dry_run_that_skips_says_what_would_happen(root, bring):
    before = tree(root)
    answer = bring("q.csv", REFUSED, "--skip-refused", "--dry-run")
    assert answer.out.endswith("A dry run: nothing was written.\n") and answer.code == 0
    assert tree(root) == before


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.jsonl", '{"id":"q3","text":"a"}\n{"id":\n', "q.jsonl:2: the line is not JSON"),
        ("q.jsonl", '{"id":"q3","text":"\\ud800"}\n', "q.jsonl:1: text holds the lone surrogate"),
        ("q.jsonl", '{"id":"q3","text":7}\n', 'q.jsonl:1: text is "7", not string'),
        ("q.jsonl", '{"id":["q3"],"text":"a"}\n', "q.jsonl:1: id is"),
        ("q.jsonl", '{"id":"q3","text":"a","tags":"x"}\n', "q.jsonl:1: tags is"),
        ("q.jsonl", '{"id":"q3","text":"a","format":2}\n', "q.jsonl:1: format is"),
        ("q.csv", "id,text\nq3,a\x00b\n", "q.csv:2: text holds a NUL character"),
        ("q.csv", "id,text\n q3,a\n", 'q.csv:2: id " q3" begins or ends with a blank'),
        ("q.csv", "id,text,facts\nq3,a,none\n", "q.csv:2: facts is \"'none'\", not list"),
        ("q.csv", 'id,text,facts\nq3,a,"[{""id"":""f""}]"\n', "q.csv:2: the key facts.0.text is"),
        ("q.csv", "id,text,tags\nq3,a,[x\n", "q.csv:2: tags is"),
        ("q.csv", "id,category\nq3,a\n", "q.csv: there is no column text"),
        ("q.csv", "", "q.csv:1: there is no header"),
        ("q.csv", b"id,text\nq3,\xff\n", "q.csv:2: the file is not UTF-8 (byte 12)"),
        ("q.xlsx", b"PK", "q.xlsx: the file is not a readable spreadsheet"),
    ],
)
def test_what_cannot_be_a_question_is_refused(root, bring, name, content, message):
    before = tree(root)
    answer = bring(name, content)
    assert answer.code == 2 and errors(answer)[0].startswith(message)
    assert tree(root) == before


@pytest.mark.parametrize(
    "header",
    ["query_id,query", "_id,text", "Question ID,Question", "qid,TEXT", "query-id, Query "],
)
def test_columns_are_known_under_other_names(root, bring, header):
    assert bring("q.csv", f"{header}\nq3,Fine?\n").code == 0
    assert questions(root)["q3"]["text"] == "Fine?"


def test_columns_can_be_named(root, bring):
    words = ("--column", "id=nr", "--column", "text=Frage", "--column", "need=text")
    answer = bring("q.csv", "nr,Frage,text,other\nq3,Fine?,So what.,x\n", *words)
    assert answer.code == 0 and answer.notes == ["note: Columns that are not used: other."]
    assert questions(root)["q3"]["text"] == "Fine?" and questions(root)["q3"]["need"] == "So what."


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("text=nope", 'the file has no column "nope". Its columns: "id", "text".'),
        ("nope=id", 'there is no column "nope" here. Columns: id, text, category, tags, need, '),
        ("text", '"text" does not name a column. For example --column id=query_id.'),
        ("=text", '"=text" does not name a column.'),
    ],
)
def test_a_column_that_is_not_there_is_refused(root, bring, word, message):
    before = tree(root)
    answer = bring("q.csv", "id,text\nq3,a\n", "--column", word)
    assert answer.code == 2 and errors(answer)[0].startswith(message) and tree(root) == before


def test_rows_without_a_category_get_the_one_named(root, bring):
    bring("q.csv", "id,text,category\nq3,a,\nq4,b,own\n", "--category", "faq")
    bring("p.jsonl", '{"id":"q5","text":"c"}\n')
    found = questions(root)
    assert [found[name]["category"] for name in ("q3", "q4", "q5")] == ["faq", "own", "general"]


def test_rows_without_an_id_get_the_next_free_one_and_twice_is_once(root, bring):
    content = "text\nWhat is a medlar?\nWhat is a sloe?\n"
    assert bring("q.csv", content).code == 0
    before = tree(root)
    assert list(questions(root)) == ["q1", "q2", "q3", "q4"]
    again = bring("q.csv", content)
    assert "0 new, 2 there already" in again.out and tree(root) == before
    assert bring("q.csv", "text\nWhat is a sloe?\nAnd a damson?\n").code == 0
    assert questions(root)["q5"]["text"] == "And a damson?" and len(questions(root)) == 5


def test_an_id_that_the_file_itself_gives_is_not_free(root, bring):
    answer = bring("q.csv", "id,text\n,What is a medlar?\nq3,What is a sloe?\n")
    assert answer.code == 0 and errors(answer) == []
    texts = {one["text"]: name for name, one in questions(root).items()}
    assert texts["What is a sloe?"] == "q3" and texts["What is a medlar?"] == "q4"


def test_numbers_are_ids(root, bring):
    bring("q.xlsx", [["id", "text", "category"], [7, "Seven?", 2026], [8.0, "Eight?", True]])
    found = questions(root)
    assert found["7"]["category"] == "2026" and found["8"]["category"] == "true"


@pytest.mark.parametrize(
    ("cell", "tags"),
    [("a; b ;;c", ["a", "b", "c"]), ("a", ["a"]), ('["a;b","c"]', ["a;b", "c"]), (";", [])],
)
def test_tags_in_one_cell(root, bring, cell, tags):
    bring("q.xlsx", [["id", "text", "tags"], ["q3", "a", cell]])
    assert questions(root)["q3"]["tags"] == tags

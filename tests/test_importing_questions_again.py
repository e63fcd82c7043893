"""Questions that are there already: left alone, refused, or replaced where the user says so."""

import json
from functools import partial

import pytest
from filelock import FileLock

import app.flows.question_saving as flow
from tests.exchanging import errors, import_file, json_lines, tree
from tests.test_importing_questions import KEPT, questions

FIRST = "When is an apple tree pruned?"


@pytest.fixture
def root(tiny):
    """A workspace with the questions q1 and q2."""
    return tiny()


@pytest.fixture
def bring(root, desk):
    """Imports questions from a file of that name and content."""
    return partial(import_file, desk, root, "questions")


def test_what_says_the_same_is_left_as_it_is(root, bring):
    before = tree(root)
    for name, content in (
        ("q.csv", f"id,text,category\nq1,{FIRST},general\n"),
        ("q.csv", f"text\n{FIRST}\n"),
        ("q.jsonl", json_lines([{"id": "q1", "text": FIRST, "tags": [], "source": "expert"}])),
    ):
        answer = bring(name, content)
        assert answer.code == 0 and "0 new, 1 there already, 0 refused" in answer.out
        assert tree(root) == before


def test_what_says_something_else_is_refused(root, bring):
    before = tree(root)
    answer = bring("q.csv", "id,text\nq1,When are apples ripe?\n")
    assert answer.code == 2 and tree(root) == before
    assert errors(answer) == [
        'q.csv:2: the question "q1" is there already and says something else. '
        "Take the new one with --update, or give it another id."
    ]


def test_update_replaces_the_line_and_leaves_the_others_byte_for_byte(root, bring):
    path = root / KEPT
    first, second = path.read_text().splitlines()
    loose = second.replace('{"format": 1', '{ "format" :1')
    path.write_bytes(f"{first}\r\n\r\n{loose}".encode())
    answer = bring("q.csv", "id,text\nq1,When are apples ripe?\nq3,New?\n", "--update")
    assert answer.code == 0 and len(answer.notes) == 1
    assert answer.notes[0].startswith("note: Questions that are there and will be replaced: 1.")
    lines = path.read_bytes().split(b"\n")
    assert json.loads(lines[0])["text"] == "When are apples ripe?"
    assert lines[1:3] == [b"\r", loose.encode()] and json.loads(lines[3])["id"] == "q3"


def test_labels_of_a_question_that_was_replaced_are_stale(root, bring, desk, collection_of):
    saved = root / "labels/tiny/judgments/ann.jsonl"
    kept = [json.loads(line) for line in saved.read_text().splitlines()]
    hashes = {name: q.hash for name, q in collection_of(root).questions().items()}
    saved.write_text(json_lines({**one, "question_hash": hashes[one["question"]]} for one in kept))
    bring("q.csv", "id,text\nq1,When are apples ripe?\n", "--update")
    out = desk(root, "export", "tiny", "labels", root / "qrels.txt").out
    assert "2 left out (stale)" in out


def test_update_keeps_what_a_table_has_no_column_for(root, bring):
    path = root / KEPT
    whole = {
        "format": 1, "id": "q3", "category": "own", "text": "Old?", "tags": ["x"],
        "need": "All of it.", "facts": [{"id": "f", "text": "One."}], "split": "held-out",
    }  # fmt: skip
    path.write_text(path.read_text() + json.dumps(whole) + "\n")
    assert bring("q.csv", "id,text\nq3,New?\n", "--update").code == 0
    assert questions(root)["q3"] == {**whole, "text": "New?"}


def test_a_collection_without_questions_yet(root, bring):
    (root / KEPT).unlink()
    assert bring("q.csv", "text\nWhat is a medlar?\n").code == 0
    assert (root / KEPT).read_text() == (
        '{"category":"general","format":1,"id":"q1","text":"What is a medlar?"}\n'
    )


def test_questions_that_are_broken_already_are_told_first(root, bring):
    with (root / KEPT).open("a") as file:
        file.write("{\n")
    before = tree(root)
    answer = bring("q.csv", "id,text\nq3,New?\n")
    assert answer.code == 2 and errors(answer)[0].startswith(f"{KEPT}:3: the line is not JSON")
    assert tree(root) == before


class Meanwhile:
    """A lock before which another process adds a question."""

    def __init__(self, lock, **words):
        self.lock = FileLock(lock, **words)
        self.path = lock.removesuffix(".lock")

    def __enter__(self):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json_lines([{"format": 1, "id": "q3", "category": "a", "text": "Theirs?"}]))
        return self.lock.__enter__()

    def __exit__(self, *error):
        return self.lock.__exit__(*error)


@pytest.mark.parametrize("content", ["text\nOurs?\n", "id,text\nq3,Ours?\n"])
def test_a_question_that_came_meanwhile_is_not_replaced(root, bring, monkeypatch, content):
    monkeypatch.setattr(flow, "FileLock", Meanwhile)
    bring("q.csv", content)
    lines = [json.loads(line) for line in (root / KEPT).read_text().splitlines()]
    assert [one["text"] for one in lines if one["id"] == "q3"] == ["Theirs?"]


def test_another_process_that_writes_is_waited_for(root, bring, monkeypatch):
    monkeypatch.setattr(
        flow, "FileLock", lambda lock, timeout: FileLock(lock, timeout=timeout / 100)
    )
    before = (root / KEPT).read_bytes()
    with FileLock(f"{root / KEPT}.lock"):
        answer = bring("q.csv", "text\nNew?\n")
    assert answer.code == 2 and errors(answer) == [
        f"{KEPT}: another process is writing the questions. Try again."
    ]
    assert (root / KEPT).read_bytes() == before


def test_the_questions_of_a_bundle(root, bring, desk, tmp_path):
    bring("q.csv", "id,text\nq3,New?\n")
    made = desk(root, "labels", "bundle", "tiny", tmp_path / "tiny.zip")
    assert made.code == 0
    (root / KEPT).write_text("".join((root / KEPT).read_text().splitlines(keepends=True)[:1]))
    answer = desk(root, "import", "tiny", "questions", tmp_path / "tiny.zip")
    assert answer.code == 0 and "2 new, 1 there already, 0 refused" in answer.out
    assert list(questions(root)) == ["q1", "q2", "q3"]


def test_json_says_the_same(root, bring):
    answer = bring("q.csv", f"id,text,x\nq1,{FIRST},\nq3,New?,\n,,1\nq3,Twice?,\n", "--json")
    assert answer.code == 2 and answer.json == {
        "format": 1,
        "imports": [
            {
                "what": "questions of tiny", "source": "q.csv", "read": 4, "new": 1, "known": 1,
                "left_out": {}, "refused": 2, "written": False,
                "notes": ["Columns that are not used: x."],
                "problems": [
                    {"place": "q.csv:4", "message": "the question is blank",
                     "remedy": "Write it, or clear the row"},
                    {"place": "q.csv:5", "message": 'the question id "q3" stands twice',
                     "remedy": "Give one of the two another id"},
                ],
            }
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nope", "questions", "q.csv"), 'there is no collection "nope"'),
        (("tiny", "questions", "none.csv"), "none.csv: there is no such file"),
        (("tiny", "questions", "."), ".: questions needs a file"),
    ],
)
def test_what_cannot_be_imported_at_all(root, desk, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("text\nNew?\n")
    answer = desk(root, "import", *words)
    assert answer.code == 2 and errors(answer)[0].startswith(message)

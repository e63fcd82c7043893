"""What tests of import and export share: hostile ids and texts, workspaces, files as bytes."""

import json

import openpyxl
from hypothesis import strategies as st

from app.core.text import fault_in_id, fault_in_text
from app.workspace import Workspace

SETTINGS = """format = 1
[source]
kind = "jsonl"
path = "corpus.jsonl"
fields = { document = "document", version = "version", chunk = "chunk", text = "text" }
[chunking]
rule = "as-is-v1"
[configurations.sparse]
mode = "sparse"
"""

#: Pieces with a meaning to some format: TREC, percent-encoding, CSV, spreadsheets, XML, JSON.
_PIECES = [
    " ", "#", "|", "%", "%20", "%7C", '"', "'", ";", ",", "=", "+", "-", "@", "[", "]", "[]", "{",
    "\\", "<", "&", "_x000D_", "_x005F_", "_x0041", "http://a.b/c?d=e&f#g", "1", "1.0", "true", "é",
    "e\u0301", "\u00a0", "\u2028", "\u3000", "\ufeff", "\ufffe", "😀", "שלום", "a", "0", "null",
]  # fmt: skip
_CONTROLS = ["\t", "\n", "\r", "\r\n", "\x01", "\x0b", "\x1f", "\x7f", "\x85", "\u202e"]


def _text(pieces, **sizes):
    piece = st.sampled_from(pieces) | st.characters(exclude_categories=("Cs",))
    return st.lists(piece, **sizes).map("".join)


#: Anything `fault_in_id` allows.
IDS = _text(_PIECES, min_size=1, max_size=5).map(str.strip).filter(lambda one: not fault_in_id(one))
#: Anything a question, a note or a quote may say.
TEXTS = _text([*_PIECES, *_CONTROLS], min_size=1, max_size=6).filter(
    lambda one: one.strip() and not fault_in_text(one)
)


def json_lines(records):
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def workspace(root, chunks, questions, events=()):
    """A collection `tiny`; a chunk is (document, version, chunk, text). Returns the folder."""
    data, labels = root / "data/tiny", root / "labels/tiny"
    data.mkdir(parents=True)
    labels.mkdir(parents=True)
    (data / "collection.toml").write_text(SETTINGS)
    fields = ("document", "version", "chunk", "text")
    corpus = [dict(zip(fields, chunk, strict=True)) for chunk in chunks]
    (data / "corpus.jsonl").write_text(json_lines(corpus), encoding="utf-8")
    (labels / "questions.jsonl").write_text(json_lines(questions), encoding="utf-8")
    for event in events:
        kind = "events" if event["kind"] == "retire-label" else "judgments"
        (labels / kind).mkdir(exist_ok=True)
        with (labels / kind / "all.jsonl").open("a", encoding="utf-8") as file:
            file.write(json_lines([event]))
    return root


def empty(root):
    """A workspace without a collection. Returns the folder."""
    (root / "data").mkdir(parents=True)
    return root


def written(path, content):
    """A file of that content: text, bytes, or the rows of a workbook. Returns its path."""
    if isinstance(content, list):
        book = openpyxl.Workbook()
        for row in content:
            book.active.append(row)
        book.save(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def import_file(desk, root, kind, name, content, *words):
    """Imports a file of that name and content into `tiny`; the answer of the command."""
    return desk(root, "import", "tiny", kind, written(root.parent / name, content), *words)


def errors(answer):
    """What a command refused, without the word in front."""
    return [line.removeprefix("error: ") for line in answer.errors]


def collection(root):
    return Workspace.at(root).collection("tiny")


def ledger(root, author="ann"):
    """The lines of a reviewer's ledger."""
    path = root / f"labels/tiny/judgments/{author}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tree(root):
    """Every file there is with its bytes; the log, which notes each command, left out."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "desk.log"
    }

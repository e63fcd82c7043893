"""Sources to chunks: what is read, what is refused and where, what the revision depends on."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.chunking import AS_IS, SECTION_PARAGRAPHS
from app.core.corpus import SourceSpec, is_eligible, read_corpus
from app.core.errors import InvalidInput

NAMES = {"document": "doc", "chunk": "id", "text": "body"}


def markdown(folder, files, eligible=None):
    for name, text in files.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    place = "data/demo/corpus"
    return read_corpus(
        SourceSpec("markdown", folder / "corpus", place, SECTION_PARAGRAPHS, {}, eligible or {})
    )


def jsonl(folder, *lines, names=NAMES, eligible=None):
    path = folder / "chunks.jsonl"
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"".join(line + b"\n" for line in raw))
    place = "data/demo/chunks.jsonl"
    return read_corpus(SourceSpec("jsonl", path, place, AS_IS, names, eligible or {}))


def line(id="c1", body="some text", doc="d1", **more):
    return {"doc": doc, "id": id, "body": body, **more}


def refusal(read, *args, **kwargs):
    with pytest.raises(InvalidInput) as caught:
        read(*args, **kwargs)
    return str(caught.value)


# --- Markdown ---------------------------------------------------------------


def test_two_documents_with_one_id(tmp_path):
    files = {"a.md": "x", "b.md": "---\nid: a\n---\ny"}
    assert refusal(markdown, tmp_path, files) == (
        'data/demo/corpus/b.md: the document id "a" was already used by data/demo/corpus/a.md. '
        "Give one of the two another id."
    )


def test_every_problem_is_told(tmp_path):
    message = refusal(markdown, tmp_path, {"a.md": b"\xff", "b.md": "ok", "c.md": "a\x00"})
    assert [text.split(":")[0] for text in message.split("\n")] == [
        "data/demo/corpus/a.md",
        "data/demo/corpus/c.md",
    ]


def test_a_missing_source(tmp_path):
    assert refusal(markdown, tmp_path, {}) == (
        "data/demo/corpus: the source does not exist. "
        "Put the texts there, or correct source.path in collection.toml."
    )


# --- JSONL ------------------------------------------------------------------


def test_lines_are_chunks_by_the_mapping(tmp_path):
    names = {**NAMES, "title": "name", "section": "part"}
    corpus = jsonl(tmp_path, line(name="T", part=3), line(id=7, part=None), names=names)
    assert [(str(k), c.title, c.section, c.place) for k, c in corpus.chunks.items()] == [
        ('["d1", "as-is-v1", "c1"]', "T", "3", "data/demo/chunks.jsonl:1"),
        ('["d1", "as-is-v1", "7"]', "", "", "data/demo/chunks.jsonl:2"),
    ]
    assert corpus.documents == 1


def test_without_a_document_field_each_line_is_a_document(tmp_path):
    corpus = jsonl(tmp_path, line(), line(id="c2"), names={"chunk": "id", "text": "body"})
    assert [k.document for k in corpus.chunks] == ["c1", "c2"]
    assert corpus.documents == 2


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (
            line(),
            "the chunk d1 c1 was already defined at data/demo/chunks.jsonl:1. "
            "Give one of the two another id.",
        ),
        (line(id=""), 'the chunk id "" is blank. Correct the source text.'),
        (line(doc=" "), 'the document id " " is blank. Correct the source text.'),
        (
            line(id="a\ud800"),
            'the chunk id "a\\ud800" holds the lone surrogate U+D800, which is no character. '
            "Correct the source text.",
        ),
        (
            b'{"doc": "d", "id": "c", "body": "\\ud800"}',
            "the text holds the lone surrogate U+D800, which is no character. "
            "Correct the source text.",
        ),
        (
            line(id="c2", tag=["\udc00"]),
            "the field tag holds the lone surrogate U+DC00, which is no character. "
            "Correct the source text.",
        ),
        (line(id="c\u0000"), 'the chunk id "c\\u0000" holds a NUL character. Correct the source '),
        (b"{oops", "the line is not JSON (Expecting property name enclosed in double quotes at "),
        (b'{"body": "\xff"}', "the line is not UTF-8 (byte 11 of the line). Correct the line."),
        (b"[]", "the line is JSON, but not an object in braces. Correct the line."),
        (
            {"doc": "d", "id": "c"},
            'the field "body" is missing. Correct the line, or source.fields in collection.toml.',
        ),
        (line(body=5), 'the field "body" is int, not text. Correct the line, or source.fields in '),
        (line(id=True), 'the field "id" is bool, not text. Correct the line, or source.fields in '),
        (line(id="c2", body=" \n"), "the text is blank. Remove the line or fill it."),
        (line(id="c2", body="x" * 5_000_000), "the text has 5,000,000 characters, over 200,000."),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_lines_that_are_refused(tmp_path, bad, sentence):
    message = refusal(jsonl, tmp_path, line(), bad, line(id="c9"), eligible={"tag": ["x"]})
    assert message.startswith(f"data/demo/chunks.jsonl:2: {sentence}")
    assert "\n" not in message


def test_a_number_beyond_all_numbers_is_refused(tmp_path):
    bad = b'{"doc": "d", "id": "c", "body": "x", "level": 1e999}'
    message = refusal(lambda: jsonl(tmp_path, bad, eligible={"level": [1]}).revision)
    assert message.startswith("data/demo/chunks.jsonl:1: ")


@pytest.mark.parametrize("files", [{"a.txt": "x"}, {"a.md": ""}, {"a.md": "# Only a heading"}])
def test_an_empty_corpus(tmp_path, files):
    assert refusal(markdown, tmp_path, files) == (
        "data/demo/corpus: the corpus is empty. Put Markdown files (*.md) with some text there."
    )
    assert refusal(jsonl, tmp_path, b" ") == (
        "data/demo/chunks.jsonl: the corpus is empty. Put JSON lines with some text there."
    )


def test_a_folder_in_the_place_of_the_file(tmp_path):
    spec = SourceSpec("jsonl", tmp_path, "data/demo/chunks.jsonl", AS_IS, NAMES, {})
    assert refusal(read_corpus, spec).startswith("data/demo/chunks.jsonl: ")


@pytest.mark.parametrize(
    ("fields", "filters", "expected"),
    [
        ({}, {}, True),
        ({"a": "x"}, {"a": ["x", "y"]}, True),
        ({"a": "z"}, {"a": ["x", "y"]}, False),
        ({}, {"a": ["x"]}, False),
        ({"a": ["x", "z"]}, {"a": ["z"]}, True),
        ({"a": []}, {"a": ["z"]}, False),
        ({"a": True}, {"a": [1]}, False),
        ({"a": 1}, {"a": [True]}, False),
        ({"a": 0}, {"a": [False]}, False),
        ({"a": True}, {"a": [True]}, True),
        ({"a": "1"}, {"a": [1]}, False),
        ({"a": "x", "b": 2}, {"a": ["x"], "b": [1]}, False),
        ({"a": "x", "b": 2}, {"a": ["x"], "b": [1, 2]}, True),
    ],
)
def test_eligibility(fields, filters, expected):
    assert is_eligible(fields, filters) is expected


def test_a_list_of_numbers_includes_a_number(tmp_path):
    corpus = jsonl(tmp_path, line(level=[1, 2]), line(id="c2", level=2), eligible={"level": [2]})
    assert [key.chunk for key in corpus.eligible] == ["c1", "c2"]


def test_a_corpus_is_told_from_another_by_its_revision_alone(tmp_path):
    one, other = jsonl(tmp_path, line()), jsonl(tmp_path, line())
    assert one.revision == other.revision and one != other
    assert len({one, other, one}) == 2


def test_twins_are_eligible_chunks_with_one_text(tmp_path):
    lines = [line(id=str(i), body=f"same{' ' * i}", ok=i != 2) for i in range(3)]
    corpus = jsonl(tmp_path, *lines, eligible={"ok": [True]})
    assert [[k.chunk for k in keys] for keys in corpus.by_hash.values()] == [["0", "1"]]


LINES = [line(), line(id="c2", body="other é", ok=False), line(id="c3", body="a\nb", ok=True)]


@settings(deadline=None)
@given(st.permutations(LINES))
def test_revision_does_not_depend_on_order(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("r")
    ok = {"ok": [True]}
    assert (
        jsonl(folder, *lines, eligible=ok).revision == jsonl(folder, *LINES, eligible=ok).revision
    )


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"body": "some text  \n"}, True),
        ({"title": "other"}, True),
        ({"unused": 1}, True),
        ({"body": "Some text"}, False),
        ({"body": " some text"}, False),
        ({"id": "C1"}, False),
        ({"doc": "d2"}, False),
        ({"ok": True}, False),
    ],
    ids=str,
)
def test_revision_of_changed_lines(tmp_path, change, same):
    ok = {"ok": [True]}
    before = jsonl(tmp_path, *LINES, eligible=ok).revision
    after = jsonl(tmp_path, {**LINES[0], **change}, *LINES[1:], eligible=ok).revision
    assert (before == after) is same


def test_revision_does_not_depend_on_how_the_text_was_saved(tmp_path):
    text = "---\nid: a\n---\n# Café\n\nÖl und\nÄther.\n\nmehr\n"
    revision = markdown(tmp_path, {"a.md": text}).revision
    for other in (
        text.replace("\n", "\r\n"),
        "\ufeff" + text,
        unicodedata.normalize("NFD", text),
        text.replace("\n", "  \n").replace("---  ", "---") + "\n\n",
    ):
        assert markdown(tmp_path, {"a.md": other}).revision == revision
    assert markdown(tmp_path, {"a.md": text.replace("mehr", "Mehr")}).revision != revision

"""Markdown files: their front matter, and what is refused and where."""

import pytest

from app.core.chunking import SECTION_PARAGRAPHS
from app.core.corpus import MAX_CHUNK_CHARACTERS
from app.core.model import ChunkKey
from tests.test_corpus import markdown, refusal


def test_front_matter_gives_id_title_and_fields(tmp_path):
    text = "---\nid: hours\ntitle: Opening hours\npublic: true\n---\n# A\n\nNine to five.\n"
    corpus = markdown(tmp_path, {"x/y.md": text}, {"public": [True]})
    (key, chunk), *rest = corpus.chunks.items()
    assert (rest, corpus.documents) == ([], 1)
    assert key == ChunkKey("hours", SECTION_PARAGRAPHS, "a/p0")
    assert (chunk.text, chunk.title, chunk.section) == ("Nine to five.", "Opening hours", "A")
    assert (chunk.fields, chunk.eligible) == ({"public": True}, True)
    assert chunk.place == "data/demo/corpus/x/y.md"


def test_without_front_matter_id_is_the_path_and_title_the_first_heading(tmp_path):
    corpus = markdown(tmp_path, {"x/y.md": "# First\n\none\n\n# Second\n\ntwo", "z.md": "three"})
    assert [(k.document, c.title) for k, c in corpus.chunks.items()] == [
        ("x/y", "First"),
        ("x/y", "First"),
        ("z", "z"),
    ]


def test_dates_numbers_and_lists_are_fields(tmp_path):
    front = "---\nday: 2024-05-01\nlevel: 2\ntags: [a, b]\nmap: {a: 1}\n---\ntext"
    filters = {name: ["x"] for name in ("day", "level", "tags", "map", "none")}
    corpus = markdown(tmp_path, {"a.md": front}, filters)
    (chunk,) = corpus.chunks.values()
    assert chunk.fields == {"day": "2024-05-01", "level": 2, "tags": ["a", "b"]}
    assert corpus.eligible == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "---\ntitle: a: b\n---\nx",
            ":2: the front matter is not YAML (mapping values are not allowed here). Correct it.",
        ),
        ("---\n- a\n---\nx", ": the front matter is not a list of `key: value` lines. Correct it."),
        (b"caf\xe9", ": the file is not UTF-8 (byte 4). Save it as UTF-8."),
        ("a\x00b", ": the text holds a NUL character. Correct the source text."),
        (
            f"{'x' * (MAX_CHUNK_CHARACTERS + 1)}",
            ": the text has 200,001 characters, over 200,000. Correct the source text.",
        ),
        (
            '---\nid: " a"\n---\nx',
            ': the document id " a" begins or ends with a blank. Correct the source text.',
        ),
        ('---\nid: ""\n---\nx', ': the document id "" is blank. Correct the source text.'),
        ("---\nid:\n---\nx", ': the document id "" is blank. Correct the source text.'),
    ],
    ids=lambda value: None if len(value) > 200 else repr(value)[:40],
)
def test_markdown_that_is_refused(tmp_path, text, sentence):
    assert refusal(markdown, tmp_path, {"a.md": text}) == f"data/demo/corpus/a.md{sentence}"


@pytest.mark.parametrize("value", ["2024-13-45", ".inf", ".nan", "\x00"])
def test_front_matter_values_that_no_field_can_hold_are_refused(tmp_path, value):
    text = f"---\nlevel: {value}\n---\nx"
    message = refusal(lambda: markdown(tmp_path, {"a.md": text}, {"level": [1]}).revision)
    assert message.startswith("data/demo/corpus/a.md") and "\n" not in message


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_front_matter_that_is_too_deep_does_not_hide_other_problems(tmp_path, opening):
    deep = f"---\na: 1\nb:\n {opening * 5000}\n---\nx"
    message = refusal(markdown, tmp_path, {"a.md": deep, "b.md": b"\xff"})
    first, second = message.split("\n")
    assert first.startswith(
        "data/demo/corpus/a.md: the front matter is not YAML (nested too deeply"
    )
    assert second.startswith("data/demo/corpus/b.md: the file is not UTF-8")

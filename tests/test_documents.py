"""The document behind a chunk, where the chunk and its quotes stand in it."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chunking import AS_IS, SECTION_PARAGRAPHS
from app.core.corpus import SourceSpec, read_corpus
from app.core.documents import document_of, locate, neighbours
from app.core.errors import InvalidInput
from app.core.evidence import evidence_of, intact, standing
from app.core.judgments import Evidence
from app.core.model import ChunkKey
from app.core.sentences import Span, sentences
from app.flows.loading import load
from app.workspace import Workspace


def bare(text):
    return " ".join(text.split())


@pytest.fixture
def folder(tmp_path):
    """Markdown files; returns the spec of their source."""

    def build(files):
        for name, text in files.items():
            path = tmp_path / "corpus" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        place = "data/demo/corpus"
        return SourceSpec("markdown", tmp_path / "corpus", place, SECTION_PARAGRAPHS, {}, {})

    return build


@pytest.fixture
def lines(tmp_path):
    """JSON lines of (document, chunk, text), with a version where a fourth is given."""

    def build(*chunks):
        path = tmp_path / "chunks.jsonl"
        names = ("doc", "id", "text", "cut")
        rows = (dict(zip(names, (*chunk, "v1")[:4], strict=True)) for chunk in chunks)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        fields = {"document": "doc", "chunk": "id", "text": "text", "version": "cut"}
        return SourceSpec("jsonl", path, "data/demo/chunks.jsonl", AS_IS, fields, {})

    return build


def long(word, count=60):
    return " ".join(f"{word}{n}" for n in range(count)) + "."


# --- Markdown ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["handbook", "runbooks"])
def test_every_chunk_of_the_demos_stands_in_its_file(repository, name):
    collection = Workspace.at(repository).collection(name)
    corpus, spec = collection.corpus(), collection.source()
    for key, chunk in corpus.chunks.items():
        found = document_of(corpus, spec, key)
        assert found.exact and found.text == (repository / chunk.place).read_text(encoding="utf-8")
        assert bare(found.text[found.start : found.end]) == bare(chunk.text)


def test_the_offsets_of_evidence_count_in_the_documents_text(repository):
    loaded = load(Workspace.at(repository).collection("handbook"))
    spec, count = loaded.collection.source(), 0
    for placed in loaded.collection.ledger.read().events:
        found = document_of(loaded.corpus, spec, placed.event.key)
        for one in placed.event.evidence:
            count += 1
            assert found.text[one.start : one.end] == one.quote
            assert found.start <= one.start < one.end <= found.end
            place = locate(found.text, one.quote)
            assert place == (one.start, one.end) or found.text.count(one.quote) > 1
        assert standing(placed.event.evidence, loaded.corpus.chunks[placed.event.key], found) == (
            placed.event.evidence
        )
    assert count == 223


def test_equal_paragraphs_are_told_apart_by_where_they_were_cut(folder):
    text = f"---\ntitle: T\n---\n# A\n\n{long('x')}\n\nSame.\n\n# A\n\nSame.  \n\n\n{long('y')}\n"
    spec = folder({"a.md": text})
    corpus = read_corpus(spec)
    places = {key.chunk: document_of(corpus, spec, key) for key in corpus.chunks}
    first, second = places["a/p0"], places["a-2/p0"]
    assert first.text[first.start : first.end].endswith("\n\nSame.")
    assert second.text[second.start : second.end].startswith("Same.  \n\n\ny0")
    assert second.start > first.end


def test_a_paragraph_carried_over_stands_in_both_chunks(folder):
    spec = folder({"a.md": f"{long('x')}\n\n{long('y', 15)}\n\n{long('z')}\n"})
    corpus = read_corpus(spec)
    one, other = (document_of(corpus, spec, key) for key in corpus.chunks)
    assert one.start < other.start < one.end < other.end


def test_paragraphs_that_read_alike_are_told_apart(folder):
    spec = folder({"a.md": "\n\n".join([long("w", 50)] * 3)})
    corpus = read_corpus(spec)
    starts = [document_of(corpus, spec, key).start for key in corpus.chunks]
    assert len(starts) == len(set(starts)) == 3 and starts == sorted(starts)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff# A\r\n\r\nOne.\r\nTwo.\r\n\r\nThree.\r\n",
        "# A\n\n```\n# no heading\n\n\nx  \n```\n\nAfter.\n",
        "Before.\n# A\nIn.\n## B ##\n\n\n   Indented.\nMore.\n~~~\nnever closed\n\n",
        "---\nid: other\n---\nOne.",
    ],
    ids=repr,
)
def test_what_files_look_like(folder, text):
    spec = folder({"a.md": text})
    corpus = read_corpus(spec)
    for key, chunk in corpus.chunks.items():
        found = document_of(corpus, spec, key)
        assert found.exact and bare(found.text[found.start : found.end]) == bare(chunk.text)
        assert "\r" not in found.text and "\ufeff" not in found.text


@given(st.lists(st.sampled_from(["# A", "a b.", "a b.", long("w", 50), "", "", "- c", "```"])))
def test_every_chunk_stands_where_it_was_cut(tmp_path_factory, parts):
    root = tmp_path_factory.mktemp("documents")
    (root / "a.md").write_text("\n".join([*parts, "end"]))
    spec = SourceSpec("markdown", root, "corpus", SECTION_PARAGRAPHS, {}, {})
    corpus = read_corpus(spec)
    starts = []
    for key, chunk in corpus.chunks.items():
        found = document_of(corpus, spec, key)
        assert found.exact and bare(found.text[found.start : found.end]) == bare(chunk.text)
        starts.append(found.start)
    assert starts == sorted(set(starts))


def test_a_file_that_changed_since_it_was_read_is_not_taken_for_the_document(folder):
    spec = folder({"a.md": f"{long('x', 80)}\n\nTwo.\n"})
    corpus = read_corpus(spec)
    key = next(iter(corpus.chunks))
    for change in ("Something else.", None):
        path = spec.path / "a.md"
        path.write_text(change) if change else path.unlink()
        found = document_of(corpus, spec, key)
        assert not found.exact and found.text == f"{long('x', 80)}\n\nTwo."
        assert found.text[found.start : found.end] == corpus.chunks[key].text


def test_a_file_outside_the_source_folder_is_not_read(folder, tmp_path):
    (tmp_path / "secret.md").write_text("Not for reviewers.")
    spec = folder({"a.md": "Public."})
    corpus = read_corpus(spec)
    (spec.path / "a.md").unlink()
    (spec.path / "a.md").symlink_to(tmp_path / "secret.md")
    (key,) = corpus.chunks
    found = document_of(corpus, spec, key)
    assert (found.text, found.exact) == ("Public.", False)


# --- Chunks as they are -----------------------------------------------------


def test_chunks_of_one_document_and_version_make_its_text(lines):
    spec = lines(
        ("d", "c1", "One.\n\nTwo."), ("e", "c1", "Other."), ("d", "c2", "Two.\n\nThree."),
        ("d", "c3", "Three."), ("d", "c4", "Cut otherwise.", "v2"),
    )  # fmt: skip
    corpus = read_corpus(spec)
    text = "One.\n\nTwo.\n\nThree.\n\nThree."
    for key, chunk in corpus.chunks.items():
        found = document_of(corpus, spec, key)
        assert found.exact and found.text[found.start : found.end] == chunk.text
        assert (found.text == text) == (key.document == "d" and key.version == "v1")


def test_neighbours_are_of_the_same_document_and_version(lines):
    spec = lines(
        ("d", "c1", "1"),
        ("e", "c1", "x"),
        ("d", "c2", "2"),
        ("d", "c3", "3"),
        ("d", "c9", "9", "v2"),
    )
    corpus = read_corpus(spec)

    def beside(chunk, version="v1"):
        found = neighbours(corpus, ChunkKey("d", version, chunk))
        return tuple(one and one.text for one in found)

    assert [beside(name) for name in ("c1", "c2", "c3")] == [(None, "2"), ("1", "3"), ("2", None)]
    assert beside("c9", "v2") == (None, None)


# --- Quotes -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("It is so. Yes.", "It is so.", "It is so."),
        ("It\n\n  is\tso.", "It is so.", "It\n\n  is\tso."),
        ("cafe\u0301 is here", "caf\u00e9  is", "cafe\u0301 is"),
        ("caf\u00e9s", "cafe\u0301", None),
        ("a 15 days", "5 days", None),
        ("-5 days", "5 days", None),
        ("under 5.5", "under 5.", None),
        ("under 5.5", "under 5", None),
        ("under 5. Yes", "under 5", "under 5"),
        ("50 days or 5 days", "5 days", "5 days"),
        ("これは文です。次", "これは文です。", "これは文です。"),
        ("x", " ", None),
        ("", "x", None),
    ],
)
def test_where_a_quote_stands(text, quote, found):
    place = locate(text, quote)
    assert (text[place[0] : place[1]] if place else None) == found


@given(st.text(st.sampled_from("ab e\u0301\n\u00e9.5"), max_size=30), st.data())
def test_a_quote_of_whole_words_is_found_in_any_spelling(text, data):
    words = text.split()
    if not words:
        return
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    quote = unicodedata.normalize("NFC", "  ".join(words[begin:end]))
    place = locate(text, quote)
    assert place is not None
    there = unicodedata.normalize("NFC", text[place[0] : place[1]])
    assert bare(there) == bare(quote)


def test_evidence_has_the_offsets_of_the_document_and_no_mark_of_a_list(folder):
    spec = folder({"a.md": "# A\n\nOne is one.  \nIt is.\n\n- A dash\n  goes on. Twice.\n"})
    corpus = read_corpus(spec)
    ((key, chunk),) = corpus.chunks.items()
    document = document_of(corpus, spec, key)
    spans = sentences(chunk.text)
    chosen = [(spans[2], ["f1"]), (spans[0], []), (spans[2], ["f2", "f1"])]
    found = evidence_of(chunk, document, chosen)
    assert [(one.quote, one.facts) for one in found] == [
        ("One is one.", []), ("A dash", ["f1", "f2"]),
    ]  # fmt: skip
    for one in found:
        assert document.text[one.start : one.end] == one.quote
    (spec.path / "a.md").write_text("other")
    (lost,) = evidence_of(chunk, document_of(corpus, spec, key), chosen[:1])
    assert (lost.quote, lost.start, lost.end) == ("A dash", None, None)


@pytest.mark.parametrize("span", [Span(0, 99), Span(-3, 2), Span(4, 4), Span(3, 5)])
def test_a_span_that_is_not_of_the_chunk_is_refused(lines, span):
    spec = lines(("d", "c", "One.  Two."))
    corpus = read_corpus(spec)
    ((key, chunk),) = corpus.chunks.items()
    with pytest.raises(InvalidInput, match="is not of the chunk d c"):
        evidence_of(
            chunk, document_of(corpus, spec, key), [(Span(4, 6) if span.start == 3 else span, [])]
        )


def test_quotes_are_intact_where_all_of_them_stand():
    quotes = [Evidence(quote="One is.", start=5, end=9), Evidence(quote="Two\nis.")]
    assert intact(quotes, "Two is. Now one. One  is.")
    assert not intact(quotes, "One is. Two was.")
    assert not intact([], "One is.")


def test_evidence_that_stands_gets_the_offsets_it_has_now(lines):
    spec = lines(("d", "c0", "New."), ("d", "c", "Also new. One is. Changed."))
    corpus = read_corpus(spec)
    key = ChunkKey("d", "v1", "c")
    document = document_of(corpus, spec, key)
    old = [Evidence(quote="One is.", start=0, end=7, facts=["f"]), Evidence(quote="Gone.")]
    (found,) = standing(old, corpus.chunks[key], document)
    assert document.text[found.start : found.end] == "One is." and found.facts == ["f"]

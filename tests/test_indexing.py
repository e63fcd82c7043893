"""Index: embed what is new, keep it by content, and say what was indexed."""

import json

import pytest
from filelock import FileLock

from app.core.errors import EmbedderError, InvalidInput, NotReady
from app.flows.comparing import compare
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.manifests import misfit, read_manifest

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
OLLAMA = '[configurations.dense]\nembedder = "ollama:embeddinggemma"\ndigest = "abab"\n'


def manifests(root, name="tiny"):
    return sorted((root / f"data/{name}/vectors").glob("*.manifest.json"))


def append(root, **record):
    with open(root / "data/tiny/corpus.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def test_one_index_for_configurations_that_share_an_embedder(runbooks, collection_of):
    reports = index(collection_of(runbooks))
    assert [(r.configurations, r.embedded, r.reused) for r in reports] == [
        (("dense", "hybrid"), 0, 11),
        (("sparse",), 0, 0),
    ]
    manifest = reports[0].manifest
    assert (manifest.points, manifest.eligible, manifest.dimension) == (11, 7, 384)
    assert (manifest.embedder, manifest.template) == ("bundled", "{text}")
    assert reports[1].manifest.embedder is None
    assert len(manifests(runbooks, "runbooks")) == 2


def test_only_new_texts_are_embedded(tiny, collection_of):
    root = tiny(
        {"a": "one text", "b": "another", "twin": "one text"}, labels=(), configurations=DENSE
    )
    (first,) = index(collection_of(root))
    assert (first.embedded, first.reused) == (2, 0)
    append(root, id="c", text="a third")
    (second,) = index(collection_of(root))
    assert (second.embedded, second.reused, second.manifest.points) == (1, 2, 4)


def test_another_template_is_another_text(tiny, collection_of, edit):
    root = tiny(configurations=DENSE)
    index(collection_of(root))
    edit(root / "data/tiny/collection.toml", '"bundled"',
         '"bundled"\ndocument_template = "passage: {text}"')  # fmt: skip
    (second,) = index(collection_of(root))
    assert second.embedded == 4 and len(manifests(root)) == 2


def test_progress_counts_up_to_all_of_them(tiny, collection_of):
    seen = []
    root = tiny({str(n): f"text number {n}" for n in range(20)}, labels=(), configurations=DENSE)
    index(collection_of(root), progress=lambda *words: seen.append(words))
    assert {what for what, _, _ in seen} == {"Embedding tiny with bundled"}
    assert [done for _, done, _ in seen] == [8, 16, 20] and {total for *_, total in seen} == {20}


def test_chunks_the_embedder_cuts_are_told(tiny, collection_of):
    root = tiny({"long": "word " * 300, "short": "word"}, labels=(), configurations=DENSE)
    (report,) = index(collection_of(root))
    assert report.manifest.cut == [["long", "as-is-v1", "long"]]
    assert report.notices == (
        "Chunks longer than the embedder reads were cut: 1, long for one. Shorter ones would "
        "be found better.",
    )
    assert index(collection_of(root))[0].manifest.cut == report.manifest.cut


def test_the_list_of_complete_chunks_is_written_once(runbooks, collection_of):
    (path,) = (runbooks / "labels/runbooks/complete").iterdir()
    text = path.read_text()
    path.unlink()
    first = index(collection_of(runbooks))[0]
    assert path.read_text() == text and len(text.splitlines()) == 7
    assert first.notices[0].startswith(f"Wrote labels/runbooks/complete/{path.name}: ")
    assert index(collection_of(runbooks))[0].notices == ()


def test_two_at_once(runbooks, collection_of):
    lock = FileLock(runbooks / "data/runbooks/vectors/index.lock")
    with lock, pytest.raises(NotReady) as caught:
        index(collection_of(runbooks))
    assert str(caught.value) == (
        "data/runbooks/vectors: another process is indexing runbooks. Wait for it to end, then "
        "try again."
    )


def test_bad_files_are_refused_before_anything_is_embedded(tiny, collection_of):
    root = tiny([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], configurations=DENSE)
    with pytest.raises(InvalidInput) as caught:
        index(collection_of(root))
    assert str(caught.value) == (
        "data/tiny/corpus.jsonl:2: the chunk a was already defined at data/tiny/corpus.jsonl:1. "
        "Give one of the two another id."
    )
    assert manifests(root) == []


def not_ready(collection):
    with pytest.raises(NotReady) as caught:
        evaluate(collection)
    return str(caught.value)


def test_evaluate_wants_an_index(tiny, collection_of):
    assert not_ready(collection_of(tiny())) == (
        "the collection tiny is not indexed for the configuration sparse. "
        "Index it: desk index tiny."
    )


def test_a_changed_corpus_is_refused_until_it_is_indexed(tiny, collection_of):
    root = tiny()
    before = index(collection_of(root))[0].manifest.corpus_revision
    append(root, id="new", text="A new text.")
    sentence = not_ready(collection_of(root))
    now = collection_of(root).corpus().revision
    assert sentence == (
        "the corpus of tiny, or its filter, has changed since it was indexed "
        f"({before[:12]} then, {now[:12]} now). Index it: desk index tiny."
    )
    index(collection_of(root))
    assert evaluate(collection_of(root))[0].execution.points == 5


def test_a_changed_filter_is_another_corpus_revision(runbooks, collection_of, edit):
    edit(runbooks / "data/runbooks/collection.toml", 'status = "published"\n', "")
    assert "the corpus of runbooks, or its filter, has changed" in not_ready(
        collection_of(runbooks)
    )


def test_vectors_that_went_missing(tiny, collection_of):
    root = tiny(configurations=DENSE)
    index(collection_of(root))
    for path in (root / "data/tiny/vectors").glob("*.sqlite*"):
        path.unlink()
    assert not_ready(collection_of(root)) == (
        "vectors of tiny are missing. Index it: desk index tiny."
    )


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": 1, "more": 2}'])
def test_a_manifest_that_cannot_be_read(tiny, collection_of, text):
    root = tiny()
    index(collection_of(root))
    (path,) = manifests(root)
    path.write_text(text)
    sentence = not_ready(collection_of(root))
    assert sentence.startswith(f"data/tiny/vectors/{path.name}: the manifest cannot be read: ")
    assert sentence.endswith("Make it again: desk index tiny.")


def test_a_manifest_of_another_format(tiny, collection_of, edit):
    root = tiny()
    index(collection_of(root))
    (path,) = manifests(root)
    edit(path, '"format": 1', '"format": 2')
    assert not_ready(collection_of(root)) == (
        f"data/tiny/vectors/{path.name}: the manifest cannot be read: its format is 2, not 1. "
        "Make it again: desk index tiny."
    )


@pytest.fixture
def titled(tiny, collection_of):
    """An indexed workspace whose embedder reads titles, and one execution of it."""
    texts = [
        {"id": "a", "text": "It grows on trees.", "name": "Apples", "part": "Fruit"},
        {"id": "b", "text": "It grows on trees.", "name": "Pears", "part": "Fruit"},
    ]
    root = tiny(
        texts, {"q1": "Where do apples grow?"}, [("q1", "a", 2)],
        fields=', title = "name", section = "part"',
        configurations=DENSE + 'document_template = "{title}: {text}"\n[configurations.lexical]\n'
        'mode = "sparse"\n',
    )  # fmt: skip
    index(collection_of(root))
    return root, evaluate(collection_of(root))[0].execution


def test_a_changed_title_that_is_embedded_is_another_execution(titled, collection_of, edit):
    root, first = titled
    assert evaluate(collection_of(root), ["dense"], reuse=True)[0].execution == first
    edit(root / "data/tiny/corpus.jsonl", "Apples", "Quinces")
    collection = collection_of(root)
    assert collection.corpus().revision == first.corpus_revision  # it has texts, not titles
    with pytest.raises(NotReady) as caught:
        evaluate(collection, ["dense"], reuse=True)
    assert str(caught.value) == "vectors of tiny are missing. Index it: desk index tiny."
    assert [report.embedded for report in index(collection)] == [1, 0]
    again = evaluate(collection, ["dense"], reuse=True)[0]
    assert not again.reused and again.execution.fingerprint != first.fingerprint
    assert again.execution.provenance["content"] != first.provenance["content"]
    differs = [name for name, _, _ in compare(collection.workspace, first.id, "dense").differs]
    assert differs == ["content"]


def test_what_is_not_embedded_leaves_the_execution_as_it_was(titled, collection_of, edit):
    root, first = titled
    edit(root / "data/tiny/corpus.jsonl", '"Fruit"', '"Plants"')
    assert evaluate(collection_of(root), ["dense"], reuse=True)[0].execution == first
    edit(root / "data/tiny/corpus.jsonl", "Apples", "Quinces")
    assert evaluate(collection_of(root), ["lexical"], reuse=True)[0].reused


def test_second_searches_belong_to_their_cutoffs(runbooks, collection_of, edit):
    def reused(*cutoffs):
        return evaluate(collection_of(runbooks), ["sparse"], cutoffs=cutoffs, reuse=True)[0].reused

    assert [reused(1, 3), reused(3), reused(1, 3)] == [False, True, True]
    edit(runbooks / "data/runbooks/collection.toml", 'mode = "sparse"',
         'mode = "sparse"\nprefix_check = true')  # fmt: skip
    assert [reused(1, 3), reused(3), reused(1, 3)] == [False, False, True]


def test_a_stored_execution_needs_no_engine(runbooks, collection_of):
    def engine_for(identity, make):
        raise AssertionError("filled")

    first = evaluate(collection_of(runbooks), ["dense"])[0]
    again = evaluate(collection_of(runbooks), ["dense"], reuse=True, engine_for=engine_for)[0]
    assert again.execution == first.execution


def test_a_changed_embedder_is_refused(tiny, collection_of, ollama_server, edit):
    root = tiny(configurations=OLLAMA)
    index(collection_of(root))
    edit(root / "data/tiny/collection.toml", 'digest = "abab"\n', "")
    assert len(evaluate(collection_of(root))) == 1
    ollama_server.digest = "cd" * 32
    assert not_ready(collection_of(root)) == (
        "the embedder ollama:embeddinggemma has changed since tiny was indexed "
        f"({'ab' * 12} then, {'cd' * 12} now). Index it: desk index tiny."
    )


def test_ollama_embeds_rendered_documents(tiny, collection_of, ollama_server):
    index(collection_of(tiny({"a": "some text"}, labels=(), configurations=OLLAMA)))
    assert ["title: none | text: some text"] in ollama_server.embedded


def test_an_embedder_that_fails_midway_keeps_what_is_done(tiny, collection_of, ollama_server):
    root = tiny({str(n): f"text {n}" for n in range(40)}, labels=(), configurations=OLLAMA)

    def down(path, body):
        if len(ollama_server.embedded) > 1:
            raise ConnectionError

    ollama_server.fail = down
    with pytest.raises(EmbedderError) as caught:
        index(collection_of(root))
    assert "Ollama does not answer at " in str(caught.value) and manifests(root) == []
    ollama_server.fail = None
    (report,) = index(collection_of(root))
    assert (report.embedded, report.reused) == (8, 32)


def test_an_embedder_that_is_not_there_is_never_replaced(tiny, collection_of, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    with pytest.raises(EmbedderError) as caught:
        index(collection_of(tiny(configurations=OLLAMA)))
    assert str(caught.value) == (
        "Ollama does not answer at 127.0.0.1:9. Start it (ollama serve), set OLLAMA_HOST, or "
        "choose the bundled embedder."
    )


def test_misfit_is_none_for_what_was_just_indexed(tiny, collection_of):
    collection = collection_of(tiny())
    index(collection)
    assert misfit(collection, "sparse", collection.corpus(), None) is None
    assert read_manifest(collection, "sparse").points == 4

"""`desk prune`: vectors that nobody needs go, and nothing has to be embedded again."""

import json
import sqlite3
from contextlib import closing

import httpx
import numpy as np
import pytest
from filelock import FileLock

from app.engines.bundled import BundledEmbedder
from app.engines.embedding import Embedded
from app.engines.vectors import VectorCache
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.upkeep.pruning import prune

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
TITLED = DENSE.replace("dense", "titled") + 'document_template = "{title}: {text}"\n'
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
OLLAMA = '[configurations.gemma]\nembedder = "ollama:embeddinggemma"\n'
SETTINGS = "data/tiny/collection.toml"


@pytest.fixture
def corpus():
    """Writes the corpus anew."""

    def write(root, *texts):
        lines = [json.dumps({"id": f"c{n}", "text": text}) + "\n" for n, text in enumerate(texts)]
        (root / "data/tiny/corpus.jsonl").write_text("".join(lines), encoding="utf-8")

    return write


@pytest.fixture
def pruned(desk):
    """`desk prune tiny --json`, which must go well."""

    def run(root, *words):
        answer = desk(root, "prune", "tiny", "--json", *words)
        assert answer.code == 0, answer.err
        return answer.json

    return run


def folder(root):
    return root / "data/tiny/vectors"


def names(root, pattern):
    return sorted(path.name for path in folder(root).glob(pattern))


def bundled(root):
    return VectorCache.of(folder(root), BundledEmbedder.digest)


def fill(cache, count=1, prefix="other"):
    """Vectors that nobody needs."""
    vectors = np.ones((count, 384), np.float32)
    cache.add([f"{prefix} {n}" for n in range(count)], Embedded(vectors, (False,) * count))


def state(root):
    """What a prune could change."""
    return {
        path.name: VectorCache(path).look() if path.suffix == ".sqlite" else path.read_bytes()
        for path in sorted(folder(root).iterdir())
        if path.suffix in (".sqlite", ".json") or ".manifest." in path.name
    }


def test_nothing_to_prune(indexed, desk, pruned):
    root = indexed(configurations=DENSE + SPARSE)
    before = state(root)
    assert pruned(root) == {
        "format": 1, "collection": "tiny", "dry_run": False, "bytes": 0, "caches": [], "files": [],
    }  # fmt: skip
    answer = desk(root, "prune", "tiny")
    assert answer.out == "tiny: every vector is needed; nothing to prune.\n"
    assert state(root) == before


def test_vectors_of_texts_that_are_gone(indexed, desk, pruned, corpus, collection_of):
    root = indexed(configurations=DENSE + TITLED)
    corpus(root, "a text that is new", "A pear ripens off the tree.")
    index(collection_of(root))
    fill(bundled(root), 500)
    before, size = state(root), bundled(root).size
    told = desk(root, "prune", "tiny", "--dry-run").out
    assert told.startswith("tiny: would free about ") and "506 vectors, 4 kept" in told
    planned = pruned(root, "--dry-run")
    assert planned["dry_run"] and state(root) == before and bundled(root).size == size
    done = pruned(root)
    (one,) = done["caches"]
    # Two texts under two templates stay; of four texts before, three are gone, under both.
    assert (one["vectors"], one["kept"], one["embedder"]) == (506, 4, "bundled")
    assert planned["caches"][0]["vectors"] == 506 and done["files"] == []
    assert done["bytes"] == one["bytes"] == size - bundled(root).size > size / 2
    assert pruned(root)["caches"] == []


def test_after_a_prune_nothing_is_embedded_again(runbooks, collection_of, desk, monkeypatch):
    cache = VectorCache.of(runbooks / "data/runbooks/vectors", BundledEmbedder.digest)
    fill(cache, 20)
    before = [one.means for one in evaluate(collection_of(runbooks))]
    assert "20 vectors, 11 kept" in desk(runbooks, "prune", "runbooks").out
    assert [one.means for one in evaluate(collection_of(runbooks))] == before
    asked = []
    monkeypatch.setattr(BundledEmbedder, "batches", lambda _, texts: asked.extend(texts) or [])
    assert [(one.embedded, one.reused) for one in index(collection_of(runbooks))] == [
        (0, 11), (0, 0),
    ]  # fmt: skip
    assert asked == [] and "All is well." in desk(runbooks, "doctor").out


def test_vectors_of_an_index_that_was_not_finished_stay(indexed, pruned, corpus, collection_of):
    """Killed before its manifest: the next index goes on from there."""
    root = indexed(configurations=DENSE)
    corpus(root, "one", "two")
    index(collection_of(root))
    (manifest,) = folder(root).glob("*.manifest.json")
    manifest.unlink()
    (one,) = pruned(root)["caches"]
    assert (one["vectors"], one["kept"]) == (4, 2)
    assert [one.embedded for one in index(collection_of(root))] == [0]


def test_a_configuration_that_is_gone(indexed, desk, pruned, edit, collection_of):
    root = indexed(configurations=DENSE + SPARSE)
    dense = {*names(root, "*.manifest.json")}
    edit(root / SETTINGS, DENSE, "")
    (folder(root) / ".0123.manifest.json.77").write_text("{")
    planned = pruned(root, "--dry-run")
    assert planned == {**pruned(root), "dry_run": True}
    assert planned["caches"] == [
        {"file": bundled(root).path.name, "embedder": None, "vectors": None, "kept": 0,
         "bytes": planned["caches"][0]["bytes"], "whole": True}
    ]  # fmt: skip
    assert names(root, "*.sqlite*") == [] and names(root, ".*") == []
    (left,) = names(root, "*.manifest.json")
    assert {*planned["files"]} == {".0123.manifest.json.77", *dense} - {left}
    assert evaluate(collection_of(root))[0].execution.status == "complete"
    fill(bundled(root))
    (folder(root) / "0123.manifest.json").write_text("{")
    assert desk(root, "prune", "tiny").out.splitlines()[1:] == [
        f"  {bundled(root).path.name}: all of it; no configuration uses its embedder",
        "  0123.manifest.json: of a configuration that is gone",
    ]


def test_a_cache_that_no_manifest_names(indexed, pruned):
    root = indexed(configurations=DENSE)
    other = VectorCache.of(folder(root), "an embedder of last year")
    fill(other)
    other.path.with_name(f"{other.path.name}-wal").touch()
    assert [one["file"] for one in pruned(root)["caches"]] == [other.path.name]
    assert names(root, "*.sqlite*") == [bundled(root).path.name]


def test_a_server_that_is_off_is_not_asked(tiny, pruned, collection_of, ollama_server, corpus):
    root = tiny(configurations=OLLAMA)
    index(collection_of(root))
    corpus(root, "An apple tree needs pruning in winter.", "another")
    ollama_server.fail = lambda path, body: httpx.Response(500, json={"error": "off"})
    asked = len(ollama_server.requests)
    (one,) = pruned(root)["caches"]
    assert (one["vectors"], one["kept"], one["whole"]) == (3, 1, False)
    assert one["embedder"] == "ollama:embeddinggemma" and len(ollama_server.requests) == asked
    ollama_server.fail = None
    assert [one.embedded for one in index(collection_of(root))] == [1]


def test_what_cannot_be_told_apart_stays(tiny, desk, collection_of, ollama_server, edit):
    """A model whose digest no manifest tells may have made any of the caches."""
    root = tiny(configurations=OLLAMA + DENSE)
    index(collection_of(root))
    before = state(root)
    for path in folder(root).glob("*.manifest.json"):
        if "embeddinggemma" in path.read_text():
            path.unlink()
    answer = desk(root, "prune", "tiny")
    assert answer.notes == [
        "note: gemma is not indexed, so which vectors are its own is not known. Caches that no "
        "manifest names were kept; index it first: desk index tiny"
    ]
    caches = {name: keys for name, keys in before.items() if name.endswith(".sqlite")}
    assert len(caches) == 2 and caches.items() <= state(root).items()


def test_a_template_that_is_not_indexed_yet_keeps_its_vectors(tiny, pruned, collection_of, edit,
                                                             ollama_server):  # fmt: skip
    root = tiny(configurations=OLLAMA)
    index(collection_of(root))
    second = OLLAMA.replace("gemma]", "plain]") + 'document_template = "{text}"\n'
    edit(root / SETTINGS, OLLAMA, OLLAMA + second)
    index(collection_of(root))
    for path in folder(root).glob("*.manifest.json"):
        if json.loads(path.read_text())["template"] == "{text}":
            path.unlink()
    assert pruned(root)["caches"] == []
    assert [one.embedded for one in index(collection_of(root))] == [0, 0]


def test_while_somebody_is_indexing(indexed, desk):
    root = indexed(configurations=DENSE)
    fill(bundled(root))
    before = state(root)
    with FileLock(folder(root) / "index.lock"):
        answer = desk(root, "prune", "tiny")
    assert answer.code == 2 and answer.errors == [
        "error: data/tiny/vectors: another process is indexing tiny. Wait for it to end, then try "
        "again."
    ]
    assert state(root) == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("vectors/{manifest}", "{", "the manifest cannot be read"),
        ("corpus.jsonl", "{", "the line is not JSON"),
        ("corpus.jsonl", "", "the corpus is empty"),
        ("collection.toml", "format = 2", "format is"),
    ],
)
def test_where_it_is_not_known_what_is_needed_nothing_goes(indexed, desk, name, text, words):
    root = indexed(configurations=DENSE)
    fill(bundled(root))
    (manifest,) = names(root, "*.manifest.json")
    (root / "data/tiny" / name.format(manifest=manifest)).write_text(text)
    before = state(root)
    answer = desk(root, "prune", "tiny")
    assert answer.code == 2 and words in answer.err and answer.out == ""
    assert state(root) == before


def test_a_cache_that_is_broken_is_named(indexed, desk):
    root = indexed(configurations=DENSE)
    bundled(root).path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    answer = desk(root, "prune", "tiny")
    assert answer.code == 2 and "the vector cache cannot be used" in answer.err


def test_a_collection_that_was_never_indexed(tiny, pruned, collection_of):
    root = tiny(configurations=DENSE)
    assert pruned(root)["caches"] == [] and not folder(root).exists()
    assert prune(collection_of(root)).collection == "tiny"


def test_the_file_is_small_again(indexed, pruned):
    root = indexed(configurations=DENSE)
    size = bundled(root).size
    fill(bundled(root), 2000)
    assert bundled(root).size > 10 * size
    pruned(root)
    assert bundled(root).size <= 2 * size
    with closing(sqlite3.connect(bundled(root).path)) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)

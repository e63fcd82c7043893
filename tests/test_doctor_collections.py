"""`desk doctor` on collections: settings, ledgers, index and vectors, as broken as they come."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest
from filelock import FileLock

from app.core.errors import EngineError
from app.engines.bundled import BundledEmbedder
from app.engines.vectors import VectorCache
from app.flows.indexing import index
from tests.test_doctor import state

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
LEDGER = "labels/tiny/judgments/ann.jsonl"
INDEX = "data/tiny/vectors"
DIES = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("pragma journal_mode=wal")
connection.execute("insert into vectors values ('in the wal', zeroblob(1536), 0)")
connection.commit()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def found(desk):
    """Level, place and message of the findings on the collection; looking changes nothing."""

    def run(root):
        before = state(root)
        answer = desk(root, "doctor", "--json")
        assert state(root) == before
        findings = answer.json["findings"]
        assert answer.code == any(one["level"] == "error" for one in findings)
        return [
            (one["level"], one["place"], one["message"])
            for one in findings if one["section"] == "collection tiny"
        ]  # fmt: skip

    return run


@pytest.fixture
def root(indexed):
    return indexed(configurations=DENSE + SPARSE)


def cache(root):
    return VectorCache.of(root / INDEX, BundledEmbedder.digest)


def levels(findings):
    return [level for level, _, _ in findings if level != "ok"]


def told(findings, level):
    return [(place, message) for one, place, message in findings if one == level]


def test_a_collection_that_is_fine(root, found):
    cached = f"{INDEX}/{cache(root).path.name}"
    *others, vectors = found(root)
    assert others == [
        ("ok", "data/tiny/collection.toml", "the settings are valid"),
        ("ok", "labels/tiny", "the ledgers can be read: 3 lines"),
        ("ok", INDEX, "indexed for dense, sparse"),
    ]
    assert vectors[:2] == ("ok", cached) and vectors[2].startswith("4 vectors, ")


def test_settings_that_are_broken_hide_nothing_else(root, found, edit):
    edit(root / "data/tiny/collection.toml", "format = 1", 'format = 1\ncolour = "red"')
    (root / LEDGER).write_text("{\n")
    cache(root).path.write_bytes(b"x" * 5000)
    settings, ledger, vectors = told(found(root), "error")
    assert settings == ("data/tiny/collection.toml", 'unknown key "colour"')
    assert ledger[0] == f"{LEDGER}:1" and vectors[1].startswith("the vector cache cannot be used")


def test_a_name_that_is_refused(root, desk):
    (root / "data/tiny").rename(root / "data/Tiny One")
    answer = desk(root, "doctor")
    assert answer.code == 1 and "collection Tiny One:" in answer.out
    assert 'error    the collection name "Tiny One" may have' in answer.out


def test_lines_of_the_ledger_that_are_refused(root, found):
    with (root / LEDGER).open("a") as file:
        file.write("{\n" * 9)
    errors = told(found(root), "error")
    assert [place for place, _ in errors] == [f"{LEDGER}:{n}" for n in range(4, 9)] + [""]
    assert errors[-1][1] == "and 4 more like these"


def test_labels_that_are_refused(root, found, edit):
    edit(root / LEDGER, '"q2"', '"q9"')
    ((place, message),) = told(found(root), "error")
    assert place == f"{LEDGER}:3" and "q9" in message


def test_lines_that_a_crash_cut_short(root, found):
    with (root / LEDGER).open("a") as file:
        file.write('{"format":1,"ev')
    (root / f"{LEDGER}.torn").write_text("{")
    last, torn = told(found(root), "warning")
    assert last[1].startswith(f"{LEDGER}:4: the last line is cut short")
    assert torn[0] == f"{LEDGER}.torn" and torn[1].startswith("what a crash cut short; ")


@pytest.mark.parametrize("name", ["data/tiny/corpus.jsonl", "labels/tiny/questions.jsonl"])
def test_texts_that_are_refused(root, found, name):
    (root / name).write_text("{\n")
    ((place, message),) = told(found(root), "error")
    assert place == f"{name}:1" and message.startswith("the line is not JSON")


def test_not_indexed(tiny, found):
    root = tiny(configurations=DENSE + SPARSE)
    assert [message for _, message in told(found(root), "warning")] == [
        "the collection tiny is not indexed for the configuration dense",
        "the collection tiny is not indexed for the configuration sparse",
    ]
    assert not (root / INDEX).exists()


def test_an_index_of_another_corpus(root, found):
    with (root / "data/tiny/corpus.jsonl").open("a") as file:
        file.write(json.dumps({"id": "new", "text": "new"}) + "\n")
    warnings = told(found(root), "warning")
    assert len(warnings) == 2 and all("has changed since it was" in one for _, one in warnings)


def test_a_manifest_that_cannot_be_read(root, found):
    for path in (root / INDEX).glob("*.manifest.json"):
        if "bundled" in path.read_text():
            path.write_text("{")
    findings = found(root)
    ((place, message),) = told(findings, "error")
    assert place.startswith(f"{INDEX}/") and message.startswith("the manifest cannot be read")
    assert ("ok", INDEX, "indexed for sparse") in findings


def test_an_embedder_that_changed(root, found, monkeypatch):
    monkeypatch.setattr(BundledEmbedder, "digest", "another")
    ((_, message),) = told(found(root), "warning")
    assert message.startswith("the embedder bundled has changed since tiny was indexed")


def test_a_server_is_not_asked(tiny, found, collection_of, ollama_server):
    root = tiny(configurations='[configurations.dense]\nembedder = "ollama:embeddinggemma"\n')
    index(collection_of(root))
    asked = len(ollama_server.requests)
    assert levels(found(root)) == [] and len(ollama_server.requests) == asked


def test_vectors_that_are_missing(root, found):
    with closing(sqlite3.connect(cache(root).path)) as connection:
        connection.execute("delete from vectors where key = (select max(key) from vectors)")
        connection.commit()
    gone = "vectors of tiny for the configuration dense are missing"
    assert told(found(root), "warning") == [(INDEX, gone)]
    cache(root).remove()
    gone = "the vectors of tiny for the configuration dense are gone"
    assert told(found(root), "warning") == [(INDEX, gone)]


@pytest.mark.parametrize("where", ["head", "middle", "count", "table"])
def test_a_cache_that_is_broken(root, found, where):
    path = cache(root).path
    raw = bytearray(path.read_bytes())
    if where == "table":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("drop table vectors")
    else:
        # `count`: that of free pages, which only a check of the file looks at
        start, end = {"head": (0, 4096), "middle": (4096, 8192), "count": (36, 40)}[where]
        raw[start:end] = b"\0" * 3 + b"\x07" if where == "count" else b"\xa5" * 4096
        path.write_bytes(raw)
    ((place, message),) = told(found(root), "error")
    assert place == f"vectors/{path.name}"
    assert message.startswith("the vector cache cannot be used: ")


def test_vectors_that_are_still_in_the_wal(root, found, start):
    assert start(["-c", DIES, str(cache(root).path)]).wait(30) == -signal.SIGKILL
    assert cache(root).path.with_name(f"{cache(root).path.name}-wal").stat().st_size
    assert "in the wal" in cache(root).look()
    findings = found(root)
    assert levels(findings) == [] and findings[-1][2].startswith("5 vectors, ")


def test_a_cache_that_cannot_be_opened(tmp_path):
    with pytest.raises(EngineError, match="the vector cache cannot be used: "):
        VectorCache(tmp_path / "none.sqlite").look()
    assert list(tmp_path.iterdir()) == []


def test_while_somebody_is_indexing(root, found, monkeypatch):
    cache(root).path.write_bytes(b"half of it")
    with FileLock(root / INDEX / "index.lock"):
        findings = found(root)
    assert findings[-1] == ("ok", INDEX, "is being indexed or pruned just now")
    assert levels(findings) == [] and levels(found(root)) == ["error"]


def test_a_cache_read_while_it_is_written_is_no_error(root, found, monkeypatch):
    lock = FileLock(root / INDEX / "index.lock")

    def torn(self):
        lock.acquire()
        raise EngineError("torn")

    monkeypatch.setattr(VectorCache, "look", torn)
    try:
        assert told(found(root), "error") == []
    finally:
        lock.release()


def test_what_keeps_from_looking_is_a_finding(root, found, monkeypatch):
    def closed(self):
        raise PermissionError(13, "Permission denied", "labels/tiny")

    monkeypatch.setattr("app.workspace.Collection.corpus", closed)
    assert found(root) == [("error", "labels/tiny", "this cannot be looked at: Permission denied")]

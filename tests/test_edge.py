"""The engine in this process: its rankings are those of Qdrant's local mode, and its faults are
sentences."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.corpus import is_eligible
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines.bundled import BundledEmbedder
from app.engines.edge import EdgeEngine, kind
from app.engines.embedding import embed_all
from app.engines.retrieval import Asked, Search
from app.flows.filling import Target
from app.flows.loading import load
from app.workspace import Workspace
from tests.engines import EdgeShelf, Shelf, same_ranking
from tests.hashing import Hashing
from tests.prepared import REPOSITORY
from tests.serving import WORDS, generated
from tests.test_real_collections import CODE, DATASETS, HAYSTACK

DENSE = Search(mode="dense", depth=10, filters={})
SPARSE = replace(DENSE, mode="sparse")
HYBRID = replace(DENSE, mode="hybrid", rrf_k=60, candidates=30)
SEARCHES = (DENSE, SPARSE, HYBRID)


def chunk(name, text, **fields):
    return Chunk(ChunkKey("doc", "v1", name), text, text_hash(text), fields=fields)


def both(chunks, vectors, filters=None):
    """The engine, and the one it is held against, with the same content."""
    made = EdgeShelf(), Shelf()
    for one in made:
        one.fill(chunks, vectors, None if vectors is None else vectors.shape[1], filters or {})
    return made


def rows(hits):
    return [(hit.key, hit.rank, hit.score) for hit in hits]


def agree(edge, local, search, text, vector):
    found = rows(edge.search(search, text, vector))
    wanted = rows(local.search(search, text, vector))
    assert same_ranking(found, wanted), (search, text, found, wanted)
    return found


def signs(text, dimension=16):
    """A vector of signs: cosines are exact in any order of adding, and many are equal."""
    drawn = np.random.default_rng(int(text_hash(text)[-8:], 16))
    return drawn.choice([-1.0, 1.0], dimension).astype(np.float32)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_chunks_with_twins_and_ties(seed):
    texts, asked = generated(seed)
    chunks = [chunk(one["id"], one["text"], kind=one["kind"]) for one in texts]
    edge, local = both(chunks, np.stack([signs(one.text) for one in chunks]), {"kind": ["kept"]})
    tied = 0
    for filters in ({}, {"kind": ["kept"]}):
        assert edge.count(filters) == local.count(filters)
        for search in SEARCHES:
            for text in asked.values():
                asking = replace(search, filters=filters)
                scores = [hit[2] for hit in agree(edge, local, asking, text, signs(text))]
                tied += len(scores) > len(set(scores))
    assert tied > 50


texts = st.lists(st.lists(st.sampled_from(WORDS[:8]), min_size=1, max_size=5), max_size=25)


@settings(
    max_examples=25, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(texts, st.lists(st.sampled_from(WORDS[:9]), max_size=4), st.integers(1, 40))
def test_any_small_corpus_at_any_depth(texts, words, depth):
    chunks = [chunk(f"c{n}", " ".join(text), odd=len(text) % 2) for n, text in enumerate(texts)]
    vectors = np.stack([signs(one.text) for one in chunks]) if chunks else np.ones((0, 16), "f4")
    edge, local = both(chunks, vectors)
    for search in SEARCHES:
        for filters in ({}, {"odd": [1]}):
            asking = replace(search, depth=depth, candidates=depth + 3, filters=filters)
            agree(edge, local, asking, " ".join(words), signs(" ".join(words)))


@cache
def embedded(texts):
    return embed_all(BundledEmbedder(), list(texts)).vectors


def compare_all(chunks, vectors, questions, asked, filters):
    edge, local = both(chunks, vectors, filters)
    for search in SEARCHES:
        for text, vector in zip(questions, asked, strict=True):
            for some in ({}, filters) if filters else ({},):
                agree(edge, local, replace(search, filters=some, depth=20), text, vector)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["runbooks", "handbook"])
def test_the_collections_that_come_with_it(name):
    loaded = load(Workspace.at(REPOSITORY).collection(name))
    chunks = list(loaded.corpus.chunks.values())
    questions = tuple(one.text for one in loaded.questions.values())
    vectors, asked = embedded(tuple(one.text for one in chunks)), embedded(questions)
    compare_all(chunks, vectors, questions, asked, loaded.collection.settings.filters)


@pytest.mark.slow
@pytest.mark.parametrize("folder", [HAYSTACK, CODE], ids=lambda folder: folder.name)
def test_published_collections(folder):
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not beside this repository")
    assert folder.parent == DATASETS
    parsed = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    chunks = [
        chunk(one["doc_id"], one["text"], part="ab"[n % 3 == 0]) for n, one in enumerate(parsed)
    ]
    lines = (folder / "queries.jsonl").open(encoding="utf-8")
    questions = [json.loads(line)["text"] for line in lines][:60]
    vector = Hashing().vector
    of, asked = ([vector(text) for text in some] for some in ([c.text for c in chunks], questions))
    asked = np.stack(asked).astype(np.float32)
    compare_all(chunks, np.stack(of).astype(np.float32), questions, asked, {"part": ["a"]})


VALUES = {
    "text": "ok", "other": "no", "yes": True, "not": False, "one": 1, "zero": 0, "float": 1.0,
    "tags": ["ok", "x"], "mixed": ["no", 1], "none": [], "digit": "1", "word": "True", "big": 2**70,
    "marked": "int 1",
}  # fmt: skip


@pytest.mark.parametrize("name", ["field", "review.status", "my field", "größe", "list[]"])
@pytest.mark.parametrize(
    "allowed", [["ok"], [1], [True], [0], [False], ["ok", 1], ["1"], [2**70], [True, 0], ["none"]]
)
def test_a_filter_means_what_it_means_for_the_corpus(name, allowed):
    chunks = [chunk(n, n, **{name: value}) for n, value in VALUES.items()]
    wanted = {n for n, v in VALUES.items() if is_eligible({name: v}, {name: allowed})}
    edge = EdgeShelf()
    edge.fill(chunks, np.ones((len(chunks), 2), np.float32), 2, {name: allowed})
    assert edge.count({name: allowed}) == len(wanted)
    search = replace(DENSE, depth=99, filters={name: allowed})
    found = edge.search(search, "", np.ones(2, np.float32))
    assert {hit.key.chunk for hit in found} == wanted


def test_several_fields_must_all_pass():
    edge, local = both(
        [chunk(f"c{n}", "apple", a=n % 2, b=str(n % 3)) for n in range(12)],
        np.ones((12, 2), np.float32),
        {"a": [1], "b": ["0", "2"]},
    )
    search = replace(SPARSE, filters={"a": [1], "b": ["0", "2"]})
    assert len(agree(edge, local, search, "apple", None)) == edge.count(search.filters) == 4


@pytest.mark.parametrize("text", ["the of and is", "", "?!", "zebra"])
def test_questions_without_a_known_word(text):
    edge, local = both([chunk("a", "apple"), chunk("b", "the of")], np.eye(2, dtype=np.float32))
    x = np.array([1, 0], np.float32)
    assert agree(edge, local, SPARSE, text, None) == []
    assert [hit[0].chunk for hit in agree(edge, local, HYBRID, text, x)] == ["a", "b"]


def test_what_fails_for_one_question_fails_for_no_other():
    edge, _ = both([chunk("a", "apple"), chunk("b", "pear")], np.eye(2, dtype=np.float32))
    x = np.array([1, 0], np.float32)
    first, wrong, last = edge.engine.search_many(
        HYBRID, [Asked("pear", x), Asked("pear", np.ones(5, np.float32)), Asked("pear", x)]
    )
    assert first == last and [hit.key.chunk for hit in first] == ["b", "a"]
    assert str(wrong) == (
        "Qdrant failed in this process while searching: Vector dimension error: expected dim: 2, "
        "got 5. Start it again; where it fails again, keep the log and report it."
    )


def test_chunks_without_vectors_are_found_by_their_words():
    edge, local = both([chunk("a", "apple"), chunk("b", "pear")], None)
    assert [hit[0].chunk for hit in agree(edge, local, SPARSE, "pears", None)] == ["b"]
    (outcome,) = edge.engine.search_many(DENSE, [Asked("", np.ones(2, np.float32))])
    assert isinstance(outcome, EngineError) and "Not existing vector name" in str(outcome)


@pytest.mark.parametrize(
    ("job", "doing"),
    [
        (lambda e: e.count(), "counting points"),
        (lambda e: e.held([ChunkKey("doc", "v1", "a")]), "reading vectors"),
        (lambda e: [None for one in e.search_many(SPARSE, [Asked("apple")]) if raised(one)],
         "searching"),
    ],
)  # fmt: skip
def test_a_closed_engine_says_so(job, doing):
    engine = EdgeEngine([chunk("a", "apple")], None, None, {})
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match=f"Qdrant failed in this process while {doing}: Service"):
        job(engine)


def raised(outcome):
    raise outcome


def test_many_threads_find_what_one_finds():
    texts, asked = generated(7, chunks=2000, questions=40)
    chunks = [chunk(one["id"], one["text"], kind=one["kind"]) for one in texts]
    edge = EdgeShelf()
    edge.fill(chunks, np.stack([signs(one.text) for one in chunks]), 16, {"kind": ["kept"]})
    questions = [Asked(text, signs(text)) for text in asked.values()]
    searches = [replace(one, filters=some) for one in SEARCHES for some in ({}, {"kind": ["kept"]})]
    wanted = [edge.engine.search_many(search, questions) for search in searches]
    found, start = {}, threading.Barrier(8)

    def work(number):
        start.wait()
        order = searches[number % 6 :] + searches[: number % 6]
        answers = {id(search): edge.engine.search_many(search, questions) for search in order}
        found[number] = [answers[id(search)] for search in searches]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 8 and all(one == wanted for one in found.values())


def test_provenance_names_the_engine_that_searched(runbooks):
    collection = Workspace.at(runbooks).collection("runbooks")
    target = Target(collection, "dense", collection.corpus(), BundledEmbedder())
    assert target.kind == target.open().description() == kind()
    assert kind()["engine"] == "qdrant edge, in this process"
    assert set(kind()) == {"engine", "qdrant-edge-py", "bm25"}


@pytest.mark.parametrize("command", ["index", "evaluate", "check"])
def test_what_is_searched_here_needs_no_client_of_a_server(runbooks, command):
    """It takes half a second to import."""
    code = (
        "import sys\nfrom app.cli import desk\n"
        f"desk(['-w', {str(runbooks)!r}, {command!r}, 'runbooks'], standalone_mode=False)\n"
        "sys.exit('qdrant_client' in sys.modules)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()

"""Searches in Qdrant: in this process, in its client's local mode, over HTTP; all answer alike."""

import re
from dataclasses import replace
from itertools import count, permutations

import numpy as np
import pytest

from app.core.corpus import is_eligible
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey, Hit
from app.core.text import text_hash
from app.engines.qdrant_requests import point_id
from app.engines.retrieval import Search, overlap, prefix_differs
from tests.engines import EdgeShelf, Shelf
from tests.qdrant_server import QdrantServer
from tests.serving import connection

TEXTS = {
    "apple": "apple trees need pruning",
    "pear": "pears ripen slowly",
    "plum": "plums and apple cake",
    "quince": "quinces are hard",
}
VECTORS = np.array([[1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0, 1]], np.float32)
DENSE = Search(mode="dense", depth=4, filters={})
SPARSE = replace(DENSE, mode="sparse")
HYBRID = replace(DENSE, mode="hybrid", rrf_k=60)
NUMBERS = count()
X = np.array([1, 0, 0], np.float32)


def chunk(name, text, **fields):
    return Chunk(ChunkKey("doc", "v1", name), text, text_hash(text), fields=fields)


@pytest.fixture(scope="module")
def remote():
    with QdrantServer() as server:
        yield connection(server)


def maker(request):
    """Makes collections, each call another one; those in this process share nothing."""

    def make():
        if request.param == "edge":
            return EdgeShelf()
        if request.param == "local":
            return Shelf()
        return Shelf(request.getfixturevalue("remote"), f"chunks-{next(NUMBERS)}")

    return make


shelf = pytest.fixture(maker, params=["edge", "local", "server"])
# What outlives its engine, and can be filled again or emptied by others.
lasting = pytest.fixture(maker, params=["local", "server"])


@pytest.fixture
def engine(shelf):
    made = shelf()
    made.fill([chunk(name, text, kind=name[0]) for name, text in TEXTS.items()], VECTORS, 3)
    return made


def names(hits):
    return [hit.key.chunk for hit in hits]


def test_dense_search_orders_by_cosine(engine):
    hits = engine.search(DENSE, "", X)
    assert names(hits) == ["apple", "pear", "plum", "quince"]
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert hits[0].score == 1.0 and hits[1].score == pytest.approx(0.993884)
    assert all(hit.score == float(f"{hit.score:.6g}") for hit in hits)


def test_small_scores_keep_their_digits_and_noise_beyond_six_is_gone(shelf):
    engine = shelf()
    sizes = {"a": 1e-5, "b": 1.0002e-5, "c": 1.0000001e-5}
    vectors = np.array([[size, 1, 0] for size in sizes.values()], np.float32)
    engine.fill([chunk(name, name) for name in sizes], vectors, 3)
    hits = engine.search(DENSE, "", X)
    assert [(one.key.chunk, one.score) for one in hits] == [
        ("b", 1.0002e-5),
        ("a", 1e-5),
        ("c", 1e-5),
    ]


def test_each_side_of_a_hybrid_search_gets_the_candidates(engine):
    # Dense: apple, pear, ... Sparse: apple, plum.
    def found(candidates, depth=4):
        search = replace(HYBRID, candidates=candidates, depth=depth)
        return set(names(engine.search(search, "apple pruning", X)))

    assert found(1) == {"apple"}
    assert found(2) == {"apple", "pear", "plum"}
    assert found(4) == set(TEXTS)
    assert found(1, depth=1) == {"apple"}


def test_sparse_search_finds_words_and_their_stems(engine):
    hits = engine.search(SPARSE, "Which apples are pruned?", None)
    assert names(hits) == ["apple", "plum"]
    assert hits[0].score > hits[1].score > 0


@pytest.mark.parametrize("text", ["the of and is", "", "?!", "zebra"])
def test_sparse_search_without_a_known_word_finds_nothing(engine, text):
    assert engine.search(SPARSE, text, None) == []


def test_hybrid_search_without_a_known_word_is_dense(engine):
    hits = engine.search(HYBRID, "the of and", X)
    assert names(hits) == names(engine.search(DENSE, "", X))


@pytest.mark.parametrize("k", [60, 2])
def test_rrf_scores_are_the_sums_of_reciprocal_ranks(engine, k):
    # Dense: apple, pear, plum, quince. Sparse: apple, plum. Qdrant counts ranks from 0 here.
    found = engine.search(replace(HYBRID, rrf_k=k), "apple pruning", X)
    assert names(found) == ["apple", "plum", "pear", "quince"]
    wanted = [2 / k, 1 / (k + 2) + 1 / (k + 1), 1 / (k + 1), 1 / (k + 3)]
    assert [hit.score for hit in found] == pytest.approx(wanted, abs=1e-6)


def test_an_explicit_rrf_k_changes_scores(engine):
    sixty, two = (engine.search(replace(HYBRID, rrf_k=k), "apple", X)[0].score for k in (60, 2))
    assert sixty < 0.05 < two


@pytest.mark.parametrize("search", [DENSE, SPARSE, HYBRID])
def test_the_filter_keeps_ineligible_chunks_out(engine, search):
    search = replace(search, filters={"kind": ["p"]})
    hits = engine.search(search, "apple pears", X)
    assert hits and set(names(hits)) <= {"pear", "plum"}
    assert engine.count() == 4 and engine.count(search.filters) == 2


def test_the_filter_runs_before_the_depth_is_cut(engine):
    """A filter over the first hits would leave nothing here."""
    search = replace(DENSE, depth=1, filters={"kind": ["q"]})
    assert names(engine.search(search, "", X)) == ["quince"]


def test_a_filter_that_nothing_passes(engine):
    assert engine.search(replace(DENSE, filters={"kind": ["z"]}), "", X) == []


VALUES = {
    "text": "ok", "other": "no", "yes": True, "not": False, "one": 1, "zero": 0, "float": 1.0,
    "tags": ["ok", "x"], "none": [], "digit": "1",
}  # fmt: skip


@pytest.mark.parametrize("allowed", [["ok"], [1], [True], [0], [False], ["ok", 1], ["1"]])
def test_the_engine_and_the_corpus_mean_the_same_by_a_filter(shelf, allowed):
    engine = shelf()
    engine.fill([chunk(n, n, field=value) for n, value in VALUES.items()], None, None)
    wanted = {n for n, v in VALUES.items() if is_eligible({"field": v}, {"field": allowed})}
    search = replace(SPARSE, depth=20, filters={"field": allowed})
    assert set(names(engine.search(search, " ".join(VALUES), None))) <= wanted
    assert engine.count({"field": allowed}) == len(wanted)


@pytest.mark.parametrize("name", ["review.status", "my field", "größe", "list[]"])
def test_a_field_may_have_any_name(shelf, name):
    engine = shelf()
    engine.fill([chunk("a", "a", **{name: "ok"}), chunk("b", "b", **{name: "no"})], None, None)
    assert engine.count({name: ["ok"]}) == 1


def test_equal_scores_are_ordered_by_key(shelf):
    engine = shelf()
    order = ["d", "b", "a", "e", "c"]
    engine.fill([chunk(n, "the same apple") for n in order], np.tile(X, (5, 1)), 3)
    for search in (DENSE, SPARSE):
        hits = engine.search(replace(search, depth=3), "apple", X)
        assert names(hits) == ["a", "b", "c", "d", "e"]
        assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
        assert len({hit.score for hit in hits}) == 1


def test_more_equal_scores_than_depth_and_reserve_are_still_ordered_by_key(shelf):
    engine = shelf()
    order = [f"c{(n * 37) % 100:03}" for n in range(100)]
    engine.fill([chunk(n, "the same apple") for n in order], np.tile(X, (100, 1)), 3)
    for search in (DENSE, SPARSE):
        hits = engine.search(replace(search, depth=5), "apple", X)
        assert names(hits) == [f"c{n:03}" for n in range(100)]
        assert [hit.rank for hit in hits] == list(range(1, 101))


@pytest.mark.parametrize("candidates", [2, 3, 6])
def test_ties_are_fused_in_the_order_of_keys_however_they_were_put_in(shelf, candidates):
    """The engine ranks them as it has them; each rank counts in a fused score."""
    texts = {"a": "apple", "b": "apple", "c": "apple", "d": "pear tree"}
    wanted = None
    for order in list(permutations(texts))[::5]:
        made = shelf()
        rows = np.array([[0, 1, 0] if n == "d" else [1, 0, 0] for n in order], np.float32)
        made.fill([chunk(n, texts[n]) for n in order], rows, 3)
        search = replace(HYBRID, depth=2, candidates=candidates)
        found = [(hit.key.chunk, hit.score) for hit in made.search(search, "apple", X)]
        wanted = wanted or found
        assert found == wanted
    assert wanted == [("a", pytest.approx(2 / 60)), ("b", pytest.approx(2 / 61))]


@pytest.mark.parametrize(
    ("depth", "found"),
    [(1, "a"), (2, "abcd"), (3, "abcd"), (4, "abcd"), (5, "abcde"), (9, "abcde")],
)
def test_hits_tied_with_the_last_are_returned_beyond_the_depth(shelf, depth, found):
    engine = shelf()
    vectors = np.array([[0.5, 0.5, 0]] * 3 + [[1, 0, 0], [0, 1, 0]], np.float32)
    engine.fill([chunk(name, "x") for name in "dbcae"], vectors, 3)
    assert "".join(names(engine.search(replace(DENSE, depth=depth), "", X))) == found


def test_filling_again_adds_what_is_missing(lasting):
    engine = lasting()
    chunks = [chunk(name, text, kind=name[0]) for name, text in TEXTS.items()]
    engine.fill(chunks, VECTORS, 3)
    assert engine.fill(chunks, VECTORS, 3) == 0
    more = np.vstack([VECTORS, [[0.5, 0.5, 0]]]).astype(np.float32)
    assert engine.fill([*chunks, chunk("fig", "figs")], more, 3) == 1
    assert engine.count() == 5


def test_a_point_that_is_not_of_this_corpus(lasting):
    filled = lasting()
    blind = Shelf(filled.connection, filled.name)
    filled.fill([chunk("apple", "apple")], VECTORS[:1], 3)
    for search in (DENSE, SPARSE, HYBRID):
        with pytest.raises(EngineError) as caught:
            blind.search(search, "apple", X)
        identity = point_id(ChunkKey("doc", "v1", "apple"))
        assert str(caught.value) == (
            f"{filled.connection.name} returned the point {identity}, which is not in this corpus. "
            "Run desk index again."
        )


@pytest.mark.parametrize("job", [lambda e: e.count(), lambda e: e.search(DENSE, "", X)])
def test_a_collection_that_is_not_there(lasting, job):
    with pytest.raises(EngineError) as caught:
        job(lasting())
    assert re.match("Qdrant (failed|at .* refused) while ", str(caught.value))
    assert str(caught.value).endswith("Run desk index again.")


def test_a_vector_of_another_dimension(engine):
    with pytest.raises(EngineError) as caught:
        engine.search(DENSE, "", np.ones(5, np.float32))
    assert re.match(
        "Qdrant (failed|failed in this process|at .* refused) while searching: ", str(caught.value)
    )


def test_point_ids_are_stable_and_tell_keys_apart():
    one = ChunkKey("a", "b", "c")
    assert point_id(one) == point_id(ChunkKey("a", "b", "c"))
    assert point_id(one) != point_id(ChunkKey("a b", "", "c"))


def hits(*pairs):
    return [Hit(n, ChunkKey("d", "v", name), s) for n, (name, s) in enumerate(pairs, start=1)]


def test_prefixes_are_compared_apart_from_ties():
    full = hits(("a", 3.0), ("b", 2.0), ("c", 2.0), ("d", 1.0))
    assert not prefix_differs(full, hits(("a", 3.0), ("c", 2.0)))
    assert prefix_differs(full, hits(("b", 3.0), ("c", 2.0)))
    assert prefix_differs(full, hits(("a", 3.0), ("b", 2.1)))
    assert prefix_differs(full[:1], hits(("a", 3.0), ("b", 2.0)))
    assert not prefix_differs(full, []) and not prefix_differs([], [])


def test_overlap_is_the_share_of_the_exact_hits():
    full = hits(("a", 3.0), ("b", 2.0), ("c", 1.0))
    assert overlap(full, full, 2) == 1.0
    assert overlap(hits(("a", 3.0), ("c", 1.0)), full, 2) == 0.5
    assert overlap([], full, 2) == 0.0
    assert overlap(full, [], 2) is None

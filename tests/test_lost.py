"""Where evidence went: every cause made to happen, and found by the checks."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from app.core.errors import EngineError
from app.core.text import text_hash
from app.engines.qdrant_requests import point_id
from app.flows.indexing import index
from app.flows.inspecting import inspect
from app.flows.loading import load
from app.flows.one_search import ask
from app.flows.searching import depth_of
from app.flows.trying import Changes, changed, view_of
from tests import serving
from tests.serving import SEARCHES, served

server, word_vectors, at_once = serving.server, serving.word_vectors, serving.at_once
#: Twelve texts that name apples more and more often, and one that never does.
TEXTS = {f"a{n:02}": "apple " * (13 - n) + "pear " * n for n in range(12)}
TEXTS["other"] = "Nothing of the kind."
HYBRID = '[configurations.hybrid]\nmode = "hybrid"\nrrf_k = 60\ncandidates = 20\n'


def searched(collection, name, k=3, *, filters=None, engine=None, **changes):
    """A question asked and inspected at K, by a configuration with changes for this run."""
    loaded = load(collection)
    settings = changed(collection.configuration(name), Changes(**changes))
    view = view_of(loaded, filters)
    question = loaded.questions["q1"]
    depth = depth_of(settings, [*collection.settings.scoring.cutoffs, k])
    more = {"engine_for": lambda identity, make: engine(make())} if engine else {}
    search = ask(view, name, settings, question.text, depth, question="q1", **more)
    return inspect(search, k)


def causes(found):
    return [(one.key.chunk, one.cause) for one in found.lost]


def words(found):
    return [one.words for one in found.lost]


@pytest.fixture
def made(tiny, collection_of):
    """An indexed collection of the texts with labels on q1, "apple"."""

    def make(labels, texts=TEXTS, **more):
        root = tiny(texts, {"q1": "apple"}, [("q1", *one) for one in labels], **more)
        index(collection_of(root))
        return collection_of(root)

    return make


def test_ranked_deeper_with_the_rank_of_an_exact_search(made):
    found = searched(made([("a00", 2), ("a04", 1), ("a10", 2)]), "sparse")
    assert causes(found) == [("a04", "ranked deeper"), ("a10", "ranked deeper")]
    assert [(one.rank, one.exact_rank, one.grade) for one in found.lost] == [(5, 5, 1), (11, 11, 2)]
    third = found.kept[2].hit.score
    assert words(found)[0] == (
        f"ranked deeper: rank 5 of 13 in an exact search; score {found.lost[0].score:.4g}, rank 3 "
        f"has {third:.4g}"
    )


def test_deeper_than_the_search_went_is_found_by_a_deeper_one(made):
    texts = {f"c{n:03}": "apple " * (200 - n) + "pear " * n for n in range(200)}
    found = searched(made([("c150", 2)], texts), "sparse")
    assert len(found.ranking.hits) < 100
    assert [(one.rank, one.exact_rank, one.cause) for one in found.lost] == [
        (None, 151, "ranked deeper")
    ]


def test_beyond_the_deepest_search_is_said_and_not_guessed(made, monkeypatch):
    monkeypatch.setattr("app.flows.one_search._FIRST", 4)
    monkeypatch.setattr("app.flows.one_search.DEEPEST", 8)
    found = searched(made([("a05", 2), ("a11", 2)]), "sparse", depth=6)
    assert [(one.key.chunk, one.exact_rank) for one in found.lost] == [("a05", 6), ("a11", None)]
    assert words(found)[1] == "ranked deeper: beyond rank 8 in an exact search"
    assert found.lost[1].cause == "ranked deeper"


def test_no_word_in_common_is_no_rank(made):
    found = searched(made([("a00", 2), ("other", 2)]), "sparse")
    assert causes(found) == [("other", "no word in common")]
    assert found.lost[0].exact_rank is None


def test_a_chunk_without_a_word_that_is_searched_is_in_the_index(made):
    texts = {**TEXTS, "stop": "to be or not to be"}
    found = searched(made([("stop", 2)], texts), "sparse")
    assert causes(found) == [("stop", "no word in common")]
    assert words(found)[0].endswith("the chunk has no word that is searched")


def test_no_longer_in_the_corpus(made, collection_of, tmp_path, edit):
    collection = made([("a00", 2), ("a05", 2)])
    root = collection.workspace.root
    gone = text_hash(TEXTS["a05"])
    edit(root / "labels/tiny/judgments/ann.jsonl", '"a05"], ', f'"a05"], "text_hash": "{gone}", ')
    path = root / "data/tiny/corpus.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(one for one in lines if '"a05"' not in one))
    index(collection_of(root))
    found = searched(collection_of(root), "sparse")
    assert causes(found) == [("a05", "no longer in the corpus")]
    assert (found.score.relevant, found.score.as_zero["recall"]) == (2, 0.5)


def test_not_eligible_names_the_field(made):
    texts = [
        {"id": "new", "text": "apple apple", "kind": "kept", "year": 2026, "open": True},
        {"id": "old", "text": "apple", "kind": "kept", "year": 2020, "open": True},
        {"id": "out", "text": "apple pear", "kind": "out", "year": 2026, "open": True},
    ]
    kept = '[eligible]\nkind = "kept"\nyear = [2020, 2026]\nopen = true\n'
    collection = made([("new", 2), ("old", 2)], texts, settings=kept)
    found = searched(collection, "sparse", filters={"kind": ["kept"], "year": [2026]})
    assert causes(found) == [("old", "not eligible")]
    assert words(found) == ["not eligible: year is 2020, the filter wants 2026"]
    # Recall is over what is eligible in this run; the other one is told apart.
    assert (found.score.relevant, found.score.values["recall"]) == (1, 1)
    assert causes(searched(collection, "sparse")) == []


def test_a_wider_filter_lets_what_it_keeps_out_be_found(made):
    texts = [
        {"id": "in", "text": "apple pear", "kind": "kept"},
        {"id": "out", "text": "apple", "kind": "out"},
    ]
    collection = made([("in", 2)], texts, settings='[eligible]\nkind = "kept"\n')
    found = searched(collection, "sparse", filters={"kind": []})
    assert [(one.graded.hit.key.chunk, one.graded.label.state) for one in found.evidence] == [
        ("out", "unjudged"), ("in", "judged"),
    ]  # fmt: skip


def test_cut_by_the_threshold(made):
    collection = made([("a00", 2), ("a02", 2), ("a11", 1)])
    uncut = {hit.key.chunk: hit.score for hit in searched(collection, "sparse").ranking.hits}
    found = searched(collection, "sparse", threshold=uncut["a01"])
    assert causes(found) == [("a02", "cut by the threshold"), ("a11", "ranked deeper")]
    assert words(found)[0] == (
        f"cut by the threshold: score {uncut['a02']:.4g}, threshold {uncut['a01']:g}; rank 3 "
        "without it"
    )
    assert words(found)[1].endswith(f", and below the threshold {uncut['a01']:g}")
    assert [(one.graded.hit.rank, one.cut) for one in found.evidence][:3] == [
        (1, False), (2, False), (3, True),
    ]  # fmt: skip


def test_duplicate_text_of_a_hit(made):
    texts = {**TEXTS, "twin": TEXTS["a00"]}
    found = searched(made([("a00", 2)], texts), "sparse", k=1)
    # A label of a text is one of its twins, too: they share one grade.
    assert causes(found) == [("twin", "duplicate text of a hit")]
    assert words(found) == ["duplicate text of the hit at rank 1, a00"]
    assert found.evidence[0].tied == found.evidence[1].tied == (1, 2)
    assert found.score.tied


class Approximate:
    """An engine whose index loses chunks unless it is told to be exact."""

    def __init__(self, engine, loses):
        self._engine, self._loses = engine, loses

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def search_many(self, search, asked):
        found = self._engine.search_many(search, asked)
        if search.exact:
            return found
        return [
            [replace(hit, rank=rank) for rank, hit in enumerate(self._kept(one), start=1)]
            for one in found
        ]

    def _kept(self, hits):
        return (hit for hit in hits if hit.key.chunk not in self._loses)


@pytest.mark.parametrize("name", ["sparse", "hybrid"])
def test_lost_by_the_approximate_index(made, name):
    collection = made(
        [("a00", 2), ("a01", 2), ("a07", 2)],
        configurations=f'[configurations.sparse]\nmode = "sparse"\n{HYBRID}',
    )
    exact = {hit.key.chunk: hit.rank for hit in searched(collection, name).ranking.hits}
    lost = min(exact, key=exact.get)
    found = searched(collection, name, k=7, engine=lambda one: Approximate(one, {lost, "a07"}))
    told = {one.key.chunk: one for one in found.lost}
    assert told[lost].cause == "lost by the approximate index"
    assert told[lost].words == (
        "lost by the approximate index: rank 1 in an exact search, not among the first 20 in this "
        "one"
    )
    if exact["a07"] > 7:
        assert told["a07"].cause == "ranked deeper"


@pytest.mark.usefixtures("at_once")
def test_not_in_the_index(tiny, collection_of, server):
    root = tiny(TEXTS, {"q1": "apple"}, [("q1", "a00", 2), ("q1", "a01", 2)])
    served(root, server.url)
    index(collection_of(root))
    collection = collection_of(root)
    (name,) = [one.name for one in server.client.get_collections().collections]
    key = next(key for key in collection.corpus().chunks if key.chunk == "a01")

    def loses(engine):
        # As an index that somebody else changes behind an open connection.
        server.client.delete(name, [point_id(key)])
        return engine

    found = searched(collection, "sparse", engine=loses)
    assert causes(found) == [("a01", "not in the index")]
    assert words(found) == ["not in the index: the index is behind the corpus. Run desk index tiny"]


@pytest.mark.usefixtures("at_once")
def test_a_server_that_stops_before_the_checks_leaves_them_undone(tiny, collection_of, server):
    root = tiny(TEXTS, {"q1": "apple"}, [("q1", "a00", 2), ("q1", "a08", 2)])
    served(root, server.url, "retries = 0")
    index(collection_of(root))
    loaded = load(collection_of(root))
    settings = loaded.collection.configuration("sparse")
    search = ask(view_of(loaded), "sparse", settings, "apple", 20, question="q1")
    server.fail(503)
    found = inspect(search, 3)
    assert causes(found) == [("a08", "not checked")]
    assert "failed while" in words(found)[0] and found.score.outcome == "scored"
    server.heal()
    server.forget()
    # It is not asked again by every look at the page, but by the next search.
    assert causes(inspect(search, 3)) == [("a08", "not checked")] and server.requests == []
    search = ask(view_of(loaded), "sparse", settings, "apple", 20, question="q1")
    assert causes(inspect(search, 3)) == [("a08", "ranked deeper")]


def test_another_program_is_not_asked_what_it_does_not_say(made):
    answer = {"hits": [{"document": c, "chunk": c, "score": 9 - n}
                       for n, c in enumerate(["a03", "a00", "a01", "a02"])]}  # fmt: skip
    program = json.dumps([sys.executable, "-c", f"print({json.dumps(json.dumps(answer))})"])
    collection = made(
        [("a02", 2), ("a01", 1), ("a09", 2)],
        configurations=f'[configurations.aside]\nmode = "external"\ncommand = {program}\n',
    )
    found = searched(collection, "aside", k=2, threshold=7.0)
    assert causes(found) == [
        ("a01", "ranked deeper"), ("a02", "cut by the threshold"), ("a09", "not returned"),
    ]  # fmt: skip


@pytest.mark.usefixtures("word_vectors")
def test_a_hybrid_search_tells_both_sides(tiny, collection_of):
    texts = {f"c{n:02}": f"pear {'quince ' * (n % 3)}w{n}" for n in range(60)}
    texts["far"] = "timeout retry budget"
    root = tiny(texts, {"q1": "pear quince"}, [("q1", "far", 2)], configurations=SEARCHES)
    index(collection_of(root))
    found = searched(collection_of(root), "hybrid")
    (lost,) = found.lost
    assert lost.cause == "ranked deeper"
    assert "lexical: no word in common" in lost.words and "dense: rank" in lost.words


def test_a_failed_search_says_nothing_of_lost_evidence(made):
    class Silent:
        ordered = False

        def search_many(self, search, asked):
            return [EngineError("Qdrant did not answer")]

    found = searched(made([("a00", 2)]), "sparse", engine=lambda engine: Silent())
    assert found.lost == () and found.score.outcome == "failed"


def test_every_relevant_chunk_is_within_k_or_told_with_one_cause(made):
    """Whatever K is: nothing is lost silently, nothing is told twice."""
    draw = np.random.default_rng(3)
    labels = [
        (name, int(grade)) for name, grade in zip(TEXTS, draw.integers(0, 3, 13), strict=True)
    ]
    collection = made(labels)
    relevant = {name for name, grade in labels if grade}
    for k in (1, 2, 3, 5):
        found = searched(collection, "sparse", k=k)
        within = {one.hit.key.chunk for one in found.kept[:k]}
        told = [one.key.chunk for one in found.lost]
        assert sorted(told) == sorted(relevant - within) and len(told) == len(set(told))

"""Evaluating a foreign collection: the same rankings as our own over the same chunks."""

import numpy as np
import pytest

from app.core.errors import EngineError
from app.engines import executions
from app.engines.bundled import BundledEmbedder
from app.engines.embedding import embed_all
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.loading import load
from app.workspace import Workspace
from tests.foreign import DENSE, NAME, THEIRS, THREE, as_theirs, chunk, point, sized
from tests.inspected import inspect_question


@pytest.fixture
def own(runbooks):
    return Workspace.at(runbooks).collection("runbooks")


def rankings(collection, evaluation):
    store = Store.at(collection.workspace.store_path)
    found, _ = executions.rankings(store, evaluation.execution)
    assert all(one.failure is None for one in found)
    return {one.question: [(hit.key, round(hit.score, 4)) for hit in one.hits] for one in found}


def test_rankings_and_scores_are_those_of_our_own_collection(theirs, own):
    as_theirs(theirs, own)
    theirs.sync()
    ours, here = evaluate(own), evaluate(theirs.collection)
    for one, other in zip(ours, here, strict=True):
        assert rankings(own, one) == rankings(theirs.collection, other)
        assert (one.execution.points, one.execution.eligible) == (
            other.execution.points,
            other.execution.eligible,
        )
        engine = other.execution.provenance["engine"]
        assert (engine["engine"], engine["collection"]) == ("qdrant server", "theirs")
        assert "score" not in engine
    assert theirs.server.writes == []


def by_numpy(corpus, vectors, questions, distance):
    """Eligible keys by distance, for every question."""
    (asked,) = (embed_all(BundledEmbedder(), [one.text for one in questions.values()]).vectors,)
    order = 1 if distance == "Manhattan" else 2
    found = {}
    for name, vector in zip(questions, asked, strict=True):
        far = np.linalg.norm(vectors - vector, ord=order, axis=1)
        rows = [
            (float(value), key)
            for value, (key, one) in zip(far, corpus.chunks.items(), strict=True)
            if one.eligible
        ]
        found[name] = sorted(rows)
    return found


@pytest.mark.parametrize("distance", ["Euclid", "Manhattan"])
def test_a_distance_is_negated(theirs, own, distance):
    corpus, vectors = as_theirs(theirs, own, distance, DENSE)
    theirs.sync()
    (found,) = evaluate(theirs.collection)
    assert found.execution.provenance["engine"]["score"] == "negated distance"
    wanted = by_numpy(corpus, vectors, theirs.collection.questions(), distance)
    here = rankings(theirs.collection, found)
    for question, rows in wanted.items():
        assert [key for key, _ in here[question]] == [key for _, key in rows]
        assert [-score for _, score in here[question]] == pytest.approx(
            [far for far, _ in rows], abs=2e-3
        )
    # A threshold between the first and the second of one question.
    name = next(iter(wanted))
    limit = -(wanted[name][0][0] + wanted[name][1][0]) / 2
    theirs.add_settings(f"threshold = {limit}")
    seen = inspect_question(load(theirs.collection), "dense", name, 3)
    assert seen.cut == len(wanted[name]) - 1
    assert theirs.server.writes == []


def test_dot_is_a_score(theirs, own):
    as_theirs(theirs, own, "Dot", DENSE)
    theirs.sync()
    (found,) = evaluate(theirs.collection)
    (ours,) = evaluate(own, ["dense"])
    assert rankings(theirs.collection, found) == rankings(own, ours)
    assert "score" not in found.execution.provenance["engine"]


def test_hybrid_over_distances_is_that_over_cosines(theirs, own):
    """Of vectors of length 1 the order is the same, and fusion sees the order alone."""
    hybrid = THREE[THREE.index("[configurations.hybrid]") :]
    as_theirs(theirs, own, "Euclid", hybrid)
    theirs.sync()
    (found,), (ours,) = evaluate(theirs.collection), evaluate(own, ["hybrid"])
    assert rankings(theirs.collection, found) == rankings(own, ours)


def test_an_embedder_of_another_dimension(theirs, desk):
    theirs.create(sized(5))
    theirs.put(chunk(1, "A text.", (1, 0, 0, 0, 0)))
    theirs.ask({"q": "Which?"})
    theirs.sync()
    done = desk(theirs.root, "evaluate", NAME)
    assert (done.code, done.errors) == (
        2,
        [
            "error: data/foreign/collection.toml: the vectors of theirs have 5 dimensions, those "
            "of bundled 384. Name the embedder they were made with, or another source.vector."
        ],
    )


def test_points_that_are_not_catalogued_are_an_error_not_a_hit(theirs, own):
    """One gone, one new: as many as before, but not the same."""
    as_theirs(theirs, own, configurations=DENSE)
    theirs.sync()
    chosen = next(one.point for one in theirs.collection.corpus().eligible.values())
    (old,) = theirs.server.client.retrieve(THEIRS, [chosen], with_vectors=True)
    theirs.drop(chosen)
    theirs.put(point(999, old.vector, **old.payload))
    (found,) = evaluate(theirs.collection)
    assert found.execution.status == "incomplete"
    store = Store.at(theirs.workspace.store_path)
    reasons = {one.failure for one in executions.rankings(store, found.execution)[0]}
    assert any("returned the point 999, which is not in this corpus" in str(r) for r in reasons)
    assert all("desk sync foreign" in r for r in reasons if r)


def test_prefixes_and_an_exact_twin(theirs, own):
    checks = DENSE + "prefix_check = true\nexact_twin = true\n"
    as_theirs(theirs, own, configurations=checks)
    theirs.sync()
    (found,) = evaluate(theirs.collection)
    seen = found.execution.provenance["checks"]
    assert seen["prefix"] == {"differing": []}
    assert set(seen["ann_recall"].values()) == {1.0}
    assert theirs.server.writes == []


def test_an_execution_can_be_resumed_and_reused(theirs, own):
    as_theirs(theirs, own, configurations=DENSE)
    theirs.sync()
    theirs.server.fail(503, times=1, path="query")
    (broken,) = evaluate(theirs.collection)
    theirs.server.heal()
    if broken.execution.status == "incomplete":
        (mended,) = evaluate(theirs.collection, resume=True)
        assert mended.execution.provenance["resumed"] == broken.execution.id
        assert mended.execution.status == "complete"
    (again,) = evaluate(theirs.collection, reuse=True)
    assert again.reused


def test_a_server_that_dies_before_a_search_is_told(theirs, own):
    as_theirs(theirs, own, configurations=DENSE)
    theirs.sync()
    theirs.server.stop()
    with pytest.raises(EngineError, match="does not answer while looking at the collection"):
        evaluate(theirs.collection)

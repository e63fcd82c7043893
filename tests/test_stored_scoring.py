"""Scores made in the store are those of the same rankings scored in memory."""

import shutil
from dataclasses import replace

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from app.engines import executions, scores
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.evaluating import evaluate, rescore
from app.flows.exchange.runs import import_run
from app.flows.loading import load
from app.flows.means import means
from app.flows.scoring import score_rankings
from app.flows.stored_scoring import score_execution
from app.workspace import Workspace
from tests.conftest import QUESTIONS, judgment, lines_of
from tests.worlds import SPLITS, build, key, rankings_of, worlds


def by_import(path, world, loaded):
    """The execution of a run with these rankings, its lines in any order."""
    found, _ = rankings_of(world, loaded, imported=True)
    rows = [
        f"{one.question} Q0 {hit.key.chunk} {3 * hit.rank} {hit.score} x\n"
        for one in found
        for hit in one.hits
    ]
    path.write_text("".join(sorted(rows)))
    words = {"order": world["kind"], "missing": world["missing"]}
    execution = import_run(loaded.collection, path, **words).result
    if world["missing"] == "failed":
        found = [r if r.hits else replace(r, failure="not in the run") for r in found]
    return execution, found


def stored(store, world, loaded):
    known = {key(n) for one in world["rankings"].values() for n in one["names"][: one["length"]]}
    if world["kind"] in ("rank", "score") and known & loaded.corpus.eligible.keys():
        return by_import(store.path.parent / "the.run", world, loaded)
    found, worded = rankings_of(world, loaded, imported=False)
    threshold = 0.5 if world["kind"] == "threshold" else None
    execution = Execution(
        id=f"e{loaded.collection.name}", collection=loaded.collection.name, configuration="x",
        fingerprint="f", corpus_revision=loaded.corpus.revision, points=8, eligible=7,
        status="incomplete" if any(one.failure for one in found) else "complete",
        started="2026-01-01", finished="2026-01-02",
        provenance={"configuration": {"mode": "sparse", "threshold": threshold}, "depth": 20},
    )  # fmt: skip
    executions.save(store, execution, found, worded, loaded.corpus, retain_text=True)
    return execution, [r for r in found if not worded[r.question].endswith(" Really?")]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("worlds")
    (folder / "data").mkdir()
    return folder


@pytest.fixture(scope="module")
def seen():
    """What the worlds had in them, so that none of it is missing by accident."""
    found = set()
    yield found
    states = {"judged", "implicit", "unsettled", "disputed", "stale", "cannot-judge", "unjudged"}
    reasons = {"unsupported", "no evidence yet", "undecided", "only disputed or stale evidence"}
    assert found >= {*states, *reasons, "retired", "scored", "failed", "tied", "provisional"}


@settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck), derandomize=True)
@given(world=worlds)
def test_the_store_scores_as_memory_does(root, seen, world):
    store = Store.at(root / "data/desk.duckdb")
    with store.work():
        loaded = build(root, world)
        execution, found = stored(store, world, loaded)
        scoring = replace(loaded.labels.scoring, cutoffs=tuple(sorted(world["cutoffs"])))
        here = score_execution(store, execution, loaded, scoring)
        hashes = {k: chunk.text_hash for k, chunk in loaded.corpus.eligible.items()}

        def in_memory(split=None):
            return score_rankings(
                found, loaded.labels, hashes, scoring.cutoffs, execution.threshold, split,
                ties=not execution.ordered_by_rank,
            )  # fmt: skip

        for split in (None, *SPLITS):
            there, mine = in_memory(split), here.of_split(split)
            assert mine.asked == there.asked
            assert mine.questions == there.questions
            assert mine.unsupported == there.unsupported
            assert means(mine) == means(there)
            assert [q.ranking for q in mine.questions] == [q.ranking for q in there.questions]
    for one in here.questions:
        seen |= {one.reason, one.outcome} | {hit.label.state for hit in one.ranking}
        seen |= {"tied"} if one.tied else set()
        seen |= {"provisional"} if one.provisional else set()


def kept(root, table="label_sets"):
    """Label sets by number, as a table of the store has them."""
    with duckdb.connect(str(root / "data/desk.duckdb")) as connection:
        return {one for (one,) in connection.execute(f"select label_ref from {table}").fetchall()}


@pytest.fixture
def graded(indexed, collection_of):
    """A workspace with an execution under its first labels; `regrade` changes a grade."""
    root = indexed()
    execution = evaluate(collection_of(root))[0].execution
    path = root / "labels/tiny/judgments/ann.jsonl"

    def regrade(number, grade):
        line = judgment("q1", "quince", grade, 100 + number)
        path.write_text(path.read_text() + lines_of([line]))
        return load(Workspace.at(root).collection("tiny"))

    return root, execution, regrade


def test_labels_of_a_comparison_that_is_over_make_room_for_the_next(graded):
    root, execution, regrade = graded
    scored = kept(root)
    assert len(scored) == 1
    for number, grade in enumerate((0, 1, 2), start=1):
        loaded = regrade(number, grade)
        for _ in range(2):
            rescore(loaded, execution, [1])
        assert scored < kept(root) and len(kept(root)) == 2
        assert kept(root, "label_pairs") == kept(root, "label_questions") == kept(root)


def test_labels_with_scores_stay_and_so_do_the_scores(graded, collection_of):
    root, execution, regrade = graded
    first = evaluate(collection_of(root), reuse=True)[0]
    scoring = first.scoring.as_json()["hash"]
    store = Store.at(root / "data/desk.duckdb")
    before = scores.stored(store, execution, first.label_revision, scoring)
    assert [row["outcome"] for row in before] == ["scored"] * 6
    second = evaluate(regrade(1, 2).collection, reuse=True)[0]
    assert second.reused and second.label_revision != first.label_revision
    rescore(regrade(2, 1), execution, [1])
    rescore(regrade(3, 0), execution, [1])
    assert len(kept(root)) == 3
    assert scores.stored(store, execution, first.label_revision, scoring) == before
    assert len(scores.stored(store, execution, second.label_revision, scoring)) == 6


def test_labels_of_another_collection_are_left_alone(graded):
    root, execution, regrade = graded
    for part in ("data", "labels"):
        shutil.copytree(root / part / "tiny", root / part / "other")
    theirs = evaluate(Workspace.at(root).collection("other"))[0].execution
    path = root / "labels/other/judgments/ann.jsonl"
    path.write_text(path.read_text() + lines_of([judgment("q2", "pear", 1, 200)]))
    rescore(load(Workspace.at(root).collection("other")), theirs, [1])
    before = kept(root)
    assert len(before) == 3
    for number, grade in enumerate((0, 1), start=1):
        rescore(regrade(number, grade), execution, [1])
        assert before < kept(root) and len(kept(root)) == 4


def test_scores_of_one_split_are_kept_for_all_questions(indexed, collection_of):
    questions = [
        {"format": 1, "id": name, "category": "c", "text": text, "split": split}
        for (name, text), split in zip(QUESTIONS.items(), SPLITS, strict=True)
    ]
    root = indexed(questions=questions)
    (one,) = evaluate(collection_of(root), split="held-out")
    assert {q.question for q in one.scored.questions} == {"q2"}
    assert {mean.answerable for mean in one.means} == {1}
    store, scoring = Store.at(root / "data/desk.duckdb"), one.scoring.as_json()["hash"]
    rows = scores.stored(store, one.execution, one.label_revision, scoring)
    assert {row["question"] for row in rows} == {"q1", "q2"}

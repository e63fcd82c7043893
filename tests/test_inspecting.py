"""Inspecting: one question's evidence and score, and what is not kept."""

import duckdb
import pytest

from app.core.errors import EngineError
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.inspecting import MOST_SHOWN
from app.flows.loading import load
from app.flows.searching import open_searcher
from app.workspace import Workspace
from tests.inspected import inspect_question

#: Twelve texts that name apples more and more often, and one that never does.
APPLES = {f"a{n:02}": "apple " * (13 - n) + "pear " * n for n in range(12)}
TEXTS = {**APPLES, "other": "Nothing of the kind."}


@pytest.fixture
def inspected(tiny, collection_of):
    """Indexes, and inspects q1 at K: `inspected(labels, k)`."""

    def inspect(labels, k=3, **more):
        root = tiny(TEXTS, {"q1": "apple"}, [("q1", *one) for one in labels], **more)
        index(collection_of(root))
        return inspect_question(load(collection_of(root)), "sparse", "q1", k)

    return inspect


def test_evidence_reaches_beyond_k_and_is_scored_at_k(inspected):
    found = inspected([("a00", 2), ("a01", 0)])
    assert (found.kind, found.score.k, found.score.outcome) == ("answerable", 3, "scored")
    assert [one.graded.hit.rank for one in found.evidence] == list(range(1, 9))
    first = found.evidence[0]
    assert (first.graded.hit.key.chunk, first.graded.label.grade) == ("a00", 2)
    assert first.chunk.text == TEXTS["a00"]
    assert [one.hit.rank for one in found.score.ranking] == [1, 2, 3]
    assert found.score.values["rr"] == 1 and (found.lost, found.cut) == ((), 0)
    assert found.acceptance is None


def test_a_threshold_between_two_scores(inspected, collection_of, tmp_path, edit):
    inspected([("a01", 2), ("a04", 2), ("a08", 1)], k=1)
    root = tmp_path / "tiny-workspace"
    loaded = load(collection_of(root))
    scores = [h.score for h in inspect_question(loaded, "sparse", "q1", 1).ranking.hits]
    edit(root / "data/tiny/collection.toml", 'mode = "sparse"',
         f'mode = "sparse"\nthreshold = {scores[4]}')  # fmt: skip
    found = inspect_question(load(collection_of(root)), "sparse", "q1", 1)
    assert len(found.kept) == 12 - found.cut == 5  # a hit at the threshold stays
    assert [one.cut for one in found.evidence] == [False] * 5 + [True] * 5
    assert [(one.key.chunk, one.rank, one.cause) for one in found.lost] == [
        ("a01", 2, "ranked deeper"), ("a04", 5, "ranked deeper"), ("a08", 9, "ranked deeper"),
    ]  # fmt: skip
    assert "below the threshold" in found.lost[2].words


def test_an_unsupported_question_has_acceptance_and_no_score(runbooks, collection_of):
    loaded = load(collection_of(runbooks))
    found = inspect_question(loaded, "dense", "ingress-timeout", 5)
    assert (found.kind, found.score.outcome) == ("unsupported", "not applicable")
    assert (found.acceptance.k, found.acceptance.hits, found.lost) == (5, 5, ())


def test_a_failed_search_is_an_outcome_and_a_failed_fill_is_not(runbooks, collection_of):
    loaded = load(collection_of(runbooks))

    def silent(identity, make):
        engine = make()

        engine.search_many = lambda search, asked: [EngineError("Qdrant did not answer")]
        return engine

    found = inspect_question(loaded, "sparse", "http-pooling", 3, silent)
    assert (found.score.outcome, found.score.reason) == ("failed", "Qdrant did not answer.")
    assert found.evidence == ()

    def unfilled(identity, make):
        raise EngineError("Qdrant failed while filling")

    with pytest.raises(EngineError, match="while filling"):
        inspect_question(loaded, "sparse", "http-pooling", 3, unfilled)


def test_a_page_of_evidence_has_an_end(tiny, collection_of):
    texts = {f"c{n:03}": "apple " * (n % 7 + 1) + f"n{n}" for n in range(80)}
    root = tiny(texts, {"q1": "apple"}, [("q1", "c000", 2)])
    index(collection_of(root))
    found = inspect_question(load(collection_of(root)), "sparse", "q1", 70)
    assert len(found.evidence) == MOST_SHOWN and len(found.score.ranking) == 70


def test_rank_answers_with_what_the_question_was_embedded_as(runbooks, collection_of):
    collection = collection_of(runbooks)
    corpus = collection.corpus()
    dense, sparse = (open_searcher(collection, name, corpus) for name in ("dense", "sparse"))
    answer = dense.rank("q", "What of retries?", 3)
    ranking, embedded = answer.ranking, answer.embedded
    assert len(ranking.hits) >= 3 and ranking.failure is None
    assert embedded.vectors.shape == (1, 384) and embedded.cut == (False,)
    answer = sparse.rank("q", "What of retries?", 3)
    ranking, embedded = answer.ranking, answer.embedded
    assert ranking.hits and embedded is None and ranking.embed_ms < 1
    assert dense.content != sparse.content == corpus.revision


def test_candidates_reach_as_deep_as_the_search(runbooks, collection_of):
    collection = collection_of(runbooks)
    searcher = open_searcher(collection, "hybrid", collection.corpus())
    assert [searcher.search(depth).candidates for depth in (5, 100, 305)] == [100, 100, 305]


@pytest.mark.parametrize("retain", ["true", "false"])
def test_texts_titles_and_sections_are_kept_only_where_the_settings_say_so(
    tiny, collection_of, retain
):
    """Every value of every table is looked at."""
    words = {"text": "quincunx", "name": "xylophone", "part": "zugzwang"}
    root = tiny(
        [{"id": "a", **words}], {"q1": "quincunx"}, [("q1", "a", 2)],
        fields=', title = "name", section = "part"',
    )  # fmt: skip
    path = root / "data/tiny/collection.toml"
    path.write_text(f"retain_text = {retain}\n{path.read_text()}")
    index(collection_of(root))
    evaluate(collection_of(root))
    kept = []
    with duckdb.connect(str(Workspace.at(root).store_path)) as connection:
        for (table,) in connection.execute("select table_name from duckdb_tables()").fetchall():
            if table not in ("execution_questions", "label_questions"):  # the question has the word
                kept.append(str(connection.execute(f'from "{table}"').fetchall()))
    found = {word for word in words.values() if word in "".join(kept)}
    assert found == (set(words.values()) if retain == "true" else set())

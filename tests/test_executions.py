"""Executions, rankings and scores in a real store."""

from dataclasses import replace

import duckdb
import pytest

from app.core.corpus import Corpus
from app.core.errors import StoreError
from app.core.model import ChunkKey, Hit, Ranking, ScoringSettings
from app.engines import executions, scores
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.loading import load
from app.workspace import Workspace

SCORING = ScoringSettings()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "desk.duckdb")


@pytest.fixture
def loaded(tiny, collection_of):
    return load(collection_of(tiny()))


def key(name):
    return ChunkKey(name, "as-is-v1", name)


RANKINGS = [
    Ranking("q1", (Hit(1, key("pear"), 0.75), Hit(2, key("apple"), 0.5)), None, 1.5, 2.5),
    Ranking("q2", failure="the server is gone"),
]


@pytest.fixture
def saved(store, loaded):
    """Saves an execution of the tiny collection and returns it."""

    def save(name="aaaa", *, retain_text=True, rankings=RANKINGS, corpus=loaded.corpus, **more):
        one = Execution(
            id=name, collection="tiny", configuration="sparse", fingerprint="f", status="complete",
            corpus_revision=loaded.corpus.revision, points=4, eligible=4, started="2026-01-01",
            finished="2026-01-02", provenance={"configuration": {"threshold": None}, "user": "é'"},
        )  # fmt: skip
        one = replace(one, **more)
        texts = {q.id: q.text for q in loaded.questions.values()}
        executions.save(store, one, rankings, texts, corpus, retain_text=retain_text)
        return one

    return save


def count(store, table):
    with duckdb.connect(str(store.path)) as connection:
        return connection.execute(f"select count(*) from {table}").fetchone()[0]


def test_an_execution_comes_back_as_it_was_saved(store, saved, loaded):
    one = saved()
    assert executions.listed(store) == [one]
    rankings, texts = executions.rankings(store, one)
    assert rankings == RANKINGS
    assert texts == {q.id: q.text for q in loaded.questions.values()}


def test_the_threshold_is_that_of_the_configuration(saved):
    assert saved().threshold is None
    provenance = {"configuration": {"threshold": 0}}
    assert saved("bbbb", provenance=provenance).threshold == 0.0


def test_newest_first_and_by_collection(store, saved):
    first, second = saved("aaaa"), saved("bbbb")
    assert executions.listed(store, "tiny") == [second, first]
    assert executions.listed(store, "other") == []


def test_a_fingerprint_finds_the_newest_complete_execution(store, saved):
    saved("aaaa")
    wanted = saved("bbbb")
    saved("cccc", status="incomplete")
    saved("dddd", fingerprint="g")
    assert executions.listed(store, fingerprint="f")[0] == wanted
    assert executions.listed(store, fingerprint="h") == []


def test_a_prefix_or_a_configuration_finds_executions(store, saved):
    saved("abcd"), saved("abxy"), saved("zzzz", configuration="ab")
    assert [one.id for one in executions.listed(store, name="ab")] == ["zzzz", "abxy", "abcd"]
    assert [one.id for one in executions.listed(store, name="abc")] == ["abcd"]
    assert executions.listed(store, name="%") == []


def test_a_corpus_revision_is_kept_once(store, saved):
    saved("aaaa"), saved("bbbb")
    tables = ("corpora", "corpus_chunks", "chunks", "texts", "questions", "executions", "hits")
    assert [count(store, table) for table in tables] == [1, 4, 4, 4, 2, 2, 4]


def test_texts_are_left_out_where_the_settings_say_so(store, saved):
    saved(retain_text=False)
    assert count(store, "texts") == 0 and count(store, "corpus_chunks") == 4


@pytest.mark.parametrize("kept", [True, False])
def test_titles_and_headings_are_texts_too(store, saved, loaded, kept):
    chunks = {k: replace(c, title="T", section="S") for k, c in loaded.corpus.chunks.items()}
    saved(retain_text=kept, corpus=Corpus(chunks, documents=1))
    with duckdb.connect(str(store.path)) as connection:
        found = connection.execute("select distinct title, section from corpus_chunks").fetchall()
    assert found == ([("T", "S")] if kept else [("", "")])


def test_an_execution_that_cannot_be_saved_whole_leaves_nothing(store, saved):
    bad = [Ranking("q1", (Hit(1, key("pear"), 0.5),), "no", float("nan"), None)]
    with pytest.raises((StoreError, TypeError, ValueError)):
        saved(rankings=[*bad, Ranking("q2", embed_ms=None)])
    assert executions.listed(store) == []
    assert count(store, "hits") == count(store, "corpora") == 0


def row(question, k, **more):
    values = dict.fromkeys(("precision", "recall", "rr", "ndcg", "hit", "judged"), 0.5)
    base = {"question": question, "k": k, "outcome": "scored", "reason": None, "relevant": 1}
    return {**base, "provisional": False, "bounds": "{}", **values, **more}


def save_scores(store, one, labels, settings, rows):
    scores.save(store, one, labels, settings, rows)


def scores_of(store, one, labels):
    return scores.stored(store, one, labels.revision, SCORING.as_json()["hash"])


def test_scores_belong_to_labels_and_settings(store, saved, loaded):
    one = saved()
    rows = [row("q1", 1, ndcg=1.0), row("q2", 1, ndcg=0.5)]
    save_scores(store, one, loaded.labels, SCORING, rows)
    found = scores_of(store, one, loaded.labels)
    assert [(r["question"], r["k"], r["ndcg"]) for r in found] == [("q1", 1, 1.0), ("q2", 1, 0.5)]
    assert scores.stored(store, one, loaded.labels.revision, "other") == []
    assert scores.stored(store, one, "other", SCORING.as_json()["hash"]) == []


def test_scores_are_saved_once(store, saved, loaded):
    one = saved()
    for value in (1.0, 0.0):
        rows = [row("q1", 1, ndcg=value), row("q2", 1)]
        save_scores(store, one, loaded.labels, SCORING, rows)
    assert [r["ndcg"] for r in scores_of(store, one, loaded.labels)] == [1.0, 0.5]
    assert count(store, "label_sets") == 1 and count(store, "label_pairs") == 3


def test_the_headline_is_a_mean_only_where_every_question_has_a_number(store, saved, loaded):
    one = saved()
    rows = [
        row("q1", 1, ndcg=1.0), row("q2", 1, ndcg=0.5),
        row("q1", 3, ndcg=None, provisional=True), row("q2", 3),
        row("q1", 5, outcome="failed", ndcg=None, recall=None), row("q2", 5),
        row("q1", 7, outcome="not applicable", ndcg=None, recall=None), row("q2", 7, ndcg=0.25),
    ]  # fmt: skip
    save_scores(store, one, loaded.labels, SCORING, rows)
    found = {r["k"]: (r["scored"], r["ndcg"]) for r in scores.headline(store, "tiny")["aaaa"]}
    assert found == {1: (2, 0.75), 3: (2, None), 5: (1, None), 7: (1, 0.25)}
    assert scores.headline(store, "other") == {}


@pytest.fixture
def scored(store, saved, loaded):
    """Scores an execution under labels of a revision; returns the headline of `aaaa` by K."""
    saved("aaaa"), saved("bbbb")
    of = {one.id: one for one in executions.listed(store)}
    labels = {name: replace(loaded.labels, corpus_revision=name) for name in ("L1", "L2")}
    names = {one.revision: name for name, one in labels.items()}

    def score(name, value, cutoffs=(1,), execution="aaaa"):
        settings = replace(SCORING, cutoffs=cutoffs)
        rows = [row(q, k, ndcg=value, recall=value) for k in cutoffs for q in ("q1", "q2")]
        save_scores(store, of[execution], labels[name], settings, rows)
        found = scores.headline(store, "tiny")
        assert found == scores.headline(store, None)
        return {r["k"]: (names[r["label_revision"]], r["ndcg"]) for r in found["aaaa"]}

    return score


def test_the_headline_follows_the_order_in_which_scorings_were_done(scored, store):
    assert scored("L1", 0.25) == {1: ("L1", 0.25)}
    assert scored("L2", 0.5) == {1: ("L2", 0.5)}
    # Back to scores that are stored already: they are kept, and they are the newest.
    assert scored("L1", 0.75) == {1: ("L1", 0.25)}
    assert scored("L2", 0.75, execution="bbbb") == {1: ("L1", 0.25)}
    assert count(store, "scorings_done") == 4 and count(store, "scores") == 6


def test_each_k_has_the_newest_scoring_that_has_this_k(scored):
    assert scored("L1", 0.25, (1, 3)) == {1: ("L1", 0.25), 3: ("L1", 0.25)}
    assert scored("L1", 0.5, (3, 5)) == {1: ("L1", 0.25), 3: ("L1", 0.5), 5: ("L1", 0.5)}
    assert scored("L2", 0.75, (5,)) == {1: ("L1", 0.25), 3: ("L1", 0.5), 5: ("L2", 0.75)}
    assert scored("L1", 0.0, (1, 3)) == {1: ("L1", 0.25), 3: ("L1", 0.25), 5: ("L2", 0.75)}


def test_a_scoring_done_twice_counts_every_question_once(scored, store):
    for _ in range(3):
        scored("L1", 0.5)
    (only,) = scores.headline(store, "tiny")["aaaa"]
    assert (only["scored"], only["ndcg"]) == (2, 0.5)


def test_no_text_is_stored_where_the_settings_say_so(runbooks, collection_of, edit):
    kept = b"orchestrator does not allow", b"linger until the machine runs out of ports"

    def stored():
        evaluate(collection_of(runbooks), ["sparse"])
        path = Workspace.at(runbooks).store_path
        with duckdb.connect(str(path)) as connection:
            connection.execute("checkpoint")
            rows = connection.execute("select text from texts").fetchall()
        return rows, [phrase in path.read_bytes() for phrase in kept]

    edit(
        runbooks / "data/runbooks/collection.toml", "format = 1", "format = 1\nretain_text = false"
    )
    assert stored() == ([], [False, False])
    edit(runbooks / "data/runbooks/collection.toml", "retain_text = false", "retain_text = true")
    assert len(stored()[0]) == 7

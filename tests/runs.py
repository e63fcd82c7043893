"""Runs to import, and what became of them."""

from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.evaluating import rescore
from app.flows.loading import load
from app.workspace import Workspace
from tests.exchanging import import_file

GOOD = """\
q1 Q0 pear 1 0.9 bm25
q1 Q0 apple 2 0.8 bm25
q2 Q0 plum 1 0.7 bm25
"""


def import_run(desk, root, text, *words, file="my.run"):
    """Imports a run given as text into the tiny workspace; the answer of the command."""
    return import_file(desk, root, "run", file, text, *words)


def newest(root):
    return executions.listed(Store.at(root / "data/desk.duckdb"))[0]


def rankings(root):
    """The newest execution: chunks with ranks by question, or why there are none."""
    found, _ = executions.rankings(Store.at(root / "data/desk.duckdb"), newest(root))
    return {
        one.question: one.failure or [(hit.rank, hit.key.chunk) for hit in one.hits]
        for one in found
    }


def order(root, question="q1"):
    return [chunk for _, chunk in rankings(root)[question]]


def scored(root, *cutoffs, execution=None):
    """The newest execution under the labels as they are: its evaluation."""
    loaded = load(Workspace.at(root).collection("tiny"))
    return rescore(loaded, execution or newest(root), cutoffs or (1, 3, 5))


def outcome(root, question, k):
    return next(q for q in scored(root, k).scored.questions if q.question == question)


def saved(root, rankings, worded, **more):
    """An execution with these rankings, kept in the store of a tiny workspace."""
    collection = Workspace.at(root).collection("tiny")
    corpus = collection.corpus()
    words = {
        "id": "abcdefghij", "collection": "tiny", "configuration": "sparse", "fingerprint": "f",
        "status": "complete", "corpus_revision": corpus.revision, "points": len(corpus.chunks),
        "eligible": len(corpus.eligible), "started": "2026-01-01", "finished": "2026-01-02",
        "provenance": {"configuration": {"mode": "sparse"}, "depth": 20},
    }  # fmt: skip
    execution = Execution(**{**words, **more})
    store = Store.at(root / "data/desk.duckdb")
    executions.save(store, execution, rankings, worded, corpus, retain_text=True)
    return execution

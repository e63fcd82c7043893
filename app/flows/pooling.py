"""The pairs of a collection that are to be judged, by class of work, blind to ranks and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from app.core.snapshot import read_complete_hashes
from app.engines.pool import deciding, pooled
from app.engines.store import Store
from app.flows.loading import Loaded
from app.settings import split_metric

#: Up to so many eligible chunks every pair is offered where nothing has been run yet.
FEW_CHUNKS = 200


class Work(IntEnum):
    """Why a pair is to be judged; the first class comes first."""

    DECIDING = 1
    WITHIN = 2
    DEEPER = 3
    STALE = 4
    AUDIT = 5

    @property
    def words(self) -> str:
        """Why this item, in words; to be shown after the grade only."""
        return {
            Work.DECIDING: "it can still decide a comparison somebody asked for",
            Work.WITHIN: "the newest executions returned it within K",
            Work.DEEPER: "it was returned further down, or has one judgment of two",
            Work.STALE: "its text or the question has changed since it was judged",
            Work.AUDIT: "it was drawn for an audit",
        }[self]


@dataclass(frozen=True)
class Pool:
    """Pairs by question, each with its class; hashes of texts that are settled by completeness.

    `from_runs` is whether executions filled it; without any, a small corpus is offered whole.
    """

    pairs: Mapping[str, Mapping[str, Work]]
    implicit: frozenset[str]
    from_runs: bool


def pool_of(loaded: Loaded) -> Pool:
    """The pool as executions and settings make it now. Raises StoreError.

    Every pair of a collection whose labels are complete; what was returned otherwise. A text whose
    chunks are several is one pair.
    """
    settings, corpus = loaded.collection.settings, loaded.corpus
    found: dict[str, dict[str, Work]] = {name: {} for name in loaded.questions}
    store_path = loaded.collection.workspace.store_path
    from_runs = False
    if store_path.exists():
        _, k = split_metric(settings.scoring.primary)
        depth = settings.queue.depth or max(settings.scoring.cutoffs)
        names = list(settings.configurations)
        store = Store.at(store_path)
        for question, key, within in pooled(store, loaded.collection.name, names, k, depth):
            chunk, from_runs = corpus.eligible.get(key), True
            if chunk is not None and question in found:
                work = Work.WITHIN if within else Work.DEEPER
                before = found[question].get(chunk.text_hash, work)
                found[question][chunk.text_hash] = min(before, work)
    complete = settings.labels.completeness == "complete"
    if complete or (not from_runs and len(corpus.eligible) <= FEW_CHUNKS):
        for pairs in found.values():
            for text in corpus.by_hash:
                pairs.setdefault(text, Work.DEEPER)
    scoring = settings.scoring_settings()
    hashes = read_complete_hashes(loaded.collection.labels_folder, scoring, corpus)
    return Pool(found, hashes or frozenset(), from_runs)


def deciding_pairs(loaded: Loaded, first: str, second: str) -> dict[str, frozenset[str]]:
    """Text hashes by question: where two executions, by id, differ within the primary metric's K.

    Those of them that are still to be judged can decide the comparison. Raises StoreError.
    """
    store_path = loaded.collection.workspace.store_path
    if not store_path.exists():
        return {}
    _, k = split_metric(loaded.collection.settings.scoring.primary)
    eligible = loaded.corpus.eligible
    found: dict[str, set[str]] = {}
    for question, key in deciding(Store.at(store_path), loaded.collection.name, first, second, k):
        if key in eligible and question in loaded.questions:
            found.setdefault(question, set()).add(eligible[key].text_hash)
    return {question: frozenset(texts) for question, texts in found.items()}


def trimmed(pool: Pool, loaded: Loaded) -> Pool:
    """A pool without what is no longer there, for as long as the store is not asked again."""
    texts = loaded.corpus.by_hash
    pairs = {
        name: {t: work for t, work in pool.pairs.get(name, {}).items() if t in texts}
        for name in loaded.questions
    }
    return Pool(pairs, pool.implicit, pool.from_runs)

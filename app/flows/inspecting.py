"""Retrieve: one question, one configuration, ranked evidence beside its scores."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.labels import Kind
from app.core.model import Chunk, Ranking
from app.flows.loading import Loaded
from app.flows.scored import Acceptance, GradedHit, QuestionScore
from app.flows.scoring import score_rankings
from app.flows.searching import Fill, fresh_engine, open_searcher

#: Ranks shown beyond K, so that what was just missed can be seen.
BEYOND = 5
#: At most this many ranks are shown, however large K is: a page of more is slow and unread.
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Evidence:
    """A hit with its chunk."""

    graded: GradedHit
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Inspection:
    """What one search returned and what it scores at K.

    `missed` are the relevant chunks that are not among the first K, each with where it went.
    `cut` is the number of hits below the score threshold.
    """

    kind: Kind
    ranking: Ranking
    evidence: tuple[Evidence, ...]
    score: QuestionScore
    acceptance: Acceptance | None
    missed: tuple[tuple[str, str], ...]
    cut: int


def inspect_question(
    loaded: Loaded, configuration: str, question: str, k: int, engine_for: Fill = fresh_engine
) -> Inspection:
    """Search for a question of the collection and score what comes back.

    Raises NotReady where the index does not fit, EmbedderError where the embedder is not to be
    had. A search that fails is an outcome, not an exception.
    """
    searcher = open_searcher(loaded.collection, configuration, loaded.corpus, engine_for)
    depth = max(searcher.configuration.depth, k + BEYOND)
    engine = searcher.engine  # filled before the clock of the search runs
    ranking = searcher.rank(question, loaded.questions[question].text, depth).ranking
    threshold = searcher.configuration.threshold
    hashes = {key: chunk.text_hash for key, chunk in loaded.corpus.eligible.items()}
    cutoffs, ties = sorted({k, depth}), not engine.ordered
    scored = score_rankings([ranking], loaded.labels, hashes, cutoffs, threshold, ties=ties)
    by_k = {score.k: score for score in scored.questions}
    deep = by_k[depth].ranking
    return Inspection(
        kind=loaded.labels.kinds[question],
        ranking=ranking,
        evidence=tuple(
            Evidence(graded, loaded.corpus.chunks[graded.hit.key])
            for graded in deep[: min(k + BEYOND, MOST_SHOWN)]
        ),
        score=by_k[k],
        acceptance=next((one for one in scored.unsupported if one.k == k), None),
        missed=tuple(_missed(loaded, ranking, question, k, threshold)),
        cut=sum(1 for hit in ranking.hits if threshold is not None and hit.score < threshold),
    )


def _missed(
    loaded: Loaded, ranking: Ranking, question: str, k: int, threshold: float | None
) -> list[tuple[str, str]]:
    hits = {hit.key: hit for hit in ranking.hits}
    # A program's own order need not be that of its scores: a threshold may cut anywhere in it.
    kept = [hit.key for hit in ranking.hits if threshold is None or hit.score >= threshold]
    places = {key: place for place, key in enumerate(kept, start=1)}
    found: list[tuple[int, str, str]] = []
    for key in loaded.labels.relevant(question):
        hit = hits.get(key)
        if hit is None:
            gone = key not in loaded.corpus.eligible
            short = f"not in the first {len(ranking.hits)}" if ranking.hits else "nothing came back"
            where = "no longer in the corpus" if gone else short
            found.append((len(ranking.hits) + 1, key.short(), where))
        elif key not in places:
            found.append((hit.rank, key.short(), f"rank {hit.rank}, below the threshold"))
        elif places[key] > k:
            found.append((hit.rank, key.short(), f"rank {places[key]}"))
    return [(name, where) for _, name, where in sorted(found)]

"""Retrieve: one question, one configuration, ranked evidence beside its scores."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.labels import Kind
from app.core.model import Chunk, Ranking
from app.flows.loading import Loaded
from app.flows.scoring import Acceptance, GradedHit, QuestionScore, score_rankings
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

    `missed` are the relevant chunks that are not among the first K, with their rank where the
    search returned them further down. `cut` is the number of hits below the score threshold.
    """

    kind: Kind
    ranking: Ranking
    evidence: tuple[Evidence, ...]
    score: QuestionScore
    acceptance: Acceptance | None
    missed: tuple[tuple[str, int | None], ...]
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
    ranking = searcher.rank(question, loaded.questions[question].text, depth)
    threshold = searcher.configuration.threshold
    hashes = {key: chunk.text_hash for key, chunk in loaded.corpus.eligible.items()}
    deep = score_rankings([ranking], loaded.labels, hashes, [depth], threshold).questions[0]
    scored = score_rankings([ranking], loaded.labels, hashes, [k], threshold)
    ranks = {graded.hit.key: graded.hit.rank for graded in deep.ranking}
    missed = [
        (key.short(), ranks.get(key))
        for key in loaded.labels.relevant(question)
        if ranks.get(key, k + 1) > k
    ]
    return Inspection(
        kind=loaded.labels.kinds[question],
        ranking=ranking,
        evidence=tuple(
            Evidence(graded, loaded.corpus.chunks[graded.hit.key])
            for graded in deep.ranking[: min(k + BEYOND, MOST_SHOWN)]
        ),
        score=scored.questions[0],
        acceptance=scored.unsupported[0] if scored.unsupported else None,
        missed=tuple(sorted(missed, key=lambda one: (one[1] is None, one[1] or 0))),
        cut=len(ranking.hits) - len(deep.ranking),
    )

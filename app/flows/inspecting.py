"""Retrieve: one question, one configuration, ranked evidence beside its scores."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.core.labels import Kind, Labels
from app.core.model import Chunk, ChunkKey, Hit, Ranking
from app.flows.lost import Lost, lost_evidence
from app.flows.one_search import OneSearch
from app.flows.scored import Acceptance, GradedHit, QuestionScore
from app.flows.scoring import graded_hits, score_rankings
from app.flows.searching import BEYOND

#: At most this many ranks are shown, however large K is: a page of more is slow and unread.
MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Evidence:
    """A hit with its chunk.

    `cut`: a threshold keeps it out, and its rank is that before the cut. `tied` are the first and
    last rank of the hits with its score, None where it has it alone.
    """

    graded: GradedHit
    chunk: Chunk
    cut: bool = False
    tied: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What one search returned and what it scores at K.

    `evidence` are the hits to be shown, those a threshold cuts among them where they stand.
    `ranking` is the uncut one, `kept` what the threshold leaves, `cut` how many hits it does not.
    `kind`, `score`, `acceptance` and `lost` speak of a question of the collection; they are None,
    or empty, for any other. `pair_grades` are the effective grades of all pairs of the question,
    hits or not. `score_ms` is the time to score, in milliseconds.
    """

    kind: Kind | None
    ranking: Ranking
    kept: tuple[GradedHit, ...]
    evidence: tuple[Evidence, ...]
    score: QuestionScore | None
    acceptance: Acceptance | None
    lost: tuple[Lost, ...]
    cut: int
    pair_grades: tuple[int, ...]
    score_ms: float

    @property
    def grades(self) -> list[int | None]:
        """The grades of the kept hits in rank order, None for an open one."""
        return [one.label.grade for one in self.kept]

    def open_within(self, k: int) -> list[GradedHit]:
        """The hits within K whose grade is not settled."""
        return [one for one in self.kept[:k] if not one.label.settled]


def inspect(search: OneSearch, k: int, *, whole: bool = False) -> Inspection:
    """Score what a search returned, and find out where relevant chunks went.

    `whole`: as many ranks are to be shown as were returned, not only a few beyond K.

    Where the engine cannot be asked any more, what it would have told is said to be unchecked.
    """
    began = time.perf_counter()
    view, ranking = search.view, search.ranking
    threshold = search.configuration.threshold
    hashes = view.corpus.text_hashes
    asked = search.question is not None
    # What is of no question of the collection has no labels, and is scored by nothing.
    labels = view.labels
    name = search.question or ""
    score = acceptance = None
    if asked:
        ties = not search.engine.ordered
        scored = score_rankings([ranking], labels, hashes, [k], threshold, ties=ties)
        (score,) = scored.questions
        acceptance = next(iter(scored.unsupported), None)
    kept = graded_hits(ranking, labels, hashes, threshold)
    took = round((time.perf_counter() - began) * 1000, 3)
    return Inspection(
        kind=labels.kinds[name] if asked else None,
        ranking=ranking,
        kept=kept,
        evidence=tuple(
            _shown(
                search, labels, hashes, kept, MOST_SHOWN if whole else min(k + BEYOND, MOST_SHOWN)
            )
        ),
        score=score,
        acceptance=acceptance,
        lost=lost_evidence(search, kept, k),
        cut=len(ranking.hits) - len(kept),
        pair_grades=tuple(
            one.grade
            for one in (labels.by_question[name].values() if asked else ())
            if one.grade is not None
        ),
        score_ms=took,
    )


def _shown(
    search: OneSearch,
    labels: Labels,
    hashes: Mapping[ChunkKey, str],
    kept: Sequence[GradedHit],
    most: int,
) -> Iterator[Evidence]:
    """The first kept hits, and among and behind them a few of those that a threshold cuts."""
    places, cut = {one.hit.key: one for one in kept}, BEYOND
    for one in graded_hits(search.ranking, labels, hashes, None):
        stays = places.get(one.hit.key)
        if stays is None:
            cut -= 1
            if cut < 0:
                continue
        elif stays.hit.rank > most:
            return
        yield Evidence(
            stays or one,
            search.view.corpus.chunks[one.hit.key],
            stays is None,
            None if search.engine.ordered else _tied(search.ranking.hits, one.hit.rank),
        )


def _tied(hits: Sequence[Hit], rank: int) -> tuple[int, int] | None:
    """The first and last rank of the hits that have the score of the one at a rank."""
    score, first, last = hits[rank - 1].score, rank, rank
    while first > 1 and hits[first - 2].score == score:
        first -= 1
    while last < len(hits) and hits[last].score == score:
        last += 1
    return (first, last) if last > first else None

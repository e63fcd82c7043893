"""The seam for retrieval: what is asked of an engine, and how its answers are ordered.

Scores are kept to 6 significant digits, beyond which float32 is noise, and hits are ordered by
score, then key: an engine's own order of equal scores is arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.corpus import Filter
from app.core.errors import EngineError
from app.core.model import ChunkKey, Hit

#: A search goes this many hits beyond the depth, so that ties there are seen.
BEYOND = 10
#: After this many questions in a row without an answer the rest is not asked.
ENOUGH = 5
USUAL_RRF_K = 60


@dataclass(frozen=True, slots=True)
class Search:
    """How to search: `depth` ranks are wanted, `filters` run inside the engine."""

    mode: Literal["dense", "sparse", "hybrid", "external"]
    depth: int
    filters: Filter
    rrf_k: int | None = None
    candidates: int = 100
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its text, and its vector where the search is dense."""

    text: str
    vector: NDArray[np.float32] | None = None


#: What a chunk is found by: its vector, or its words.
Side = Literal["dense", "sparse"]

#: The hits of one question, in order, or why there are none.
Outcome = list[Hit] | EngineError


class Engine(Protocol):
    """Searches over one filled collection, in several threads if `workers` says so."""

    @property
    def batch(self) -> int:
        """How many questions go into one call of `search_many`."""

    @property
    def workers(self) -> int:
        """How many calls may run at once."""

    @property
    def ordered(self) -> bool:
        """Whether the order of hits is the engine's own, whatever their scores are."""

    def description(self) -> Mapping[str, Any]:
        """What searched, with its version, for provenance."""

    def remarks(self) -> Mapping[str, Any]:
        """What was noticed in the answers so far; part of an execution's checks."""

    def interrupt(self) -> None:
        """End what is under way; the engine can be asked again."""

    def held(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, frozenset[Side]] | None:
        """The sides by which each chunk can be found, as the engine holds it now; a chunk it does
        not hold is left out. None where the engine cannot be asked that. Raises EngineError.
        """

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question, in their order: a failed one is no other's failure.

        The first `depth` hits, fewer where there are no more; those that equal the last one are
        returned too, for what is tied with it is not settled by rank.
        """


class Counted(Engine, Protocol):
    """An engine that can be asked how much it holds."""

    def count(self, filters: Filter | None = None) -> int:
        """The number of points, or of those that pass the filter. Raises EngineError."""


def search_one(
    engine: Engine, search: Search, text: str, vector: NDArray[np.float32] | None
) -> list[Hit]:
    """The hits of one question; raises EngineError."""
    (outcome,) = engine.search_many(search, [Asked(text, vector)])
    if isinstance(outcome, EngineError):
        raise outcome
    return outcome


def sides_of(dense: bool, sparse: bool) -> frozenset[Side]:
    """The sides by which a chunk with such vectors can be found; one of no words has none."""
    named: tuple[tuple[Side, bool], ...] = (("dense", dense), ("sparse", sparse))
    return frozenset(side for side, there in named if there)


def significant(score: float) -> float:
    """A score without the digits that are noise."""
    return float(f"{score:.6g}")


def settled(scored: list[tuple[float, ChunkKey]], depth: int, limit: int) -> list[Hit] | None:
    """Hits by score, then key; None where more than `limit` may equal the one at `depth`."""
    scored.sort(key=lambda one: (-one[0], one[1]))
    if len(scored) >= limit and scored[-1][0] == scored[depth - 1][0]:
        return None
    last = scored[:depth][-1][0] if scored else None
    return [
        Hit(rank, key, score)
        for rank, (score, key) in enumerate(scored, start=1)
        if rank <= depth or score == last
    ]


def side_depth(search: Search) -> int:
    """How deep one side is searched; in a hybrid search so far on each, for ranks are fused."""
    return search.candidates if search.mode == "hybrid" else search.depth


def one_side(
    scored: list[tuple[float, ChunkKey]],
    depth: int,
    deeper: Callable[[int], list[tuple[float, ChunkKey]]],
) -> list[Hit]:
    """The hits of one side in our order, from those of a search for `BEYOND` more than `depth`.

    `deeper` searches for more, as far as equal scores reach.
    """
    limit = depth + BEYOND
    while (hits := settled(scored, depth, limit)) is None:
        limit *= 2
        scored = deeper(limit)
    return hits


def of_sides(search: Search, sides: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The hits of a question, from those of each side it was searched on."""
    if search.mode == "hybrid":
        depth = side_depth(search)
        cut = [[hit for hit in hits if hit.rank <= depth] for hits in sides]
        return fused(cut, search.rrf_k or USUAL_RRF_K, search.depth)
    return list(sides[0]) if sides else []


def fused(sides: Sequence[Sequence[Hit]], k: int, depth: int) -> list[Hit]:
    """Reciprocal rank fusion, ranks counted from 0 as Qdrant does.

    Done here: the engine would rank equal scores of a side in its own order, which is another one
    after every filling, and so would be the fused scores.
    """
    scores: dict[ChunkKey, float] = {}
    for hits in sides:
        for hit in hits:
            scores[hit.key] = scores.get(hit.key, 0.0) + 1 / (k + hit.rank - 1)
    # Sums made here have no noise in their 12th digit; 6 would make ties of unequal ranks.
    scored = [(float(f"{score:.12g}"), key) for key, score in scores.items()]
    return settled(scored, depth, len(scored) + 1) or []


def prefix_differs(full: Sequence[Hit], prefix: Sequence[Hit], *, ordered: bool = False) -> bool:
    """Whether a search for K hits disagrees with the first K of a deeper one, ties aside.

    `ordered`: the order is the engine's own, and equal scores are no excuse for another one.
    """
    cut = full[: len(prefix)]
    if ordered:
        return [h.key for h in cut] != [h.key for h in prefix]
    if len(cut) != len(prefix) or [h.score for h in cut] != [h.score for h in prefix]:
        return True
    last = prefix[-1].score if prefix else None
    return {h.key for h in cut if h.score != last} != {h.key for h in prefix if h.score != last}


def overlap(found: Sequence[Hit], exact: Sequence[Hit], k: int) -> float | None:
    """Share of the exact first K that an approximate search found; None where there is none."""
    wanted = {hit.key for hit in exact[:k]}
    return len(wanted & {hit.key for hit in found[:k]}) / len(wanted) if wanted else None

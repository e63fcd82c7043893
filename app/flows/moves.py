"""How the hits of one ranking stand in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.model import ChunkKey
from app.flows.scored import GradedHit


@dataclass(frozen=True, slots=True)
class Move:
    """Where a hit stands in another ranking: `there` is its rank, None where it is not returned.

    `kind` is the direction from there to here: higher is a smaller rank.
    """

    kind: Literal["higher", "lower", "same", "only here"]
    there: int | None
    words: str


def moves(here: Sequence[GradedHit], there: Sequence[GradedHit], name: str) -> dict[ChunkKey, Move]:
    """The move of every hit against the ranking `there`, which is called `name`."""
    ranks: Mapping[ChunkKey, int] = {one.hit.key: one.hit.rank for one in there}
    found: dict[ChunkKey, Move] = {}
    for one in here:
        rank, before = one.hit.rank, ranks.get(one.hit.key)
        if before is None:
            found[one.hit.key] = Move("only here", None, f"not returned by {name}")
        elif before == rank:
            found[one.hit.key] = Move("same", before, f"same rank in {name}")
        else:
            kind: Literal["higher", "lower"] = "higher" if rank < before else "lower"
            words = f"{abs(rank - before)} {kind} than in {name} (rank {before})"
            found[one.hit.key] = Move(kind, before, words)
    return found

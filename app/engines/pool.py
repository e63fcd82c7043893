"""What executions returned, told to those who judge: pairs, and nothing that could sway them."""

from __future__ import annotations

from collections.abc import Iterable

from app.core.model import ChunkKey
from app.engines.store import Store


def pooled(
    store: Store, collection: str, configurations: Iterable[str], k: int, depth: int
) -> list[tuple[str, ChunkKey, bool]]:
    """Question, chunk, and whether it is among the first `k` of any newest execution.

    The newest execution of each of the configurations, and of each imported run, down to `depth`.
    """
    here = {
        "collection": collection,
        "configurations": list(configurations),
        "k": k,
        "depth": depth,
    }
    with store.work() as unit:
        rows = unit.rows("pool_pairs", here)
    return [
        (r["question"], ChunkKey(r["document"], r["version"], r["chunk"]), r["within"])
        for r in rows
    ]


def deciding(
    store: Store, collection: str, first: str, second: str, k: int
) -> list[tuple[str, ChunkKey]]:
    """Question and chunk of the hits within `k` that two executions, by id, do not share alike.

    What both returned at one rank counts for both, whatever its grade. Unknown executions: none.
    """
    here = {"collection": collection, "first": first, "second": second, "k": k}
    with store.work() as unit:
        rows = unit.rows("pool_deciding", here)
    return [(r["question"], ChunkKey(r["document"], r["version"], r["chunk"])) for r in rows]

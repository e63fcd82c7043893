"""One shard of Qdrant's engine in this process: its failures in our words, its files removed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Modifier,
)

from app.core.errors import EngineError
from app.engines.edge_folder import Folder
from app.engines.points import DENSE, SPARSE

T = TypeVar("T")
#: Kilobytes of vectors from which the engine would build an approximate index; never reached. What
#: is measured in this process is the embedder and the texts, so every search here is exact.
_NEVER = 10**9


class Shard:
    """An empty shard, for one process, in several threads; gone with the object."""

    def __init__(self, dimension: int | None) -> None:
        """Make it; `dimension` None is for chunks without vectors. Raises EngineError."""
        self._folder = Folder.take()
        try:
            self._shard = self._made(dimension)
        except BaseException:
            self._folder.release()
            raise
        self._end = weakref.finalize(self, _end, self._shard, self._folder)

    def _made(self, dimension: int | None) -> EdgeShard:
        vectors = (
            {DENSE: EdgeVectorParams(size=dimension, distance=Distance.Cosine)}
            if dimension
            else None
        )
        config = EdgeConfig(
            vectors=vectors,
            sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
            # Nothing is read again after this process, so nothing need be written twice.
            wal_enabled=False,
            optimizers=EdgeOptimizersConfig(indexing_threshold=_NEVER),
        )
        return _told("starting", lambda: EdgeShard.create(str(self._folder.path), config))

    def call(self, doing: str, request: Callable[[EdgeShard], T]) -> T:
        """The answer; raises EngineError."""
        return _told(doing, lambda: request(self._shard))

    def write(self, doing: str, request: Callable[[EdgeShard], T]) -> T:
        """The same for what needs room on the disk."""
        self._folder.require_room()
        return self.call(doing, request)

    def close(self) -> None:
        """Remove it now; what is asked of it afterwards fails."""
        self._end()


def _told(doing: str, request: Callable[[], T]) -> T:
    try:
        return request()
    except EngineError:
        raise
    except Exception as error:  # the engine raises nothing more specific
        words = " ".join(str(error).split())[:300]
        raise EngineError(
            f"Qdrant failed in this process while {doing}: {words}",
            remedy="Start it again; where it fails again, keep the log and report it",
        ) from error


def _end(shard: EdgeShard, folder: Folder) -> None:
    if not folder.mine:
        return  # closing it here would write into the files of the process that has it
    with suppress(Exception):  # its files go whether or not it can be closed
        shard.close()
    folder.release()

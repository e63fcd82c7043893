"""Qdrant: fill a collection, count it, search it.

Sparse vectors are BM25 vectors with Qdrant's IDF modifier; its IDF counts ineligible chunks too.
Scores are kept to 6 significant digits, beyond which float32 is noise, and hits are ordered by
score, then key: the engine's own order of equal scores is arbitrary.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_edge import Bm25

from app.core.corpus import Filter
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey, Hit

_NAMESPACE = uuid.UUID("6f1d6a55-5b6c-4a7e-9a52-6f0f3f1f7f10")
_BATCH = 256
_BEYOND = 10
_DENSE, _SPARSE = "dense", "bm25"


@dataclass(frozen=True, slots=True)
class Search:
    """How to search: `depth` ranks are wanted, `filters` run inside the engine."""

    mode: Literal["dense", "sparse", "hybrid"]
    depth: int
    filters: Filter
    rrf_k: int | None = None
    candidates: int = 100
    exact: bool = False


def point_id(key: ChunkKey) -> str:
    """The id of a chunk's point: a UUID of version 5 over its key."""
    return str(uuid.uuid5(_NAMESPACE, str(key)))


def payload_name(field: str) -> str:
    """The payload key of a field. Qdrant reads dots, brackets and blanks as a path."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", field):
        return field
    return f"field-{hashlib.sha256(field.encode()).hexdigest()[:16]}"


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    """Foreign errors become ours: local mode raises others than a server."""
    try:
        yield
    except UnexpectedResponse as error:
        raise EngineError(
            f"Qdrant refused while {doing}: {error.reason_phrase} (status {error.status_code})",
            remedy="See the server's log; run desk index again if its collection is gone",
        ) from error
    except ResponseHandlingException as error:
        raise EngineError(
            f"Qdrant did not answer while {doing}: {error.source}",
            remedy="Check that the server runs and can be reached",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(
            f"Qdrant failed while {doing}: {error}", remedy="Run desk index again"
        ) from error


class QdrantEngine:
    """One filled collection. Searches may run in several threads once it is filled."""

    def __init__(self, client: QdrantClient | None = None, name: str = "chunks") -> None:
        """Without a client, an embedded engine in this process's memory."""
        self._client = client or QdrantClient(":memory:")
        self._name = name
        self._keys: dict[str, ChunkKey] = {}
        self._bm25 = Bm25()
        self._lock = Lock()

    @staticmethod
    def description() -> dict[str, str]:
        """Engine and versions, for provenance."""
        return {
            "engine": "qdrant-client, in memory",
            "qdrant-client": version("qdrant-client"),
            "bm25": f"qdrant-edge-py {version('qdrant-edge-py')}, k 1.2, b 0.75, avg_len 256",
        }

    def fill(
        self, chunks: Sequence[Chunk], vectors: NDArray[np.float32] | None, dimension: int | None
    ) -> None:
        """Make the collection anew with all chunks, eligible or not; `vectors` in their order."""
        dense = (
            {_DENSE: models.VectorParams(size=dimension or 1, distance=models.Distance.COSINE)}
            if vectors is not None
            else {}
        )
        sparse = {_SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)}
        with self._lock, _translated("filling the collection"):
            if self._client.collection_exists(self._name):
                self._client.delete_collection(self._name)
            self._client.create_collection(
                self._name, vectors_config=dense, sparse_vectors_config=sparse
            )
            for start in range(0, len(chunks), _BATCH):
                batch = range(start, min(start + _BATCH, len(chunks)))
                self._client.upsert(
                    self._name,
                    [
                        self._point(chunks[i], None if vectors is None else vectors[i])
                        for i in batch
                    ],
                    wait=True,
                )
            self._keys = {point_id(chunk.key): chunk.key for chunk in chunks}

    def _point(self, chunk: Chunk, vector: NDArray[np.float32] | None) -> models.PointStruct:
        vectors: dict[str, Any] = {_SPARSE: _sparse(self._bm25.embed_document(chunk.text))}
        if vector is not None:
            vectors[_DENSE] = vector.tolist()
        return models.PointStruct(
            id=point_id(chunk.key),
            vector=vectors,
            payload={payload_name(name): value for name, value in chunk.fields.items()},
        )

    def count(self, filters: Filter | None = None) -> int:
        """The number of points, or of those that pass the filter, as the engine counts them."""
        with _translated("counting points"):
            return self._client.count(
                self._name, count_filter=_filter(filters or {}), exact=True
            ).count

    def search(self, search: Search, text: str, vector: NDArray[np.float32] | None) -> list[Hit]:
        """The first `depth` hits by score, then key; fewer where the engine has no more.

        Goes as far beyond the depth as equal scores reach, so that their order is ours; hits that
        equal the last one are returned too, for what is tied with it is not settled by rank.
        """
        limit = search.depth + _BEYOND
        while True:
            with _translated("searching"):
                points = self._query(search, limit, text, vector)
            scored = [(_significant(point.score), self._key(point.id)) for point in points]
            scored.sort(key=lambda one: (-one[0], one[1]))
            if len(scored) < limit or scored[-1][0] != scored[search.depth - 1][0]:
                break
            limit *= 2
        last = scored[: search.depth][-1][0] if scored else None
        return [
            Hit(rank, key, score)
            for rank, (score, key) in enumerate(scored, start=1)
            if rank <= search.depth or score == last
        ]

    def _key(self, identity: Any) -> ChunkKey:
        key = self._keys.get(str(identity))
        if key is None:
            raise EngineError(
                f"Qdrant returned the point {identity}, which is not in this corpus",
                remedy="Run desk index again",
            )
        return key

    def _query(
        self, search: Search, limit: int, text: str, vector: NDArray[np.float32] | None
    ) -> list[models.ScoredPoint]:
        filters = _filter(search.filters)
        parameters = models.SearchParams(exact=search.exact)
        dense = None if vector is None else vector.tolist()
        sparse = None if search.mode == "dense" else _sparse(self._bm25.embed_query(text))
        if sparse is not None and not sparse.indices:
            sparse = None  # nothing but stop words: no lexical hit
        common: dict[str, Any] = {"limit": limit, "with_payload": False}
        if search.mode == "hybrid":
            sides = [(dense, _DENSE), (sparse, _SPARSE)]
            common["query"] = models.RrfQuery(rrf=models.Rrf(k=search.rrf_k))
            common["prefetch"] = [
                models.Prefetch(
                    query=query,
                    using=using,
                    filter=filters,
                    limit=search.candidates,
                    params=parameters,
                )
                for query, using in sides
                if query is not None
            ]
        elif search.mode == "sparse":
            if sparse is None:
                return []
            common |= {"query": sparse, "using": _SPARSE, "query_filter": filters}
        else:
            common |= {"query": dense, "using": _DENSE, "query_filter": filters}
            common["search_params"] = parameters
        points: list[models.ScoredPoint] = self._client.query_points(self._name, **common).points
        return points


def _significant(score: float) -> float:
    return float(f"{score:.6g}")


def _sparse(encoded: Any) -> models.SparseVector:
    return models.SparseVector(indices=list(encoded.indices), values=list(encoded.values))


def _filter(filters: Filter) -> models.Filter | None:
    """Every field must hold one of its allowed values."""
    if not filters:
        return None
    return models.Filter(
        must=[
            models.Filter(
                should=[
                    models.FieldCondition(
                        key=payload_name(name), match=models.MatchValue(value=value)
                    )
                    for value in allowed
                ]
            )
            for name, allowed in filters.items()
        ]
    )


def prefix_differs(full: Sequence[Hit], prefix: Sequence[Hit]) -> bool:
    """Whether a search for K hits disagrees with the first K of a deeper one, ties aside."""
    cut = full[: len(prefix)]
    if len(cut) != len(prefix) or [h.score for h in cut] != [h.score for h in prefix]:
        return True
    last = prefix[-1].score if prefix else None
    return {h.key for h in cut if h.score != last} != {h.key for h in prefix if h.score != last}


def overlap(found: Sequence[Hit], exact: Sequence[Hit], k: int) -> float | None:
    """Share of the exact first K that an approximate search found; None where there is none."""
    wanted = {hit.key for hit in exact[:k]}
    return len(wanted & {hit.key for hit in found[:k]}) / len(wanted) if wanted else None

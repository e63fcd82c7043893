"""What is sent to Qdrant: ids, filters, queries."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from qdrant_client import models
from qdrant_edge import Bm25

from app.core.corpus import Filter
from app.core.model import ChunkKey
from app.engines.points import DENSE, SPARSE, encoder, payload_name
from app.engines.retrieval import Asked, Search

_NAMESPACE = uuid.UUID("6f1d6a55-5b6c-4a7e-9a52-6f0f3f1f7f10")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a collection keeps what is searched.

    `dense` and `sparse` name its vectors; an empty name is the unnamed one. `literal`: fields are
    payload names as they are, nested ones with dots. `distance`: lower scores are better.
    `payload`: the payload name that comes with every hit.
    """

    dense: str = DENSE
    sparse: str = SPARSE
    literal: bool = False
    distance: bool = False
    payload: str = ""

    def field(self, name: str) -> str:
        """The payload name of an eligibility field."""
        return name if self.literal else payload_name(name)


OWN = Layout()


def versions() -> dict[str, str]:
    """Versions that decide what is searched for."""
    return {
        "qdrant-client": version("qdrant-client"),
        "bm25": encoder(),
    }


def point_id(key: ChunkKey) -> str:
    """The id of a chunk's point: a UUID of version 5 over its key."""
    return str(uuid.uuid5(_NAMESPACE, str(key)))


def sparse_vector(encoded: Any) -> models.SparseVector:
    """An encoded text as Qdrant takes it."""
    return models.SparseVector(indices=list(encoded.indices), values=list(encoded.values))


def filter_of(filters: Filter, layout: Layout = OWN) -> models.Filter | None:
    """Every field must hold one of its allowed values."""
    if not filters:
        return None

    def holds(name: str, value: str | int | float | bool) -> models.FieldCondition:
        match = models.MatchValue(value=value)
        return models.FieldCondition(key=layout.field(name), match=match)

    return models.Filter(
        must=[
            holds(name, allowed[0])  # nested filters take local mode twice as long
            if len(allowed) == 1
            else models.Filter(should=[holds(name, value) for value in allowed])
            for name, allowed in filters.items()
        ]
    )


def requests_of(
    search: Search, limit: int, asked: Asked, bm25: Bm25, layout: Layout
) -> list[models.QueryRequest]:
    """The queries of one question: one, two where both sides are to be fused.

    None of a side where nothing can match: lexically, of stop words alone.
    """
    common: dict[str, Any] = {
        "limit": limit,
        "filter": filter_of(search.filters, layout),
        "with_payload": [layout.payload] if layout.payload else False,
    }
    found = []
    if search.mode != "sparse" and asked.vector is not None:
        found.append(
            models.QueryRequest(
                query=asked.vector.tolist(),
                using=layout.dense or None,
                params=models.SearchParams(exact=search.exact),
                **common,
            )
        )
    if search.mode != "dense":
        sparse = sparse_vector(bm25.embed_query(asked.text))
        if sparse.indices:
            found.append(models.QueryRequest(query=sparse, using=layout.sparse, **common))
    return found

"""Reading a Qdrant collection that others have filled. Nothing is written to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models
from qdrant_edge import Bm25

from app.core.payload import outermost
from app.engines.qdrant_calls import Connection

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Shape:
    """The vectors of a collection by name, the unnamed one by an empty name.

    `dense` has dimension and distance; `several` are those with many vectors a point, which cannot
    be searched here.
    """

    dense: Mapping[str, tuple[int, str]]
    sparse: Sequence[str]
    several: Sequence[str]


def shape_of(connection: Connection, name: str) -> Shape:
    """What vectors a collection has; raises EngineError."""
    info = connection.call(
        "looking at the collection", lambda: connection.client.get_collection(name)
    )
    found = info.config.params.vectors or {}
    every = found if isinstance(found, dict) else {"": found}
    several = [one for one, vector in every.items() if vector.multivector_config is not None]
    return Shape(
        {
            one: (vector.size, vector.distance.value)
            for one, vector in every.items()
            if one not in several
        },
        sorted(info.config.params.sparse_vectors or {}),
        several,
    )


def pages(
    connection: Connection, name: str, fields: Sequence[str]
) -> Iterator[list[tuple[str | int, Mapping[str, Any]]]]:
    """Every point with those payload fields, in the order of ids, some at a time."""
    wanted: list[str] = sorted({outermost(field) for field in fields})
    offset: Any = None
    while True:
        page = partial(
            connection.client.scroll,
            name,
            limit=_PAGE,
            offset=offset,
            with_payload=wanted,
            with_vectors=False,
        )
        records, offset = connection.call("reading points", page)
        yield [(_id(record.id), record.payload or {}) for record in records]
        if offset is None:
            return


def _id(value: Any) -> str | int:
    return value if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class Stored:
    """The vectors of one point, as asked for; None where it has none."""

    dense: NDArray[np.float32] | None
    sparse: Mapping[int, float] | None


def stored(
    connection: Connection, name: str, ids: Sequence[str | int], dense: str | None, sparse: str
) -> dict[str | int, Stored]:
    """The vectors of some points. `dense` None asks for none, an empty name for the unnamed one."""
    names = [one for one in (dense, sparse) if one]
    records = connection.call(
        "reading vectors",
        lambda: connection.client.retrieve(
            name, list(ids), with_payload=False, with_vectors=True if dense == "" else names
        ),
    )
    found = {}
    for record in records:
        vectors = record.vector if record.vector is not None else {}
        every: Mapping[str, Any] = vectors if isinstance(vectors, dict) else {"": vectors}
        plain = every.get(dense) if dense is not None else None
        lexical = every.get(sparse) if sparse else None
        found[_id(record.id)] = Stored(
            None if plain is None else np.asarray(plain, np.float32),
            dict(zip(lexical.indices, lexical.values, strict=True))
            if isinstance(lexical, models.SparseVector)
            else None,
        )
    return found


def lexical(text: str) -> dict[int, float]:
    """The sparse vector our encoder makes of a document: token -> weight."""
    encoded = Bm25().embed_document(text)
    return dict(zip(encoded.indices, encoded.values, strict=True))

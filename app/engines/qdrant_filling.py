"""Filling a Qdrant collection with chunks: whole, or what an earlier attempt left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_edge import Bm25

from app.core.corpus import Filter
from app.core.errors import EngineError
from app.core.model import Chunk
from app.engines.points import DENSE, SPARSE, Counting, VectorsOf, payload_name, uncounted
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_requests import point_id, sparse_vector

_BATCH = 128
_PAGE = 5_000
#: Version of what is put into a collection; another one is another collection.
VERSION = 1


def fill(
    connection: Connection,
    name: str,
    chunks: Sequence[Chunk],
    vectors_of: VectorsOf | None,
    dimension: int | None,
    filters: Filter,
    progress: Counting = uncounted,
) -> int:
    """Put all chunks into the collection, eligible or not, and make it where it is not there.

    Returns how many were put in: those that are there are left, so that a filling that broke off
    goes on. Raises EngineError; what was put in until then stays.
    """
    known = _begun(connection, name, dimension if vectors_of else None)
    wanted = [chunk for chunk in chunks if point_id(chunk.key) not in known]
    if wanted and connection.server is not None:
        # Not only where it was made just now: an earlier filling may have broken off before this.
        _make_indexes(connection, name, filters)
    bm25 = Bm25()

    def put(batch: Sequence[Chunk]) -> int:
        vectors = None if vectors_of is None else vectors_of(batch)
        points = [
            _point(chunk, None if vectors is None else vectors[i], bm25)
            for i, chunk in enumerate(batch)
        ]
        connection.call(
            "filling the collection",
            lambda: connection.client.upsert(name, points, wait=True),
        )
        return len(batch)

    batches = [wanted[start : start + _BATCH] for start in range(0, len(wanted), _BATCH)]
    done = 0
    for number in _in_parallel(connection, put, batches):
        done += number
        progress(done, len(wanted))
    return done


def _in_parallel(
    connection: Connection,
    put: Callable[[Sequence[Chunk]], int],
    batches: Sequence[Sequence[Chunk]],
) -> Iterator[int]:
    """Some batches at a time, so that no more than those are held as points."""
    workers = connection.server.concurrency if connection.server else 1
    if workers == 1:  # local mode cannot take two at once
        yield from map(put, batches)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            for start in range(0, len(batches), 2 * workers):
                yield from pool.map(put, batches[start : start + 2 * workers])
        except BaseException:
            # One has failed, or it was stopped: those beside it are not tried again.
            connection.interrupt()
            raise


def _begun(connection: Connection, name: str, dimension: int | None) -> frozenset[str]:
    """The point ids a collection has; makes it where it is not there."""
    client, doing = connection.client, "filling the collection"
    if connection.call(doing, lambda: client.collection_exists(name)):
        return _ids(connection, name)
    vectors: Mapping[str, Any] = (
        {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)}
        if dimension
        else {}
    )
    sparse = {SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)}
    try:
        connection.call(
            doing,
            lambda: client.create_collection(
                name, vectors_config=vectors, sparse_vectors_config=sparse
            ),
        )
    except EngineError as error:
        # A second process, or an answer that was lost: it is there, which is all that is wanted.
        cause = error.__cause__
        if not isinstance(cause, UnexpectedResponse) or cause.status_code != 409:
            raise
        return _ids(connection, name)
    return frozenset()


def _make_indexes(connection: Connection, name: str, filters: Filter) -> None:
    """Indexes for the filter's fields; one that is there already does no harm."""
    for field, allowed in filters.items():
        schemas = {_schema(value) for value in allowed}
        if len(schemas) == 1:
            make = partial(
                connection.client.create_payload_index,
                name,
                payload_name(field),
                schemas.pop(),
                wait=True,
            )
            connection.call("filling the collection", make)


def _schema(value: object) -> models.PayloadSchemaType:
    if isinstance(value, bool):
        return models.PayloadSchemaType.BOOL
    return (
        models.PayloadSchemaType.INTEGER
        if isinstance(value, int)
        else (models.PayloadSchemaType.KEYWORD)
    )


def _ids(connection: Connection, name: str) -> frozenset[str]:
    found: set[str] = set()
    offset: Any = None
    while True:
        page = partial(
            connection.client.scroll, name, limit=_PAGE, offset=offset, with_payload=False
        )
        records, offset = connection.call("listing points", page)
        found.update(str(record.id) for record in records)
        if offset is None:
            return frozenset(found)


def _point(chunk: Chunk, vector: NDArray[np.float32] | None, bm25: Bm25) -> models.PointStruct:
    vectors: dict[str, Any] = {SPARSE: sparse_vector(bm25.embed_document(chunk.text))}
    if vector is not None:
        vectors[DENSE] = vector.tolist()
    return models.PointStruct(
        id=point_id(chunk.key),
        vector=vectors,
        payload={payload_name(name): value for name, value in chunk.fields.items()},
    )


def collection_name(collection: str, revision: str, identity: str) -> str:
    """The name of our collection on a server: one per corpus revision and what was embedded."""
    return f"desk-{collection}-{revision[:12]}-{identity[:12]}"


def collections_of(connection: Connection, collection: str) -> list[str]:
    """Names of all our collections on a server that were made for a collection here."""
    shape = re.compile(rf"desk-{re.escape(collection)}-[0-9a-f]{{12}}-[0-9a-f]{{12}}")
    found = connection.call("listing collections", connection.client.get_collections).collections
    return sorted(one.name for one in found if shape.fullmatch(one.name))


def drop(connection: Connection, name: str) -> None:
    """Remove a collection of ours from a server; one that is gone is no fault."""
    connection.call("removing a collection", lambda: connection.client.delete_collection(name))

"""What a collection's settings name on a Qdrant server: our own collection there, or a foreign one.

Imported where a server is to be asked: its client takes half a second to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.corpus import Corpus
from app.core.errors import EngineError, InvalidInput, NotReady, Problem
from app.core.model import ChunkKey
from app.core.payload import outermost, values_at
from app.core.text import digest as digest_of
from app.core.text import fault_in_text, text_hash
from app.engines import qdrant_filling
from app.engines.qdrant import QdrantEngine, kind
from app.engines.qdrant_calls import Connection, Server
from app.engines.qdrant_requests import Layout, point_id, versions
from app.engines.qdrant_source import shape_of
from app.settings import CollectionSettings, Configuration
from app.workspace import Collection

#: Distances of Qdrant whose lower values are better.
_DISTANCES = frozenset({"Euclid", "Manhattan"})


def server_of(settings: CollectionSettings) -> Server | None:
    """The server a collection's settings name; None where it is searched in this process."""
    if settings.qdrant_url is None:
        return None
    qdrant = settings.qdrant
    return Server(
        settings.qdrant_url,
        qdrant.api_key_env,
        qdrant.timeout,
        qdrant.retries,
        qdrant.batch,
        qdrant.concurrency,
    )


def connection_of(collection: Collection) -> Connection:
    """A connection to the server the settings name, not asked anything yet.

    Raises InvalidInput where they name none, EngineError for a key that cannot be sent.
    """
    server = server_of(collection.settings)
    if server is None:
        raise InvalidInput(
            f"{collection.name} has no qdrant_url, so nothing of it is on a server",
            place=f"data/{collection.name}/collection.toml",
            remedy="Add qdrant_url",
        )
    missing = f"Index it: desk index {collection.name}"
    if collection.settings.foreign:
        missing = (
            f"Correct source.collection in collection.toml, or run desk sync {collection.name}"
        )
    return Connection.to(server, missing)


def own_name(collection: Collection, corpus: Corpus, digest: str | None, content: str) -> str:
    """What we call a collection on a server: one per corpus revision and what was embedded."""
    identity = digest_of([digest, content, qdrant_filling.VERSION, versions()["bm25"]])
    return qdrant_filling.collection_name(collection.name, corpus.revision, identity)


def kind_there(collection: Collection, configuration: Configuration) -> dict[str, Any]:
    """What kind of engine a server is; of a foreign collection also what is searched in it."""
    found: dict[str, Any] = kind(True)
    if collection.settings.foreign:
        sync, source = collection.sync(), collection.settings.source
        found |= {"server": sync.host, "collection": sync.collection}
        if configuration.mode != "sparse":
            shape = sync.dense.get(source.vector or "")
            found |= {"vector": source.vector or "", "distance": shape and shape.distance}
        if configuration.mode != "dense":
            found["sparse_vector"] = source.sparse_vector
    return found


def own_engine(connection: Connection, corpus: Corpus, name: str) -> QdrantEngine:
    """Our own collection there, not asked anything yet."""
    return QdrantEngine(connection, name, {point_id(key): key for key in corpus.chunks})


def foreign_engine(
    collection: Collection, configuration: Configuration, corpus: Corpus, dimension: int | None
) -> QdrantEngine:
    """A collection of others. `dimension` is that of the embedder's vectors.

    Raises InvalidInput where it lacks what is to be searched, NotReady where it is not what was
    synced, EngineError where it does not answer or has vectors of another dimension.
    """
    connection = connection_of(collection)
    sync, source = collection.sync(), collection.settings.source
    dense, distance = source.vector or "", ""
    if configuration.mode in ("dense", "hybrid"):
        shape = sync.dense.get(dense)
        if shape is None:
            missing = lacking(collection, "vector", source.vector, list(sync.dense))
            raise InvalidInput.of([missing])
        distance = shape.distance
        if dimension not in (None, shape.size):
            name = str(configuration.embedder_name)
            other = other_dimension(collection, shape.size, name, dimension or 0)
            raise EngineError(other.message, place=other.place, remedy=other.remedy)
    if configuration.mode in ("sparse", "hybrid") and source.sparse_vector not in sync.sparse:
        missing = lacking(collection, "sparse_vector", source.sparse_vector, sync.sparse)
        raise InvalidInput.of([missing])
    text = source.fields["text"]
    layout = Layout(
        dense, source.sparse_vector or "", True, distance in _DISTANCES, outermost(text)
    )
    keys = {c.point: key for key, c in corpus.chunks.items() if c.point is not None}

    def stale(key: ChunkKey, payload: Mapping[str, Any]) -> bool:
        found = next(iter(values_at(payload, text)), None)
        same = isinstance(found, str) and not fault_in_text(found)
        return not (same and text_hash(str(found)) == corpus.chunks[key].text_hash)

    engine = QdrantEngine(connection, str(source.collection), keys, layout, stale)
    remedy = f"Sync it again: desk sync {collection.name}"
    there = shape_of(connection, str(source.collection))
    if not sync.has(there.dense, there.sparse):
        message = f"{source.collection} has other vectors than when it was synced"
        raise NotReady(message, remedy=remedy)
    found = engine.count(), engine.count(collection.settings.filters)
    wanted = sync.points, len(corpus.eligible)
    if found != wanted:
        raise NotReady(
            f"{source.collection} has changed since it was synced: {found[0]:,} points, "
            f"{found[1]:,} of them eligible, now; {wanted[0]:,} and {wanted[1]:,} then",
            remedy=remedy,
        )
    return engine


def other_dimension(collection: Collection, stored: int, name: str, made: int) -> Problem:
    """Vectors of another length than those an embedder makes."""
    what = collection.settings.source.collection or collection.name
    return Problem(
        f"the vectors of {what} have {stored} dimensions, those of {name} {made}",
        place=f"data/{collection.name}/collection.toml",
        remedy="Name the embedder they were made with, or another source.vector",
    )


def lacking(collection: Collection, what: str, name: str | None, there: Sequence[str]) -> Problem:
    """A vector the settings name and a foreign collection lacks; `there` are those it has."""
    known = ", ".join(one or "an unnamed one" for one in there) or "none"
    wanted = f"named {name}" if name else "without a name"
    return Problem(
        f"{collection.settings.source.collection} has no {what.replace('_', ' ')} {wanted}; it "
        f"has {known}",
        place=f"data/{collection.name}/collection.toml",
        remedy=f"Correct source.{what}",
    )

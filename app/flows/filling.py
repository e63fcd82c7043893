"""The engine of a configuration: filled here, on a server, a foreign collection, or a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.corpus import Corpus
from app.core.errors import EngineError, InvalidInput, NotReady, Problem
from app.core.model import Chunk, ChunkKey
from app.core.payload import outermost, values_at
from app.core.text import digest as digest_of
from app.core.text import fault_in_text, text_hash
from app.engines import qdrant_filling
from app.engines.embedding import Embedder
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from app.engines.qdrant import QdrantEngine, kind
from app.engines.qdrant_calls import Connection, Server
from app.engines.qdrant_filling import Counting, uncounted
from app.engines.qdrant_requests import Layout, point_id, versions
from app.engines.qdrant_source import shape_of
from app.engines.retrieval import Engine
from app.engines.vectors import VectorCache, vector_key
from app.flows.embedders import content_of, rendered
from app.flows.manifests import read_manifest
from app.settings import CollectionSettings, Configuration
from app.workspace import Collection

#: Distances of Qdrant whose lower values are better.
_DISTANCES = frozenset({"Euclid", "Manhattan"})


def server_of(settings: CollectionSettings) -> Server | None:
    """The server a collection's settings name, or None for the embedded engine."""
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


def embedded(collection: Collection, name: str) -> bool:
    """Whether a configuration is searched in this process, by an engine that must be filled."""
    external = collection.configuration(name).mode == "external"
    return collection.settings.qdrant_url is None and not external


def connection_of(collection: Collection) -> Connection:
    """A connection to what the settings name, not asked anything yet.

    Raises EngineError for a key that cannot be sent.
    """
    server = server_of(collection.settings)
    if server is None:
        return Connection.embedded()
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


@dataclass(frozen=True)
class Target:
    """What the configuration `name` searches: a corpus, embedded where an embedder is used."""

    collection: Collection
    name: str
    corpus: Corpus
    embedder: Embedder | None

    @property
    def configuration(self) -> Configuration:
        """Its settings."""
        return self.collection.configuration(self.name)

    @property
    def digest(self) -> str | None:
        """The embedder's digest; None where none is used."""
        return self.embedder.digest if self.embedder else None

    @cached_property
    def dimension(self) -> int | None:
        """The length of a vector: as indexed, for that needs no embedder at work."""
        if self.embedder is None:
            return None
        if self.collection.settings.foreign:
            return self.embedder.dimension
        manifest = read_manifest(self.collection, self.name)
        return manifest.dimension if manifest else self.embedder.dimension

    @cached_property
    def content(self) -> str:
        """Content hash of all that is embedded here; the corpus revision where nothing is."""
        if self.digest is None or self.collection.settings.foreign:
            return self.corpus.revision
        return content_of(self.corpus, self.configuration.templates[1])

    @cached_property
    def identity(self) -> str:
        """Equal for configurations that may share one filled engine."""
        parts: list[Any] = [self.collection.name, self.corpus.revision, self.digest, self.content]
        settings = self.collection.settings
        parts += [settings.qdrant_url, settings.qdrant.model_dump()]
        if self.configuration.mode == "external":
            parts.append(self.configuration.model_dump())
        if settings.foreign:
            # The same texts may stand under other point ids after another sync.
            parts += [settings.source.model_dump(), self.collection.sync().synced]
        return digest_of(parts)

    @property
    def kind(self) -> Mapping[str, Any]:
        """What kind of engine it is, known before it is opened; part of a fingerprint."""
        if self.configuration.mode == "external":
            return self._program().description()
        found: dict[str, Any] = kind(self.collection.settings.qdrant_url is not None)
        if self.collection.settings.foreign:
            sync, source = self.collection.sync(), self.collection.settings.source
            found |= {"server": sync.host, "collection": sync.collection}
            if self.configuration.mode != "sparse":
                shape = sync.dense.get(source.vector or "")
                found |= {"vector": source.vector or "", "distance": shape and shape.distance}
            if self.configuration.mode != "dense":
                found["sparse_vector"] = source.sparse_vector
        return found

    @property
    def in_qdrant(self) -> str:
        """The collection's name in Qdrant."""
        source = self.collection.settings.source
        if source.collection is not None:
            return source.collection
        if self.collection.settings.qdrant_url is None:
            return "chunks"
        return own_name(self.collection, self.corpus, self.digest, self.content)

    def open(self) -> Engine:
        """The engine, ready to search.

        Raises NotReady where something must be indexed or synced first, EngineError where what is
        asked does not answer or does not hold this corpus.
        """
        settings = self.collection.settings
        if self.configuration.mode == "external":
            program = self._program()
            return ExternalEngine(program, Answers(program.name, self.corpus))
        connection = connection_of(self.collection)
        if settings.foreign:
            return self._foreign(connection)
        if settings.qdrant_url is None:
            self._fill(connection)
        keys = {point_id(key): key for key in self.corpus.chunks}
        engine = QdrantEngine(connection, self.in_qdrant, keys)
        self._verify(engine)
        return engine

    def upload(self, progress: Counting) -> int:
        """Bring to the server what it lacks; returns how many chunks that were."""
        connection = connection_of(self.collection)
        put = self._fill(connection, progress)
        self._verify(QdrantEngine(connection, self.in_qdrant, {}))
        return put

    def _fill(self, connection: Connection, progress: Counting = uncounted) -> int:
        return qdrant_filling.fill(
            connection,
            self.in_qdrant,
            list(self.corpus.chunks.values()),
            None if self.digest is None else self._vectors_of,
            self.dimension,
            self.collection.settings.filters,
            progress,
        )

    def _vectors_of(self, chunks: Sequence[Chunk]) -> NDArray[np.float32]:
        """Vectors from the cache; raises NotReady for one that is not there."""
        cache = VectorCache.of(self.collection.vectors, self.digest or "")
        texts = rendered(chunks, self.configuration.templates[1])
        loaded = cache.load([vector_key(text) for text in texts], self.dimension or 0)
        if loaded is None:
            raise NotReady(
                f"vectors of {self.collection.name} are missing",
                remedy=f"Index it: desk index {self.collection.name}",
            )
        return loaded[0]

    def _foreign(self, connection: Connection) -> QdrantEngine:
        sync, source = self.collection.sync(), self.collection.settings.source
        dense, distance = source.vector or "", ""
        if self.configuration.mode in ("dense", "hybrid"):
            shape = sync.dense.get(dense)
            if shape is None:
                missing = lacking(self.collection, "vector", source.vector, list(sync.dense))
                raise InvalidInput.of([missing])
            distance = shape.distance
            if self.dimension not in (None, shape.size):
                name = str(self.configuration.embedder_name)
                other = other_dimension(self.collection, shape.size, name, self.dimension or 0)
                raise EngineError(other.message, place=other.place, remedy=other.remedy)
        if self.configuration.mode in ("sparse", "hybrid") and (
            source.sparse_vector not in sync.sparse
        ):
            missing = lacking(self.collection, "sparse_vector", source.sparse_vector, sync.sparse)
            raise InvalidInput.of([missing])
        text = source.fields["text"]
        layout = Layout(
            dense, source.sparse_vector or "", True, distance in _DISTANCES, outermost(text)
        )
        keys = {c.point: key for key, c in self.corpus.chunks.items() if c.point is not None}

        def stale(key: ChunkKey, payload: Mapping[str, Any]) -> bool:
            found = next(iter(values_at(payload, text)), None)
            same = isinstance(found, str) and not fault_in_text(found)
            return not (same and text_hash(str(found)) == self.corpus.chunks[key].text_hash)

        engine = QdrantEngine(connection, self.in_qdrant, keys, layout, stale)
        remedy = f"Sync it again: desk sync {self.collection.name}"
        there = shape_of(connection, self.in_qdrant)
        if not sync.has(there.dense, there.sparse):
            message = f"{source.collection} has other vectors than when it was synced"
            raise NotReady(message, remedy=remedy)
        found = engine.count(), engine.count(self.collection.settings.filters)
        wanted = sync.points, len(self.corpus.eligible)
        if found != wanted:
            raise NotReady(
                f"{source.collection} has changed since it was synced: {found[0]:,} points, "
                f"{found[1]:,} of them eligible, now; {wanted[0]:,} and {wanted[1]:,} then",
                remedy=remedy,
            )
        return engine

    def _program(self) -> Program:
        configuration = self.configuration
        return Program(
            endpoint=configuration.endpoint,
            command=tuple(configuration.command or ()),
            folder=self.collection.folder,
            authorization_env=configuration.authorization_env,
            timeout=configuration.timeout,
            workers=configuration.concurrency,
        )

    def _verify(self, engine: QdrantEngine) -> None:
        """The engine must hold what the source says, and its filter let the same chunks pass."""
        found = engine.count(), engine.count(self.collection.settings.filters)
        wanted = len(self.corpus.chunks), len(self.corpus.eligible)
        if found != wanted:
            raise NotReady(
                f"Qdrant holds {found[0]:,} points, {found[1]:,} of them eligible; the corpus of "
                f"{self.collection.name} has {wanted[0]:,} and {wanted[1]:,}",
                remedy=f"Index it again: desk index {self.collection.name}",
            )


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

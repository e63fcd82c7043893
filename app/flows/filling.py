"""The engine of a configuration: filled here, on a server, a foreign collection, or a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.corpus import Corpus
from app.core.errors import NotReady
from app.core.model import Chunk
from app.core.text import digest as digest_of
from app.engines import edge
from app.engines.edge import EdgeEngine
from app.engines.embedding import Embedder
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from app.engines.points import Counting
from app.engines.retrieval import Counted, Engine
from app.engines.vectors import VectorCache, vector_key
from app.flows.embedders import content_of, rendered
from app.flows.manifests import read_manifest
from app.settings import Configuration
from app.workspace import Collection


def embedded(collection: Collection, name: str) -> bool:
    """Whether a configuration is searched in this process, by an engine that must be filled."""
    external = collection.configuration(name).mode == "external"
    return collection.settings.qdrant_url is None and not external


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
        if self.collection.settings.qdrant_url is None:
            return edge.kind()
        from app.flows import serving

        return serving.kind_there(self.collection, self.configuration)

    @property
    def in_qdrant(self) -> str:
        """The collection's name on its server."""
        from app.flows import serving

        source = self.collection.settings.source
        if source.collection is not None:
            return source.collection
        return serving.own_name(self.collection, self.corpus, self.digest, self.content)

    def open(self) -> Engine:
        """The engine, ready to search.

        Raises NotReady where something must be indexed or synced first, EngineError where what is
        asked does not answer or does not hold this corpus.
        """
        if self.configuration.mode == "external":
            program = self._program()
            return ExternalEngine(program, Answers(program.name, self.corpus))
        if self.collection.settings.qdrant_url is None:
            return self._verified(self._here())
        from app.flows import serving

        if self.collection.settings.foreign:
            return serving.foreign_engine(
                self.collection, self.configuration, self.corpus, self.dimension
            )
        connection = serving.connection_of(self.collection)
        return self._verified(serving.own_engine(connection, self.corpus, self.in_qdrant))

    def upload(self, progress: Counting) -> int:
        """Bring to the server what it lacks; returns how many chunks that were."""
        from app.engines.qdrant_filling import fill
        from app.flows import serving

        connection = serving.connection_of(self.collection)
        put = fill(
            connection,
            self.in_qdrant,
            list(self.corpus.chunks.values()),
            None if self.digest is None else self._vectors_of,
            self.dimension,
            self.collection.settings.filters,
            progress,
        )
        self._verified(serving.own_engine(connection, self.corpus, self.in_qdrant))
        return put

    def _here(self) -> EdgeEngine:
        return EdgeEngine(
            list(self.corpus.chunks.values()),
            None if self.digest is None else self._vectors_of,
            self.dimension,
            self.collection.settings.filters,
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

    def _verified(self, engine: Counted) -> Engine:
        """An engine that holds what the source says, and whose filter lets the same chunks pass."""
        found = engine.count(), engine.count(self.collection.settings.filters)
        wanted = len(self.corpus.chunks), len(self.corpus.eligible)
        if found != wanted:
            raise NotReady(
                f"Qdrant holds {found[0]:,} points, {found[1]:,} of them eligible; the corpus of "
                f"{self.collection.name} has {wanted[0]:,} and {wanted[1]:,}",
                remedy=f"Index it again: desk index {self.collection.name}",
            )
        return engine

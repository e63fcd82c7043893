"""A collection made searchable: manifest checked, engine filled from the vector cache."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from app.core.corpus import Corpus
from app.core.errors import EngineError, NotReady
from app.core.model import Hit, Ranking
from app.core.text import digest as digest_of
from app.engines.embedding import Embedded, Embedder, embed_all, render
from app.engines.retrieval import QdrantEngine, Search
from app.engines.vectors import VectorCache, vector_key
from app.flows.indexing import Manifest, make_embedder, manifest_path, rendered
from app.settings import Configuration
from app.workspace import Collection


@dataclass(frozen=True)
class Searcher:
    """Searches of one configuration over one corpus revision.

    The engine is filled when it is first asked for: a stored execution needs none. `content` is a
    hash of all that is embedded: titles and sections can be, and the corpus revision lacks them.
    """

    configuration: Configuration
    corpus: Corpus
    filters: dict[str, list[str | int | bool]]
    embedder: Embedder | None
    content: str
    fill: Callable[[], QdrantEngine]

    @cached_property
    def engine(self) -> QdrantEngine:
        """The filled engine; raises NotReady or EngineError where it cannot be filled."""
        return self.fill()

    def search(self, depth: int, *, exact: bool | None = None, beside: int = 0) -> Search:
        """What the engine is asked for `depth` ranks.

        `beside` is the depth of a search whose results this one is held against: both must fuse
        as many candidates.
        """
        configuration = self.configuration
        return Search(
            mode=configuration.mode,
            depth=depth,
            filters=self.filters,
            rrf_k=configuration.rrf_k,
            candidates=max(configuration.candidates, depth, beside),
            exact=configuration.exact if exact is None else exact,
        )

    def embed(self, text: str) -> Embedded | None:
        """The question's vector and whether it was cut; None for sparse search."""
        if self.embedder is None:
            return None
        template = self.configuration.templates[0]
        return embed_all(self.embedder, [render(template, {"question": text})])

    def rank(self, question: str, text: str, depth: int) -> tuple[Ranking, Embedded | None]:
        """The uncut ranking of a question, or why there is none, and what it was embedded as.

        What fails in the embedder or the engine is the outcome of this question. Ask for `engine`
        before, so that filling it is neither taken for a search nor timed as one.
        """
        began = time.perf_counter()
        embedded, after, hits = None, began, list[Hit]()
        try:
            embedded = self.embed(text)
            after = time.perf_counter()
            vector = None if embedded is None else embedded.vectors[0]
            hits = self.engine.search(self.search(depth), text, vector)
            failure = self._fault(hits)
        except EngineError as error:
            failure = str(error)
        ended = time.perf_counter()
        ranking = Ranking(
            question,
            tuple(hits) if failure is None else (),
            failure,
            round((after - began) * 1000, 3),
            round((ended - after) * 1000, 3),
        )
        return ranking, embedded

    def _fault(self, hits: list[Hit]) -> str | None:
        """Why a ranking cannot be scored: each hit is checked again, whatever the engine says."""
        seen = set()
        for hit in hits:
            if hit.key in seen:
                return f"duplicate keys: {hit.key.short()} was returned twice"
            seen.add(hit.key)
            if hit.key not in self.corpus.eligible:
                return (
                    f"eligibility violation: {hit.key.short()} was returned at rank {hit.rank} but "
                    "does not pass the filter"
                )
        return None


def read_manifest(collection: Collection, name: str) -> Manifest | None:
    """What was indexed for a configuration, or None."""
    path = manifest_path(collection, collection.configuration(name))
    try:
        manifest = Manifest(**json.loads(path.read_text(encoding="utf-8")))
        if manifest.format != 1:
            raise ValueError(f"its format is {manifest.format}, not 1")
        return manifest
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise NotReady(
            f"the manifest cannot be read: {error}",
            place=f"data/{collection.name}/vectors/{path.name}",
            remedy=f"Make it again: desk index {collection.name}",
        ) from error


def misfit(collection: Collection, name: str, corpus: Corpus, digest: str | None) -> str | None:
    """Why what was indexed does not fit what there is now, or None. `digest` is the embedder's."""
    manifest = read_manifest(collection, name)
    if manifest is None:
        return f"the collection {collection.name} is not indexed for the configuration {name}"
    if manifest.corpus_revision != corpus.revision:
        return (
            f"the corpus of {collection.name}, or its filter, has changed since it was indexed "
            f"({manifest.corpus_revision[:12]} then, {corpus.revision[:12]} now)"
        )
    if manifest.digest != digest:
        return (
            f"the embedder {manifest.embedder} has changed since {collection.name} was indexed "
            f"({str(manifest.digest)[:24]} then, {str(digest)[:24]} now)"
        )
    return None


def missing_vectors(
    collection: Collection, name: str, corpus: Corpus, digest: str | None
) -> str | None:
    """Why what is embedded now has no vectors (a title can change it), or None."""
    if digest is None:
        return None
    cache = VectorCache.of(collection.vectors, digest)
    keys = _keys(corpus, collection.configuration(name).templates[1])
    # Opening the cache would make it, and looking must not write.
    missing = not cache.path.exists() or cache.missing(list(keys))
    return f"vectors of {collection.name} are missing" if missing else None


Fill = Callable[[str, Callable[[], QdrantEngine]], QdrantEngine]


def fresh_engine(identity: str, make: Callable[[], QdrantEngine]) -> QdrantEngine:
    """Fill an engine for this use alone; a dashboard keeps it by its identity instead."""
    return make()


def open_searcher(
    collection: Collection, name: str, corpus: Corpus, engine_for: Fill = fresh_engine
) -> Searcher:
    """Make a configuration searchable; embeds no chunk.

    Raises NotReady where what was indexed does not fit the corpus or the embedder or is not all
    there, EmbedderError where the embedder that was asked for is not to be had.
    """
    configuration = collection.configuration(name)
    embedder = make_embedder(configuration)
    remedy = f"Index it: desk index {collection.name}"
    digest = embedder.digest if embedder else None
    if reason := misfit(collection, name, corpus, digest):
        raise NotReady(reason, remedy=remedy)

    template = configuration.templates[1]
    content = _content(corpus, template) if embedder else corpus.revision
    manifest = read_manifest(collection, name)
    dimension = manifest.dimension if manifest else None

    def fill() -> QdrantEngine:
        chunks, vectors = list(corpus.chunks.values()), None
        if digest is not None and dimension is not None:
            cache = VectorCache.of(collection.vectors, digest)
            loaded = cache.load(_keys(corpus, template), dimension)
            if loaded is None:
                raise NotReady(f"vectors of {collection.name} are missing", remedy=remedy)
            vectors = loaded[0]
        engine = QdrantEngine()
        engine.fill(chunks, vectors, dimension)
        _verify(engine, corpus, collection)
        return engine

    identity = f"{collection.name} {corpus.revision} {digest} {content}"
    return Searcher(
        configuration=configuration,
        corpus=corpus,
        filters=collection.settings.filters,
        embedder=embedder,
        content=content,
        fill=lambda: engine_for(identity, fill),
    )


@lru_cache(maxsize=8)
def _keys(corpus: Corpus, template: str) -> tuple[str, ...]:
    """The cache keys of all chunks in order; kept, for a dashboard asks at every rerun."""
    return tuple(vector_key(text) for text in rendered(list(corpus.chunks.values()), template))


@lru_cache(maxsize=8)
def _content(corpus: Corpus, template: str) -> str:
    return digest_of(_keys(corpus, template))


def _verify(engine: QdrantEngine, corpus: Corpus, collection: Collection) -> None:
    """The engine must hold what the source says, and its filter must let the same chunks pass."""
    found = engine.count(), engine.count(collection.settings.filters)
    wanted = len(corpus.chunks), len(corpus.eligible)
    if found != wanted:
        raise EngineError(
            f"Qdrant holds {found[0]} points, {found[1]} of them eligible; the corpus of "
            f"{collection.name} has {wanted[0]} and {wanted[1]}",
            remedy=f"Index it again: desk index {collection.name}",
        )

"""The embedder a configuration asks for, and what it reads of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from app.core.corpus import Corpus
from app.core.model import Chunk
from app.core.text import digest
from app.engines.bundled import BundledEmbedder
from app.engines.embedding import Embedder, document_parts, render
from app.engines.ollama_embedding import OllamaEmbedder
from app.engines.vectors import vector_key
from app.settings import Configuration


def make_embedder(configuration: Configuration) -> Embedder | None:
    """The embedder a configuration asks for, and no other; None where none is used."""
    name = configuration.embedder_name
    if name is None:
        return None
    if name == "bundled":
        return _bundled()
    return OllamaEmbedder(
        name.removeprefix("ollama:"),
        timeout=configuration.timeout,
        deadline=configuration.deadline,
        dimension=configuration.dimension,
        digest=configuration.digest,
    )


@cache
def _bundled() -> BundledEmbedder:
    """One for the process: loading its weights takes half a second."""
    return BundledEmbedder()


def rendered(chunks: Sequence[Chunk], template: str) -> list[str]:
    """What the embedder reads of every chunk."""
    return [render(template, document_parts(c.text, c.title, c.section)) for c in chunks]


@lru_cache(maxsize=8)
def vector_keys(corpus: Corpus, template: str) -> tuple[str, ...]:
    """The cache keys of all chunks in order; kept, for a dashboard asks at every rerun."""
    return tuple(vector_key(text) for text in rendered(list(corpus.chunks.values()), template))


@lru_cache(maxsize=8)
def content_of(corpus: Corpus, template: str) -> str:
    """Content hash of all that is embedded: titles can be, and the corpus revision lacks them."""
    return digest(vector_keys(corpus, template))

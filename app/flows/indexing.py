"""Index: embed what is new, keep vectors by content, and write what was indexed as a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from app.core.corpus import Corpus
from app.core.errors import NotReady
from app.core.files import replace_file
from app.core.judgments import now
from app.core.model import Chunk, ChunkKey
from app.core.snapshot import write_snapshot
from app.engines.bundled import BundledEmbedder
from app.engines.embedding import Embedder, document_parts, render
from app.engines.ollama_embedding import OllamaEmbedder
from app.engines.vectors import VectorCache, vector_key
from app.flows.loading import Loaded, load, require_eligible
from app.flows.progress import Progress, marked, silent
from app.settings import Configuration
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was indexed: evaluate refuses one that does not fit."""

    format: int
    corpus_revision: str
    embedder: str | None
    digest: str | None
    dimension: int | None
    template: str | None
    points: int
    eligible: int
    cut: list[list[str]]
    indexed: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing did, for the configurations that share an index."""

    collection: str
    configurations: tuple[str, ...]
    manifest: Manifest
    embedded: int
    reused: int
    notices: tuple[str, ...]


def make_embedder(configuration: Configuration) -> Embedder | None:
    """The embedder a configuration asks for, and no other; None for sparse search."""
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


def manifest_path(collection: Collection, configuration: Configuration) -> Path:
    """One manifest per embedder and document template."""
    template = configuration.templates[1] if configuration.embedder_name else ""
    identity = json.dumps([configuration.embedder_name, template])
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return collection.vectors / f"{name}.manifest.json"


def rendered(chunks: Sequence[Chunk], template: str) -> list[str]:
    """What the embedder reads of every chunk."""
    return [render(template, document_parts(c.text, c.title, c.section)) for c in chunks]


@contextmanager
def index_lock(collection: Collection) -> Iterator[None]:
    """One process at a time changes the vectors of a collection; raises NotReady for another."""
    try:
        with FileLock(collection.vectors / "index.lock", timeout=0):
            yield
    except Timeout:
        raise NotReady(
            f"another process is indexing {collection.name}",
            place=f"data/{collection.name}/vectors",
            remedy="Wait for it to end, then try again",
        ) from None


def index(
    collection: Collection,
    configurations: Sequence[str] | None = None,
    progress: Progress = silent,
) -> list[IndexReport]:
    """Index a collection for its configurations (all unless named); one report per index.

    Embeds only texts without a vector. Raises InvalidInput for files that are refused,
    EmbedderError for an embedder that is missing or fails; vectors made until then are kept.
    """
    loaded = load(collection)
    require_eligible(loaded)
    names = configurations or tuple(collection.settings.configurations)
    groups: dict[Path, list[str]] = {}
    for name in names:
        path = manifest_path(collection, collection.configuration(name))
        groups.setdefault(path, []).append(name)
    collection.vectors.mkdir(parents=True, exist_ok=True)
    with (
        index_lock(collection),
        marked(
            collection.workspace.running, f"Indexing {collection.name}", "Vectors made are kept"
        ) as found,
    ):
        reports = [_index_one(loaded, path, names, progress) for path, names in groups.items()]
    scoring = collection.settings.scoring_settings()
    if written := write_snapshot(collection.labels_folder, scoring, loaded.corpus):
        found.append(
            f"Wrote labels/{collection.name}/complete/{written.name}: the chunks the labels are "
            "complete for. Commit it with the labels."
        )
    first, *rest = reports
    return [replace(first, notices=(*found, *first.notices)), *rest]


def _index_one(loaded: Loaded, path: Path, names: list[str], progress: Progress) -> IndexReport:
    collection, corpus = loaded.collection, loaded.corpus
    configuration = collection.configuration(names[0])
    embedder = make_embedder(configuration)
    embedded = reused = 0
    cut: list[list[str]] = []
    template: str | None = None
    if embedder is not None:
        template = configuration.templates[1]
        embedded, reused, cut = _embed(collection, corpus, embedder, template, progress)
    manifest = Manifest(
        format=1,
        corpus_revision=corpus.revision,
        embedder=embedder.name if embedder else None,
        digest=embedder.digest if embedder else None,
        dimension=embedder.dimension if embedder else None,
        template=template,
        points=len(corpus.chunks),
        eligible=len(corpus.eligible),
        cut=cut,
        indexed=now(),
    )
    replace_file(path, json.dumps(asdict(manifest), indent=2, ensure_ascii=False) + "\n")
    notices = (
        (
            f"Chunks longer than the embedder reads were cut: {len(cut)}, "
            f"{ChunkKey(*cut[0]).short()} for one. Shorter ones would be found better.",
        )
        if cut
        else ()
    )
    return IndexReport(collection.name, tuple(names), manifest, embedded, reused, notices)


def _embed(
    collection: Collection, corpus: Corpus, embedder: Embedder, template: str, progress: Progress
) -> tuple[int, int, list[list[str]]]:
    """Embed what has no vector yet; the numbers embedded and reused, and the chunks cut."""
    chunks = list(corpus.chunks.values())
    texts = rendered(chunks, template)
    keys = [vector_key(text) for text in texts]
    by_key = dict(zip(keys, texts, strict=True))
    cache = VectorCache.of(collection.vectors, embedder.digest)
    missing = cache.missing(keys)
    what = f"Embedding {collection.name} with {embedder.name}"
    done = 0
    for positions, batch in embedder.batches([by_key[key] for key in missing]):
        cache.add([missing[position] for position in positions], batch)
        done += len(positions)
        progress(what, done, len(missing))
    flags = cache.load(keys, embedder.dimension)
    was_cut = flags[1] if flags else [False] * len(chunks)
    cut = [
        [chunk.key.document, chunk.key.version, chunk.key.chunk]
        for chunk, flag in zip(chunks, was_cut, strict=True)
        if flag
    ]
    return len(missing), len(set(keys)) - len(missing), cut

"""Index: embed what is new, keep vectors by content, and write what was indexed as a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.core.corpus import Corpus
from app.core.errors import DeskError, InvalidInput
from app.core.judgments import now
from app.core.model import ChunkKey
from app.core.snapshot import write_snapshot
from app.engines.embedding import Embedder
from app.engines.vectors import VectorCache, vector_key
from app.flows.archive import keep_labeled
from app.flows.embedders import make_embedder, rendered
from app.flows.filling import Target
from app.flows.loading import Loaded, load, require_eligible
from app.flows.manifests import Manifest, manifest_path, write_manifest
from app.flows.progress import Progress, exclusively, marked, silent
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing did, for the configurations that share an index.

    `uploaded`: the chunks a server lacked; None without a server.
    """

    collection: str
    configurations: tuple[str, ...]
    manifest: Manifest
    embedded: int
    reused: int
    uploaded: int | None
    notices: tuple[str, ...]


@contextmanager
def index_lock(collection: Collection) -> Iterator[None]:
    """One process at a time changes the vectors of a collection; raises NotReady for another."""
    place = f"data/{collection.name}/vectors"
    with exclusively(collection.vectors / "index.lock", f"indexing {collection.name}", place):
        yield


def index(
    collection: Collection,
    configurations: Sequence[str] | None = None,
    progress: Progress = silent,
) -> list[IndexReport]:
    """Index a collection for its configurations (all unless named); one report per index.

    Embeds only texts without a vector, and brings a server what it lacks. Raises InvalidInput for
    files that are refused, EmbedderError for an embedder that is missing or fails, EngineError for
    a server that does; what was done until then is kept.
    """
    if collection.settings.foreign:
        raise InvalidInput(
            f"{collection.name} is read from a Qdrant collection that others index",
            place=f"data/{collection.name}/collection.toml",
            remedy=f"Read what it holds: desk sync {collection.name}",
        )
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
    found += keep_labeled(loaded)
    if configurations is None:
        found += _superseded(collection, loaded.corpus)
    first, *rest = reports
    return [replace(first, notices=(*found, *first.notices)), *rest]


def _superseded(collection: Collection, corpus: Corpus) -> list[str]:
    """A sentence on collections on the server that are of no use any more, where there are any."""
    if collection.settings.qdrant_url is None:
        return []
    from app.flows.serving import connection_of
    from app.flows.superseded import on_server

    try:
        older = on_server(collection, corpus, connection_of(collection)).superseded
    except DeskError:
        return []  # what was to be indexed is indexed; a key may not be allowed to list
    if not older:
        return []
    return [
        f"Older collections of {collection.name} on the server that no configuration here needs "
        f"now: {len(older)}. Remove them: desk prune {collection.name} --server"
    ]


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
    write_manifest(path, manifest)
    uploaded = None
    # Those that ask another program share a manifest with lexical search, and need no upload.
    searched = [one for one in names if collection.configuration(one).mode != "external"]
    if collection.settings.qdrant_url is not None and searched:
        target = Target(collection, searched[0], corpus, embedder)
        uploaded = target.upload(partial(progress, f"Uploading {collection.name}"))
    notices = (
        (
            f"Chunks longer than the embedder reads were cut: {len(cut)}, "
            f"{ChunkKey(*cut[0]).short()} for one. Shorter ones would be found better.",
        )
        if cut
        else ()
    )
    return IndexReport(collection.name, tuple(names), manifest, embedded, reused, uploaded, notices)


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
    with cache.adding() as add:
        for positions, batch in embedder.batches([by_key[key] for key in missing]):
            add([missing[position] for position in positions], batch)
            done += len(positions)
            progress(what, done, len(missing))
    cut = [
        [chunk.key.document, chunk.key.version, chunk.key.chunk]
        for chunk, flag in zip(chunks, cache.cut(keys), strict=True)
        if flag
    ]
    return len(missing), len(set(keys)) - len(missing), cut

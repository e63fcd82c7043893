"""Prune what no configuration of a collection needs for the corpus as it is now.

Its vectors here and texts no label speaks of, or its collections on a server.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.core.catalogue import host_of
from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.engines.bundled import BundledEmbedder
from app.engines.vectors import VectorCache, vector_key
from app.flows.archive import archive_of, unneeded_texts
from app.flows.embedders import rendered
from app.flows.indexing import index_lock
from app.flows.manifests import manifest_path, read_manifest
from app.flows.upkeep.common import size_words
from app.flows.wording import count
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went of one cache file, or would go.

    `whole`: the file itself, whose embedder and number of vectors are then None.
    """

    file: str
    embedder: str | None
    vectors: int | None
    kept: int
    bytes: int
    whole: bool


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was pruned; with `dry_run` what would be, the bytes then being an estimate."""

    collection: str
    dry_run: bool
    caches: tuple[Pruned, ...]
    files: tuple[str, ...]
    bytes: int
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Need:
    """The keys that are needed of every cache file, and what is not known."""

    keys: dict[Path, set[str]]
    embedders: dict[Path, str]
    manifests: set[Path]
    unknown: tuple[str, ...]


def prune(collection: Collection, *, dry_run: bool = False) -> PruneReport:
    """Remove what is not needed of a collection's vectors; asks no embedder.

    Raises InvalidInput where the corpus cannot be read, NotReady where a manifest cannot be read
    or another process is indexing: nothing is removed then.
    """
    corpus = collection.corpus()
    if not collection.vectors.is_dir():
        return PruneReport(collection.name, dry_run, (), (), 0, ())
    with index_lock(collection):
        need = _need(collection, corpus)
        stale = [
            *(p for p in collection.vectors.glob("*.manifest.json") if p not in need.manifests),
            *collection.vectors.glob(".*.manifest.json.*"),
        ]
        files, freed = [], 0
        for path in sorted(stale):
            files.append(path.name)
            freed += path.stat().st_size
            if not dry_run:
                path.unlink()
        caches = [
            found
            for path in sorted(collection.vectors.glob("*.sqlite"))
            if (found := _prune(VectorCache(path), need, dry_run=dry_run)) is not None
        ]
        texts, notices = _prune_texts(collection, corpus, dry_run=dry_run)
    return PruneReport(
        collection=collection.name,
        dry_run=dry_run,
        caches=tuple(caches),
        files=tuple(files),
        bytes=freed + texts + sum(one.bytes for one in caches),
        notices=(
            *(
                f"{name} is not indexed, so which vectors are its own is not known. Caches that no "
                f"manifest names were kept; index it first: desk index {collection.name}"
                for name in need.unknown
            ),
            *notices,
        ),
    )


def _prune_texts(
    collection: Collection, corpus: Corpus, *, dry_run: bool
) -> tuple[int, tuple[str, ...]]:
    """Remove kept texts that no label speaks of: bytes that freed, and a sentence on them."""
    archive, before = archive_of(collection), archive_of(collection).size
    unneeded, known = unneeded_texts(collection, corpus), archive.known()
    if not unneeded:
        return 0, ()
    if not dry_run:
        archive.keep_only(known - unneeded)
    freed = before * len(unneeded) // len(known) if dry_run else before - archive.size
    which = "to be removed" if dry_run else "removed"
    return freed, (f"Kept texts that no label speaks of, {which}: {len(unneeded):,}.",)


def _need(collection: Collection, corpus: Corpus) -> _Need:
    """What the configurations need, by their manifests; an embedder's digest is not asked for."""
    configurations = collection.settings.configurations
    digests: dict[str, set[str]] = {"bundled": {BundledEmbedder.digest}}
    manifests: set[Path] = set()
    unknown: list[str] = []
    for name, configuration in configurations.items():
        manifests.add(manifest_path(collection, configuration))
        embedder, manifest = configuration.embedder_name, read_manifest(collection, name)
        if embedder is not None and manifest is not None and manifest.digest is not None:
            digests.setdefault(embedder, set()).add(manifest.digest)
        elif embedder not in (None, "bundled") and manifest is None:
            unknown.append(name)
    keys: dict[Path, set[str]] = {}
    embedders: dict[Path, str] = {}
    by_template: dict[str, set[str]] = {}
    for configuration in configurations.values():
        embedder, template = configuration.embedder_name, configuration.templates[1]
        if embedder is None:
            continue
        if template not in by_template:
            texts = rendered(list(corpus.chunks.values()), template)
            by_template[template] = {vector_key(text) for text in texts}
        for digest in digests.get(embedder, ()):
            path = VectorCache.of(collection.vectors, digest).path
            keys.setdefault(path, set()).update(by_template[template])
            embedders[path] = embedder
    return _Need(keys, embedders, manifests, tuple(unknown))


def _prune(cache: VectorCache, need: _Need, *, dry_run: bool) -> Pruned | None:
    """Remove what is not needed of one file; None where all of it stays."""
    name, before = cache.path.name, cache.size
    needed = need.keys.get(cache.path)
    if needed is None:
        if need.unknown:
            return None
        if not dry_run:
            cache.remove()
        return Pruned(name, None, None, 0, before, whole=True)
    unneeded, rows = cache.unneeded(needed)
    if not unneeded:
        return None
    freed = before * unneeded // rows
    if not dry_run:
        cache.keep_only(needed)
        freed = before - cache.size
    return Pruned(name, need.embedders[cache.path], unneeded, rows - unneeded, freed, whole=False)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """Collections removed from a server and kept there; with `dry_run` what would be."""

    collection: str
    dry_run: bool
    server: str
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    notices: tuple[str, ...]


def prune_server(collection: Collection, *, dry_run: bool = False) -> ServerReport:
    """Remove our collections from a server that are not needed; asks no embedder.

    Others are never touched. Raises InvalidInput where nothing on a server is ours, NotReady where
    a manifest cannot be read or another process is indexing, EngineError for a server that fails.
    """
    from app.engines.qdrant_filling import drop
    from app.flows.serving import connection_of
    from app.flows.superseded import on_server

    place, url = f"data/{collection.name}/collection.toml", collection.settings.qdrant_url
    if collection.settings.foreign:
        raise InvalidInput(
            f"{collection.name} is read from a Qdrant collection that others index; nothing there "
            "is ours to remove",
            place=place,
            remedy="Leave out --server",
        )
    if url is None:
        raise InvalidInput(
            f"{collection.name} has no qdrant_url, so nothing of it is on a server",
            place=place,
            remedy="Leave out --server, or add qdrant_url",
        )
    corpus, connection = collection.corpus(), connection_of(collection)
    with index_lock(collection) if collection.vectors.is_dir() else nullcontext():
        found = on_server(collection, corpus, connection)
        for name in () if dry_run else found.superseded:
            drop(connection, name)
    return ServerReport(
        collection=collection.name,
        dry_run=dry_run,
        server=host_of(url),
        removed=found.superseded,
        kept=found.kept,
        notices=tuple(
            f"{name} is not indexed, so which collection is its own is not known. Those of the "
            f"corpus as it is now were kept; index it first: desk index {collection.name}"
            for name in found.unknown
        ),
    )


def as_json(report: PruneReport) -> dict[str, Any]:
    """The answer of `desk prune --json`."""
    return {
        "format": 1,
        "collection": report.collection,
        "dry_run": report.dry_run,
        "bytes": report.bytes,
        "caches": [asdict(one) for one in report.caches],
        "files": list(report.files),
    }


def as_text(report: PruneReport) -> str:
    """The answer of `desk prune`."""
    lines = []
    for one in report.caches:
        if one.vectors is None:
            lines.append(f"  {one.file}: all of it; no configuration uses its embedder")
        else:
            went, kept = count(one.vectors, "vector"), f"{one.kept:,} kept"
            lines.append(f"  {one.file} ({one.embedder}): {went}, {kept}")
    for name in report.files:
        why = "was never finished" if name.startswith(".") else "of a configuration that is gone"
        lines.append(f"  {name}: {why}")
    if not lines:
        return f"{report.collection}: every vector is needed; nothing to prune."
    verb = "would free about" if report.dry_run else "freed"
    return "\n".join([f"{report.collection}: {verb} {size_words(report.bytes)}", *lines])


def server_json(report: ServerReport) -> dict[str, Any]:
    """The answer of `desk prune --server --json`."""
    return {
        "format": 1,
        "collection": report.collection,
        "dry_run": report.dry_run,
        "server": report.server,
        "removed": list(report.removed),
        "kept": list(report.kept),
    }


def server_text(report: ServerReport) -> str:
    """The answer of `desk prune --server`."""
    kept = count(len(report.kept), "collection")
    if not report.removed:
        return f"{report.collection}: {kept} at {report.server}; nothing to prune."
    verb = "would remove" if report.dry_run else "removed"
    number = count(len(report.removed), "collection")
    head = f"{report.collection}: {verb} {number} at {report.server}, {len(report.kept):,} kept"
    return "\n".join([head, *(f"  {name}" for name in report.removed)])

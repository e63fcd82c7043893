"""Prune a collection's vectors: those that no configuration needs for the corpus as it is now."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.core.corpus import Corpus
from app.engines.bundled import BundledEmbedder
from app.engines.vectors import VectorCache, vector_key
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
    return PruneReport(
        collection=collection.name,
        dry_run=dry_run,
        caches=tuple(caches),
        files=tuple(files),
        bytes=freed + sum(one.bytes for one in caches),
        notices=tuple(
            f"{name} is not indexed, so which vectors are its own is not known. Caches that no "
            f"manifest names were kept; index it first: desk index {collection.name}"
            for name in need.unknown
        ),
    )


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

"""Manifests of what was indexed, and whether they fit what there is now."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app.core.corpus import Corpus
from app.core.errors import NotReady
from app.core.files import replace_file
from app.engines.vectors import VectorCache
from app.flows.embedders import vector_keys
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


def manifest_path(collection: Collection, configuration: Configuration) -> Path:
    """One manifest per embedder and document template."""
    template = configuration.templates[1] if configuration.embedder_name else ""
    identity = json.dumps([configuration.embedder_name, template])
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return collection.vectors / f"{name}.manifest.json"


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Keep a manifest, whole or not at all."""
    replace_file(path, json.dumps(asdict(manifest), indent=2, ensure_ascii=False) + "\n")


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
    """Why what was indexed does not fit what there is now, or None. `digest` is the embedder's.

    A foreign collection was indexed by others: there is nothing of ours that could not fit.
    """
    if collection.settings.foreign:
        return None
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
    if digest is None or collection.settings.foreign:
        return None
    cache = VectorCache.of(collection.vectors, digest)
    keys = vector_keys(corpus, collection.configuration(name).templates[1])
    # Opening the cache would make it, and looking must not write.
    missing = not cache.path.exists() or cache.missing(list(keys))
    return f"vectors of {collection.name} are missing" if missing else None

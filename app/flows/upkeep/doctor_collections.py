"""Examine a collection: settings, ledgers, index and vectors. Makes and changes nothing."""

from __future__ import annotations

from typing import Any

from app.core.corpus import Corpus
from app.core.errors import DeskError, EngineError
from app.engines.bundled import BundledEmbedder
from app.engines.vectors import VectorCache, vector_key
from app.flows.archive import archive_of
from app.flows.embedders import rendered
from app.flows.manifests import misfit, read_manifest
from app.flows.upkeep.common import is_held, size_words
from app.flows.upkeep.findings import Finding, limited, ok, raised, warning
from app.flows.wording import count
from app.settings import CollectionSettings
from app.workspace import Collection, Workspace

#: Ledgers can be read whatever the settings say.
_UNSET: dict[str, Any] = {}
#: The cache files that can be read, with the keys they hold.
Caches = dict[str, frozenset[str]]


def collection_findings(workspace: Workspace, name: str) -> list[Finding]:
    """What there is to say of one collection."""
    ledgers = _ledgers(Collection(workspace, name, CollectionSettings.model_construct(**_UNSET)))
    caches, found = _caches(workspace, name)
    try:
        collection = workspace.collection(name)
    except DeskError as failure:
        return [*raised(failure), *ledgers, *found]
    settings = [ok("the settings are valid", f"data/{name}/collection.toml")]
    broken = any(one.level == "error" for one in ledgers)
    try:
        corpus, questions = collection.corpus(), collection.questions()
        if not broken:
            collection.labels(corpus, questions)
    except DeskError as failure:
        return [*settings, *raised(failure), *ledgers, *found]
    return [*settings, *ledgers, *_index(collection, corpus, caches), *found, *_texts(collection)]


def _texts(collection: Collection) -> list[Finding]:
    """What is wrong with the archive of judged texts, if anything is."""
    try:
        archive_of(collection).known()
    except EngineError as failure:
        return raised(failure)
    return []


def _ledgers(collection: Collection) -> list[Finding]:
    """Lines that are refused, lines that a crash cut short."""
    found: list[Finding] = []
    lines = 0
    for ledger in (collection.ledger, collection.events):
        try:
            read = ledger.read()
        except DeskError as failure:
            found += raised(failure)
        else:
            lines += len(read.events)
            found += [warning(notice) for notice in read.notices]
    for path in sorted(collection.labels_folder.rglob("*.torn")):
        torn = path.relative_to(collection.workspace.root).as_posix()
        message = "what a crash cut short; it was never confirmed as saved and is not counted"
        found.append(warning(message, torn, "Look into it, grade again if need be, and remove it"))
    return found or [
        ok(f"the ledgers can be read: {count(lines, 'line')}", collection.labels_place)
    ]


def _caches(workspace: Workspace, name: str) -> tuple[Caches, list[Finding]]:
    """The vector caches, unless somebody is writing to them."""
    folder = workspace.data / name / "vectors"
    paths = sorted(folder.glob("*.sqlite"))
    lock = folder / "index.lock"
    if is_held(lock):
        return {}, [ok("is being indexed or pruned just now", f"data/{name}/vectors")]
    caches: Caches = {}
    found: list[Finding] = []
    for path in paths:
        cache = VectorCache(path)
        try:
            caches[path.name] = keys = cache.look()
            message = f"{count(len(keys), 'vector')}, {size_words(cache.size)}"
            found.append(ok(message, f"data/{name}/vectors/{path.name}"))
        except EngineError as failure:
            if not is_held(lock):  # else it was read while it was written
                found += raised(failure)
    return caches, found


def _index(collection: Collection, corpus: Corpus, caches: Caches) -> list[Finding]:
    """Whether what was indexed fits what there is; an embedder's server is not asked."""
    if collection.settings.foreign:
        sync, place = collection.sync(), f"data/{collection.name}/catalogue"
        synced = sync.synced[:16].replace("T", " ")
        return [ok(f"{count(sync.points, 'point')} of {sync.collection}, synced {synced}", place)]
    remedy = f"Index it: desk index {collection.name}"
    found: list[Finding] = []
    fine: list[str] = []
    for name, configuration in collection.settings.configurations.items():
        try:
            manifest = read_manifest(collection, name)
        except DeskError as failure:
            found += raised(failure)
            continue
        digest = manifest.digest if manifest else None
        if manifest and configuration.embedder_name == "bundled":
            digest = BundledEmbedder.digest
        reason = misfit(collection, name, corpus, digest)
        if reason is None and digest is not None:
            cache = VectorCache.of(collection.vectors, digest).path.name
            texts = rendered(list(corpus.chunks.values()), configuration.templates[1])
            if cache in caches and not {vector_key(text) for text in texts} <= caches[cache]:
                reason = f"vectors of {collection.name} for the configuration {name} are missing"
            elif not (collection.vectors / cache).exists():
                reason = f"the vectors of {collection.name} for the configuration {name} are gone"
        if reason is None:
            fine.append(name)
        else:
            found.append(warning(reason, f"data/{collection.name}/vectors", remedy))
    if fine:
        found.insert(0, ok(f"indexed for {', '.join(fine)}", f"data/{collection.name}/vectors"))
    return limited(found)

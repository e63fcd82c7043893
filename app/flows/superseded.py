"""Our collections on a server that no configuration needs any more."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.corpus import Corpus
from app.engines.bundled import BundledEmbedder
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_filling import collections_of
from app.flows.embedders import content_of
from app.flows.manifests import read_manifest
from app.flows.serving import own_name
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class OnServer:
    """Our collections for one collection here: `kept` are needed, `superseded` are not.

    `unknown`: configurations of whose embedder no manifest tells, so that any collection of the
    corpus as it is now may be theirs.
    """

    kept: tuple[str, ...]
    superseded: tuple[str, ...]
    unknown: tuple[str, ...]


def on_server(collection: Collection, corpus: Corpus, connection: Connection) -> OnServer:
    """What is on the server; asks no embedder. Raises EngineError, and NotReady as manifests do."""
    needed: set[str] = set()
    unknown: list[str] = []
    for name, configuration in collection.settings.configurations.items():
        if configuration.mode == "external":
            continue
        embedder, template = configuration.embedder_name, configuration.templates[1]
        if embedder is None:
            needed.add(own_name(collection, corpus, None, corpus.revision))
            continue
        manifest = read_manifest(collection, name)
        digests = {BundledEmbedder.digest} if embedder == "bundled" else set()
        if manifest is not None and manifest.digest is not None:
            digests.add(manifest.digest)
        if not digests:
            unknown.append(name)
        content = content_of(corpus, template)
        needed |= {own_name(collection, corpus, digest, content) for digest in digests}
    # What differs within one corpus revision stands behind the last dash of a name.
    now = own_name(collection, corpus, None, "").rpartition("-")[0] + "-"
    found = collections_of(connection, collection.name)
    kept = [one for one in found if one in needed or (unknown and one.startswith(now))]
    return OnServer(tuple(kept), tuple(sorted({*found} - {*kept})), tuple(unknown))

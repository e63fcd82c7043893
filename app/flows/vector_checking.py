"""Whether stored vectors are those the settings say: some chunks are embedded again and compared.

A wrong model, template or cut shows here before a label is spent on what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.errors import DeskError, InvalidInput, NotReady, Problem
from app.core.model import Chunk
from app.engines.embedding import embed_all
from app.engines.points import DENSE, SPARSE
from app.engines.qdrant_requests import point_id
from app.engines.qdrant_source import Stored, lexical, stored
from app.engines.vectors import VectorCache, vector_key
from app.flows.embedders import make_embedder, rendered
from app.flows.filling import Target
from app.flows.loading import Loaded
from app.flows.progress import Progress, silent
from app.flows.serving import connection_of, lacking, other_dimension
from app.flows.vector_diagnosis import SAME, SAME_WORDS, damage, diagnosis
from app.flows.wording import count
from app.workspace import Collection

SAMPLE = 20


@dataclass(frozen=True, slots=True)
class Compared:
    """Cosines of stored and new vectors of one kind, by chunk, shortest text first.

    `what` is the embedder's name or `BM25`, `finding` what is wrong, None where they agree.
    """

    configurations: tuple[str, ...]
    what: str
    cosines: tuple[tuple[str, int, float], ...]
    finding: Problem | None

    def as_json(self) -> dict[str, Any]:
        """Part of the answer of `desk check --json`."""
        values = [cosine for _, _, cosine in self.cosines]
        return {
            "configurations": list(self.configurations),
            "embedder": self.what,
            "chunks": len(values),
            "lowest": min(values, default=None),
            "median": median(values) if values else None,
        }

    def __str__(self) -> str:
        """One line for people."""
        values = [cosine for _, _, cosine in self.cosines]
        if not values:
            return f"{self.what}: not compared"
        return (
            f"{', '.join(self.configurations)}: {count(len(values), 'stored vector')} against "
            f"{self.what}, cosine {min(values):.3f} to {max(values):.3f}, median "
            f"{median(values):.3f}"
        )


def compare_vectors(loaded: Loaded, progress: Progress = silent) -> list[Compared]:
    """Embed a sample of the stored chunks again, for every embedder and template in use.

    What cannot be had (a server, an embedder) is the finding of its configurations.
    """
    collection = loaded.collection
    groups: dict[tuple[str, str], list[str]] = {}
    for name, configuration in collection.settings.configurations.items():
        if configuration.embedder_name is not None:
            template = configuration.templates[1]
            groups.setdefault((configuration.embedder_name, template), []).append(name)
        if configuration.mode in ("sparse", "hybrid") and collection.settings.qdrant_url:
            # Our own collections are several: one per embedder and template.
            own = "" if collection.settings.foreign else str(configuration.embedder_name)
            own += "" if collection.settings.foreign else configuration.templates[1]
            groups.setdefault(("BM25", own), []).append(name)
    sample = _sample(list(loaded.corpus.eligible.values()))
    found = []
    for number, ((what, _), names) in enumerate(groups.items(), start=1):
        compared = _lexical if what == "BM25" else _dense
        try:
            found.append(compared(loaded, tuple(names), sample))
        except DeskError as error:
            found.append(Compared(tuple(names), what, (), error.problems[0]))
        progress(f"Comparing vectors of {collection.name}", number, len(groups))
    return found


def _sample(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks of every length, the longest among them, for that is where a cut shows."""
    ordered = sorted(chunks, key=lambda chunk: (len(chunk.text), chunk.key))
    if len(ordered) <= SAMPLE:
        return ordered
    return [ordered[round(i * (len(ordered) - 1) / (SAMPLE - 1))] for i in range(SAMPLE)]


def _dense(loaded: Loaded, names: tuple[str, ...], sample: Sequence[Chunk]) -> Compared:
    collection = loaded.collection
    configuration = collection.configuration(names[0])
    embedder = make_embedder(configuration)
    if embedder is None:
        raise NotReady(f"{names[0]} has no embedder")
    template = configuration.templates[1]
    old = _stored_dense(Target(collection, names[0], loaded.corpus, embedder), sample)
    new = embed_all(embedder, rendered(sample, template)).vectors
    place = f"data/{collection.name}/collection.toml"
    what = collection.settings.source.collection or collection.name
    if old.shape[1] != new.shape[1]:
        other = other_dimension(collection, old.shape[1], embedder.name, new.shape[1])
        return Compared(names, embedder.name, (), other)
    cosines = _cosines(old, new)
    finding = None
    if min(cosines) < SAME and not collection.settings.foreign:
        finding = damage(Target(collection, names[0], loaded.corpus, embedder), cosines)
    elif min(cosines) < SAME:

        def again(wording: str) -> list[float]:
            return _cosines(old, embed_all(embedder, rendered(sample, wording)).vectors)

        message, remedy = diagnosis(cosines, embedder, template, again)
        finding = Problem(f"the vectors of {what} are not those of {message}", place, remedy)
    rows = tuple(
        (chunk.key.short(), len(chunk.text), round(cosine, 6))
        for chunk, cosine in zip(sample, cosines, strict=True)
    )
    return Compared(names, embedder.name, rows, finding)


def _stored_dense(target: Target, sample: Sequence[Chunk]) -> NDArray[np.float32]:
    """The stored vectors of some chunks; raises NotReady for one that is not there."""
    collection, settings = target.collection, target.collection.settings
    if settings.qdrant_url is None:
        cache = VectorCache.of(collection.vectors, target.digest or "")
        texts = rendered(sample, target.configuration.templates[1])
        # Opening the cache would make it, and looking must not write.
        there = cache.path.exists()
        keys = [vector_key(text) for text in texts]
        loaded = cache.load(keys, target.dimension or 0) if there else None
        if loaded is None:
            remedy = f"Index it: desk index {collection.name}"
            raise NotReady(f"vectors of {collection.name} are missing", remedy=remedy)
        return loaded[0]
    name = (settings.source.vector or "") if settings.foreign else DENSE
    found = _on_server(target, sample, name, "")
    rows = [found[_point(chunk)].dense for chunk in sample]
    return np.stack([row for row in rows if row is not None])


def _lexical(loaded: Loaded, names: tuple[str, ...], sample: Sequence[Chunk]) -> Compared:
    collection = loaded.collection
    source = collection.settings.source
    name = source.sparse_vector or SPARSE
    embedder = make_embedder(collection.configuration(names[0]))
    found = _on_server(Target(collection, names[0], loaded.corpus, embedder), sample, None, name)
    rows = tuple(
        (chunk.key.short(), len(chunk.text), round(_alike(chunk, found[_point(chunk)]), 6))
        for chunk in sample
    )
    finding = None
    if min(cosine for _, _, cosine in rows) < SAME_WORDS:
        values = [cosine for _, _, cosine in rows]
        finding = Problem(
            f"the sparse vectors {name} of {source.collection or collection.name} are not BM25 "
            f"vectors of these texts: cosine {min(values):.3f} to {max(values):.3f}",
            f"data/{collection.name}/collection.toml",
            "Use dense search, or name BM25 vectors as source.sparse_vector",
        )
    return Compared(names, "BM25", rows, finding)


def _alike(chunk: Chunk, found: Stored) -> float:
    new, old = lexical(chunk.text), found.sparse or {}
    lengths = float(np.linalg.norm(list(new.values())) * np.linalg.norm(list(old.values())))
    return sum(new[token] * old.get(token, 0.0) for token in new) / lengths if lengths else 0.0


def _point(chunk: Chunk) -> str | int:
    return point_id(chunk.key) if chunk.point is None else chunk.point


def _on_server(
    target: Target, sample: Sequence[Chunk], dense: str | None, sparse: str
) -> Mapping[str | int, Stored]:
    """What a server stores of some chunks; raises NotReady for one without such a vector."""
    collection: Collection = target.collection
    if collection.settings.foreign:
        _require_there(collection, dense, sparse)
    ids = [_point(chunk) for chunk in sample]
    found = stored(connection_of(collection), target.in_qdrant, ids, dense, sparse)
    for chunk, identity in zip(sample, ids, strict=True):
        one = found.get(identity)
        if one is None or (one.dense is None if dense is not None else one.sparse is None):
            verb = "sync" if collection.settings.foreign else "index"
            raise NotReady(
                f"{target.in_qdrant} has no {_called(dense, sparse)} of {chunk.key.short()}, point "
                f"{identity}",
                remedy=f"Fill it there, then run desk {verb} {collection.name}",
            )
    return found


def _require_there(collection: Collection, dense: str | None, sparse: str) -> None:
    """Raise InvalidInput for a vector that the collection did not have when it was synced."""
    sync, source = collection.sync(), collection.settings.source
    if dense is not None and dense not in sync.dense:
        raise InvalidInput.of([lacking(collection, "vector", source.vector, list(sync.dense))])
    if sparse and sparse not in sync.sparse:
        there = sync.sparse
        raise InvalidInput.of([lacking(collection, "sparse_vector", source.sparse_vector, there)])


def _called(dense: str | None, sparse: str) -> str:
    if dense is None:
        return f"sparse vector {sparse}"
    return f"vector {dense}" if dense else "vector without a name"


def _cosines(old: NDArray[np.float32], new: NDArray[np.float32]) -> list[float]:
    lengths = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
    dots = (old * new).sum(axis=1)
    return [
        float(value)
        for value in np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    ]

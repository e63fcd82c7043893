"""The embedded engine: Qdrant's own, in this process, filled anew each time it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from qdrant_edge import (
    Bm25,
    CountRequest,
    FieldCondition,
    MatchAny,
    PayloadSchemaType,
    Point,
    Query,
    QueryRequest,
    SearchParams,
    UpdateOperation,
)
from qdrant_edge import Filter as Condition

from app.core.corpus import Filter
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey, Hit
from app.engines.edge_shard import Shard
from app.engines.points import (
    DENSE,
    SPARSE,
    VectorsOf,
    encoder,
    payload_name,
)
from app.engines.retrieval import (
    BEYOND,
    Asked,
    Outcome,
    Search,
    Side,
    of_sides,
    one_side,
    side_depth,
    sides_of,
    significant,
)

_BATCH = 512
_TYPE = PayloadSchemaType.Keyword  # of every value, for all are marked
#: Points whose vectors are asked for at a time.
_PAGE = 100


def kind() -> dict[str, str]:
    """What decides a ranking beside the settings: the engine and its versions."""
    return {
        "engine": "qdrant edge, in this process",
        "qdrant-edge-py": version("qdrant-edge-py"),
        "bm25": encoder(),
    }


class EdgeEngine:
    """All chunks of a corpus, eligible or not. A point's id is its chunk's place among them."""

    batch = 1  # no request to save
    workers = 1  # one search takes a millisecond; embedding its question takes longer
    ordered = False

    def __init__(
        self,
        chunks: Sequence[Chunk],
        vectors_of: VectorsOf | None,
        dimension: int | None,
        filters: Filter,
    ) -> None:
        """Fill it. Raises EngineError, and what `vectors_of` raises."""
        self._keys = [chunk.key for chunk in chunks]
        self._dense = vectors_of is not None and bool(dimension)
        self._bm25 = Bm25()
        self._shard = Shard(dimension if self._dense else None)
        try:
            for start in range(0, len(chunks), _BATCH):
                self._put(start, chunks[start : start + _BATCH], vectors_of)
            for field in filters:
                index = UpdateOperation.create_field_index(payload_name(field), _TYPE)
                self._shard.write("filling", partial(_update, index))
        except BaseException:
            self._shard.close()
            raise

    def _put(self, start: int, chunks: Sequence[Chunk], vectors_of: VectorsOf | None) -> None:
        vectors = vectors_of(chunks).tolist() if vectors_of and self._dense else None

        def point(place: int, chunk: Chunk) -> Point:
            named: dict[str, Any] = {SPARSE: self._bm25.embed_document(chunk.text)}
            if vectors is not None:
                named[DENSE] = vectors[place]
            return Point(start + place, named, _payload(chunk))

        def put(shard: Any) -> None:
            points = [point(place, chunk) for place, chunk in enumerate(chunks)]
            _update(UpdateOperation.upsert_points(points), shard)

        self._shard.write("filling", put)

    def description(self) -> dict[str, Any]:
        """Engine and versions."""
        return dict(kind())

    def remarks(self) -> dict[str, Any]:
        """Nothing beyond the hits."""
        return {}

    def interrupt(self) -> None:
        """Nothing: what is under way ends by itself within moments."""

    def close(self) -> None:
        """Give its room back now; it cannot be asked again."""
        self._shard.close()

    def count(self, filters: Filter | None = None) -> int:
        """The number of points, or of those that pass the filter, as the engine counts them."""
        found: int = self._shard.call(
            "counting points",
            lambda shard: shard.count(CountRequest(filter=_condition(filters or {}), exact=True)),
        )
        return found

    def held(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, frozenset[Side]]:
        """The sides by which each chunk can be found; see `Engine`."""
        wanted = frozenset(keys)
        ids = [place for place, key in enumerate(self._keys) if key in wanted]
        names = [DENSE, SPARSE] if self._dense else [SPARSE]
        found: dict[ChunkKey, frozenset[Side]] = {}
        for start in range(0, len(ids), _PAGE):
            some = ids[start : start + _PAGE]
            for place, vectors in self._shard.call(
                "reading vectors", partial(_vectors, some, names)
            ):
                words = vectors.get(SPARSE)
                lexical = words is not None and bool(words.indices)
                found[self._keys[place]] = sides_of(DENSE in vectors, lexical)
        return found

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question; see `Engine`."""
        return [self._outcome(search, one) for one in asked]

    def _outcome(self, search: Search, asked: Asked) -> Outcome:
        """Sides where nothing can match are not searched: lexically, of stop words alone."""
        sides = []
        try:
            if search.mode != "sparse" and asked.vector is not None:
                sides.append(self._side(search, DENSE, asked.vector.tolist()))
            if search.mode != "dense":
                words = self._bm25.embed_query(asked.text)
                if words.indices:
                    sides.append(self._side(search, SPARSE, words))
        except EngineError as error:
            return error
        return of_sides(search, sides)

    def _side(self, search: Search, using: str, query: Any) -> list[Hit]:
        """The hits of one side, in our order."""

        def found(limit: int) -> list[tuple[float, ChunkKey]]:
            def ask(shard: Any) -> list[Any]:
                request = QueryRequest(
                    query=Query.Nearest(query, using=using),
                    filter=_condition(search.filters),
                    limit=limit,
                    params=SearchParams(exact=True),
                )
                return list(shard.query(request))

            points = self._shard.call("searching", ask)
            return [(significant(one.score) + 0.0, self._keys[one.id]) for one in points]

        depth = side_depth(search)
        return one_side(found(depth + BEYOND), depth, found)


def _vectors(ids: list[int], names: list[str], shard: Any) -> list[tuple[int, dict[str, Any]]]:
    """The ids of the points that are there, with those of their vectors that they have."""
    return [(one.id, one.vector or {}) for one in shard.retrieve(ids, False, names)]


def _update(operation: UpdateOperation, shard: Any) -> None:
    shard.update(operation)


def _marked(value: object) -> str:
    """A value with its type: the engine takes True for 1, and the corpus does not."""
    return f"{type(value).__name__} {value}"


def _payload(chunk: Chunk) -> dict[str, Any]:
    """What a chunk is filtered by."""
    return {
        payload_name(name): [_marked(one) for one in value]
        if isinstance(value, list)
        else _marked(value)
        for name, value in chunk.fields.items()
    }


def _condition(filters: Filter) -> Condition | None:
    """Every field must hold one of its allowed values."""
    if not filters:
        return None
    return Condition(
        must=[
            FieldCondition(
                key=payload_name(name), match=MatchAny([_marked(value) for value in allowed])
            )
            for name, allowed in filters.items()
        ]
    )

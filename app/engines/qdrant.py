"""One Qdrant collection, on a server or in local mode: counted and searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_edge import Bm25

from app.core.corpus import Filter
from app.core.errors import EngineError, Unreachable
from app.core.model import ChunkKey, Hit
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_requests import OWN, Layout, filter_of, requests_of, versions
from app.engines.qdrant_source import shape_of, stored
from app.engines.retrieval import (
    BEYOND,
    ENOUGH,
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

#: Points whose vectors are asked for at a time.
_PAGE = 100


def kind(connection_is_server: bool) -> dict[str, str]:
    """What decides a ranking beside the settings: the kind of engine and versions here."""
    name = "qdrant server" if connection_is_server else "qdrant-client, in memory"
    return {"engine": name, **versions()}


class QdrantEngine:
    """A filled collection. `keys` are the chunks of its points, by point id."""

    ordered = False

    def __init__(
        self,
        connection: Connection,
        name: str,
        keys: Mapping[Any, ChunkKey],
        layout: Layout = OWN,
        stale: Callable[[ChunkKey, Mapping[str, Any]], bool] | None = None,
    ) -> None:
        """Nothing is asked of the collection yet.

        `stale` says whether a hit's payload is no longer that of its chunk.
        """
        self._stale = stale
        self._connection = connection
        self._name = name
        self._keys = keys
        self._layout = layout
        self._bm25 = Bm25()

    @property
    def batch(self) -> int:
        """Questions in one request; one where there is no request to save."""
        return self._connection.server.batch if self._connection.server else 1

    @property
    def workers(self) -> int:
        """Requests at a time."""
        return self._connection.server.concurrency if self._connection.server else 1

    def description(self) -> dict[str, Any]:
        """Engine and versions; for a server also its own version, where it is, and the collection.

        Raises EngineError where the server does not tell.
        """
        server = self._connection.server
        found: dict[str, Any] = kind(server is not None)
        if server is not None:
            info = self._connection.call("asking for its version", self._connection.client.info)
            found |= {"server": server.host, "version": info.version, "collection": self._name}
        if self._layout.distance:
            found["score"] = "negated distance"
        return found

    def remarks(self) -> dict[str, Any]:
        """Nothing beyond the hits."""
        return {}

    def interrupt(self) -> None:
        """Requests under way end within their time and are not tried again."""
        self._connection.interrupt()

    def count(self, filters: Filter | None = None) -> int:
        """The number of points, or of those that pass the filter, as the engine counts them."""
        wanted = filter_of(filters or {}, self._layout)
        return self._connection.call(
            "counting points",
            lambda: self._connection.client.count(self._name, count_filter=wanted, exact=True),
        ).count

    def held(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, frozenset[Side]]:
        """The sides by which each chunk can be found; see `Engine`."""
        wanted = frozenset(keys)
        points = {identity: key for identity, key in self._keys.items() if key in wanted}
        ids, found = list(points), dict[ChunkKey, frozenset[Side]]()
        if not ids:
            return found
        # A server refuses to be asked for a vector that the collection has of no point.
        shape = shape_of(self._connection, self._name)
        dense = self._layout.dense if self._layout.dense in shape.dense else None
        sparse = self._layout.sparse if self._layout.sparse in shape.sparse else ""
        for start in range(0, len(ids), _PAGE):
            some = ids[start : start + _PAGE]
            there = stored(self._connection, self._name, some, dense, sparse)
            for identity, one in there.items():
                found[points[identity]] = sides_of(one.dense is not None, bool(one.sparse))
        return found

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question; see `Engine`.

        Goes as far beyond the depth as equal scores reach, so that their order is ours; in a hybrid
        search so far on each side, for ranks are fused.
        """
        depth = side_depth(search)
        sides = [
            requests_of(search, depth + BEYOND, one, self._bm25, self._layout) for one in asked
        ]
        try:
            answers = iter(self._query([request for one in sides for request in one]))
        except EngineError as error:
            if len(asked) == 1 or not _may_be_one_alone(error):
                return [error] * len(asked)
            return self._one_by_one(search, asked)
        return [
            self._outcome(search, depth, [(request, next(answers)) for request in one])
            for one in sides
        ]

    def _one_by_one(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """Questions of a batch that failed: one may have spoiled it for all."""
        found: list[Outcome] = []
        for one in asked:
            last = found[-ENOUGH:]
            if len(last) == ENOUGH and all(isinstance(outcome, Unreachable) for outcome in last):
                found.append(last[-1])
            else:
                found += self.search_many(search, [one])
        return found

    def _outcome(
        self,
        search: Search,
        depth: int,
        answers: Sequence[tuple[models.QueryRequest, list[models.ScoredPoint]]],
    ) -> Outcome:
        try:
            sides = [self._settled(request, depth, points) for request, points in answers]
        except EngineError as error:
            return error
        return of_sides(search, sides)

    def _settled(
        self, request: models.QueryRequest, depth: int, points: list[models.ScoredPoint]
    ) -> list[Hit]:
        """The hits of one query, in our order."""
        lexical = isinstance(request.query, models.SparseVector)
        sign = -1.0 if self._layout.distance and not lexical else 1.0

        def scored(points: list[models.ScoredPoint]) -> list[tuple[float, ChunkKey]]:
            # A distance of 0 is 0, not -0.0.
            return [(sign * significant(one.score) + 0.0, self._key(one)) for one in points]

        def deeper(limit: int) -> list[tuple[float, ChunkKey]]:
            (found,) = self._query([request.model_copy(update={"limit": limit})])
            return scored(found)

        return one_side(scored(points), depth, deeper)

    def _key(self, point: models.ScoredPoint) -> ChunkKey:
        identity = point.id
        key = self._keys.get(identity)
        if key is None:
            raise EngineError(
                f"{self._connection.name} returned the point {identity}, which is not in this "
                "corpus",
                remedy=self._connection.missing,
            )
        if self._stale is not None and self._stale(key, point.payload or {}):
            raise EngineError(
                f"{self._connection.name} returned the point {identity} with another text than "
                f"{key.short()} had when it was synced",
                remedy=self._connection.missing,
            )
        return key

    def _query(self, wanted: list[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        if not wanted:
            return []
        answers = self._connection.call(
            "searching", lambda: self._connection.client.query_batch_points(self._name, wanted)
        )
        if len(answers) != len(wanted):
            raise Unreachable(
                f"{self._connection.name} sent {len(answers)} answers to {len(wanted)} queries",
                remedy="Check that qdrant_url leads to a Qdrant server, and its version",
            )
        return [one.points for one in answers]


def _may_be_one_alone(error: EngineError) -> bool:
    """Whether a batch may have failed because of one of its questions.

    Where nobody answers, or all are refused alike, asking one by one would only take longer.
    """
    cause = error.__cause__
    if not isinstance(cause, UnexpectedResponse):
        return False
    return not isinstance(error, Unreachable) or cause.status_code == 500

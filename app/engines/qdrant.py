"""One Qdrant collection, embedded or on a server: counted and searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_edge import Bm25

from app.core.corpus import Filter
from app.core.errors import EngineError, Unreachable
from app.core.model import ChunkKey
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_requests import OWN, Layout, filter_of, request_of, versions
from app.engines.retrieval import BEYOND, Asked, Outcome, Search, settled, significant


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
    ) -> None:
        """Nothing is asked of the collection yet."""
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
        """Requests under way end within their time; there is nothing else to end."""

    def count(self, filters: Filter | None = None) -> int:
        """The number of points, or of those that pass the filter, as the engine counts them."""
        wanted = filter_of(filters or {}, self._layout)
        return self._connection.call(
            "counting points",
            lambda: self._connection.client.count(self._name, count_filter=wanted, exact=True),
        ).count

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question; see `Engine`.

        Goes as far beyond the depth as equal scores reach, so that their order is ours.
        """
        limit = search.depth + BEYOND
        try:
            answers = self._query(search, limit, asked)
        except EngineError as error:
            if len(asked) == 1 or not isinstance(error.__cause__, UnexpectedResponse):
                # Nobody answers: asking one by one would only take longer.
                return [error] * len(asked)
            return [self.search_many(search, [one])[0] for one in asked]
        return [
            self._settled(search, limit, one, points)
            for one, points in zip(asked, answers, strict=True)
        ]

    def _settled(
        self, search: Search, limit: int, asked: Asked, points: list[models.ScoredPoint]
    ) -> Outcome:
        sign = -1.0 if self._layout.distance and search.mode == "dense" else 1.0
        try:
            while True:
                scored = [(sign * significant(one.score), self._key(one.id)) for one in points]
                hits = settled(scored, search.depth, limit)
                if hits is not None:
                    return hits
                limit *= 2
                (points,) = self._query(search, limit, [asked])
        except EngineError as error:
            return error

    def _key(self, identity: Any) -> ChunkKey:
        key = self._keys.get(identity)
        if key is None:
            raise EngineError(
                f"{self._connection.name} returned the point {identity}, which is not in this "
                "corpus",
                remedy=self._connection.missing,
            )
        return key

    def _query(
        self, search: Search, limit: int, asked: Sequence[Asked]
    ) -> list[list[models.ScoredPoint]]:
        requests = [request_of(search, limit, one, self._bm25, self._layout) for one in asked]
        wanted = [one for one in requests if one is not None]
        if not wanted:
            return [[] for _ in asked]
        answers = self._connection.call(
            "searching", lambda: self._connection.client.query_batch_points(self._name, wanted)
        )
        if len(answers) != len(wanted):
            raise Unreachable(
                f"{self._connection.name} sent {len(answers)} answers to {len(wanted)} questions",
                remedy="Check that qdrant_url leads to a Qdrant server, and its version",
            )
        left = iter(answers)
        return [[] if one is None else next(left).points for one in requests]

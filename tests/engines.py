"""Small collections to search in tests: in Qdrant's local mode, on a server, in this process."""

from math import floor, log10

from qdrant_client import QdrantClient

from app.engines.edge import EdgeEngine
from app.engines.qdrant import QdrantEngine
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_filling import fill
from app.engines.qdrant_requests import OWN, point_id
from app.engines.retrieval import search_one


def rows_of(chunks, vectors):
    """What gives an engine the vectors of some of the chunks."""
    rows = {c.key: i for i, c in enumerate(chunks)}
    return None if vectors is None else lambda batch: vectors[[rows[c.key] for c in batch]]


class Searched:
    """Searches over an engine."""

    engine = None

    def search(self, search, text, vector):
        return search_one(self.engine, search, text, vector)

    def count(self, filters=None):
        return self.engine.count(filters)


class Shelf(Searched):
    """Chunks and vectors put into one collection: in the client's local mode, the engine every
    other one is held against, unless there is a connection to a server.
    """

    def __init__(self, connection=None, name="chunks", layout=OWN):
        self.connection = connection or Connection(QdrantClient(":memory:"))
        self.name = name
        self.keys = {}
        self.engine = QdrantEngine(self.connection, name, self.keys, layout)

    def fill(self, chunks, vectors, dimension, filters=None):
        self.keys.update({point_id(c.key): c.key for c in chunks})
        of = rows_of(chunks, vectors)
        return fill(self.connection, self.name, chunks, of, dimension, filters or {})


class EdgeShelf(Searched):
    """The same in this process's own engine, which is filled once."""

    def fill(self, chunks, vectors, dimension, filters=None):
        self.engine = EdgeEngine(chunks, rows_of(chunks, vectors), dimension, filters or {})
        return len(chunks)


def near(one, other):
    """Whether two scores differ by no more than two engines' ways to add: 2 in the 6th digit."""
    return (
        abs(one - other) <= 2.000001 * 10 ** (floor(log10(max(abs(one), abs(other)))) - 5)
        if one != other
        else True
    )


def same_ranking(found, wanted):
    """Whether two engines' hits have the same keys, ranks and scores, apart from what they add
    in another order. Hits are (key, rank, score).
    """
    return [hit[:2] for hit in found] == [hit[:2] for hit in wanted] and all(
        near(one[2], other[2]) for one, other in zip(found, wanted, strict=True)
    )

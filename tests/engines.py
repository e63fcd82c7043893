"""A small Qdrant collection to search in tests, embedded or behind a connection."""

from app.engines.qdrant import QdrantEngine
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_filling import fill
from app.engines.qdrant_requests import OWN, point_id
from app.engines.retrieval import search_one


class Shelf:
    """Chunks and vectors put into one collection, and searches over it."""

    def __init__(self, connection=None, name="chunks", layout=OWN):
        self.connection = connection or Connection.embedded()
        self.name = name
        self.keys = {}
        self.engine = QdrantEngine(self.connection, name, self.keys, layout)

    def fill(self, chunks, vectors, dimension, filters=None):
        rows = {c.key: i for i, c in enumerate(chunks)}
        of = None if vectors is None else lambda batch: vectors[[rows[c.key] for c in batch]]
        self.keys.update({point_id(c.key): c.key for c in chunks})
        return fill(self.connection, self.name, chunks, of, dimension, filters or {})

    def search(self, search, text, vector):
        return search_one(self.engine, search, text, vector)

    def count(self, filters=None):
        return self.engine.count(filters)

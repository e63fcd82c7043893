"""What an engine says it holds of a chunk: by which sides it can be found."""

import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from qdrant_edge import UpdateOperation

from app.core.corpus import Corpus
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from app.engines.qdrant import QdrantEngine
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_requests import Layout, point_id
from tests.engines import EdgeShelf, Shelf
from tests.qdrant_server import QdrantServer
from tests.serving import connection

BOTH = frozenset({"dense", "sparse"})
TEXTS = {"found": "apple", "deleted": "pear", "bare": "plum", "silent": "the of", "out": "quince"}


def key(name):
    return ChunkKey("doc", "v1", name)


def chunk(name, text):
    return Chunk(key(name), text, text_hash(text), fields={"kind": name})


CHUNKS = [chunk(*one) for one in TEXTS.items()]
KEYS = [*map(key, TEXTS), key("unknown")]


@pytest.fixture
def server():
    with QdrantServer() as made:
        yield made


@pytest.fixture(params=["edge", "local", "server"])
def emptied(request):
    """Makes an engine from which a point and the vector of another one are gone."""

    def make(vectors=True):
        if request.param == "edge":
            made = EdgeShelf()
        elif request.param == "local":
            made = Shelf()
        else:
            made = Shelf(connection(request.getfixturevalue("server")))
        rows = np.eye(5, dtype=np.float32) if vectors else None
        made.fill(CHUNKS, rows, 5, {"kind": ["found"]})
        if request.param == "edge":
            shard = made.engine._shard
            shard.call("deleting", lambda one: one.update(UpdateOperation.delete_points([1])))
            if vectors:
                bare = UpdateOperation.delete_vectors([2], ["dense"])
                shard.call("deleting", lambda one: one.update(bare))
        else:
            client = made.connection.client
            if request.param == "server":
                client = request.getfixturevalue("server").client
            client.delete("chunks", models.PointIdsList(points=[point_id(key("deleted"))]))
            if vectors:
                client.delete_vectors("chunks", ["dense"], [point_id(key("bare"))])
        return made.engine

    return make


def test_by_what_each_chunk_can_be_found(emptied):
    assert emptied().held(KEYS) == {
        key("found"): BOTH,
        key("bare"): {"sparse"},
        key("silent"): {"dense"},
        key("out"): BOTH,
    }


def test_where_nothing_was_embedded(emptied):
    assert emptied(vectors=False).held(KEYS) == {
        key("found"): {"sparse"},
        key("bare"): {"sparse"},
        key("silent"): frozenset(),
        key("out"): {"sparse"},
    }


def test_only_what_is_asked_for(emptied):
    engine = emptied()
    assert engine.held([]) == {} and engine.held([key("unknown")]) == {}
    assert engine.held([key("out"), key("out")]) == {key("out"): BOTH}


def test_a_foreign_collection_with_an_unnamed_vector():
    client = QdrantClient(":memory:")
    client.create_collection(
        "theirs",
        vectors_config=models.VectorParams(size=2, distance=models.Distance.EUCLID),
        sparse_vectors_config={"words": models.SparseVectorParams()},
    )
    words = models.SparseVector(indices=[3], values=[1.0])
    client.upsert(
        "theirs",
        [
            models.PointStruct(id=1, vector={"": [1.0, 0.0], "words": words}, payload={}),
            models.PointStruct(id=2, vector={"words": words}, payload={}),
            models.PointStruct(id=3, vector={"": [1.0, 0.0]}, payload={}),
        ],
    )
    keys = {n: key(f"c{n}") for n in (1, 2, 3, 4)}

    def held(layout):
        return QdrantEngine(Connection(client), "theirs", keys, layout).held(list(keys.values()))

    assert held(Layout("", "words", True)) == {
        keys[1]: BOTH,
        keys[2]: {"sparse"},
        keys[3]: {"dense"},
    }
    # A configuration that searches by words alone names no vector, another one that is not there.
    assert held(Layout("", "", True))[keys[1]] == {"dense"}
    assert held(Layout("other", "words", True))[keys[1]] == {"sparse"}


def test_more_chunks_than_are_asked_for_at_a_time():
    chunks = [chunk(f"c{n:03}", "apple") for n in range(250)]
    for made in (EdgeShelf(), Shelf()):
        made.fill(chunks, np.ones((250, 2), np.float32), 2)
        assert made.engine.held([one.key for one in chunks]) == {one.key: BOTH for one in chunks}


def test_a_server_that_does_not_answer(server):
    shelf = Shelf(connection(server))
    shelf.fill(CHUNKS, np.eye(5, dtype=np.float32), 5)
    server.fail(500)
    with pytest.raises(EngineError, match="failed while looking at the collection"):
        shelf.engine.held(KEYS)


def test_a_program_cannot_be_asked(tmp_path):
    program = Program(None, ("true",), tmp_path, None, 1.0, 1)
    assert ExternalEngine(program, Answers(program.name, Corpus({}, 0))).held(KEYS) is None

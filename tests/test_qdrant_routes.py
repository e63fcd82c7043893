"""The routes of the test double of a Qdrant server: answers and refusals over HTTP."""

import httpx
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from tests.qdrant_server import QdrantServer

NAMES = {
    "cosine": models.VectorParams(size=3, distance=models.Distance.COSINE),
    "dot": models.VectorParams(size=2, distance=models.Distance.DOT),
    "euclid": models.VectorParams(size=2, distance=models.Distance.EUCLID),
}
SPARSE = {"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)}
IDS = [1, 2, "6f1d6a55-5b6c-4a7e-9a52-6f0f3f1f7f10", 4, 5, 6]
RED = models.Filter(
    must=[models.FieldCondition(key="colour", match=models.MatchValue(value="red"))]
)
BM25 = models.SparseVector(indices=[1, 7], values=[1.0, 0.3])


def sparse(n):
    return models.SparseVector(indices=[n % 3, 7], values=[0.1 + n / 3, 1 / (n + 1)])


POINTS = [
    models.PointStruct(
        id=identity,
        vector={
            "cosine": [0.1 * n, 1 / 3, 1.0],
            "dot": [float(n), 0.1],
            "euclid": [n / 7, -1.0],
            "bm25": sparse(n),
        },
        payload={"colour": "red" if n % 2 else "blue", "n": n, "Größe": [1.5, None, {"a": "ü"}]},
    )
    for n, identity in enumerate(IDS)
]


def fill(client):
    client.create_collection("named", vectors_config=NAMES, sparse_vectors_config=SPARSE)
    client.upsert("named", POINTS)
    client.create_collection("plain", vectors_config=NAMES["cosine"])
    rows = [[0.3, 0.2, 0.1], [0.1, 0.5, 0.9]]
    client.upsert("plain", models.Batch(ids=[1, 2], vectors=rows, payloads=[{"a": 1}, {}]))


@pytest.fixture
def server():
    with QdrantServer() as server:
        yield server


@pytest.fixture
def filled(server):
    """A server that was filled over HTTP."""
    fill(server.connect())
    return server


@pytest.fixture(scope="module")
def remote():
    """A client of a filled server, not to be changed."""
    with QdrantServer() as server:
        fill(client := server.connect())
        yield client


@pytest.fixture(scope="module")
def local():
    client = QdrantClient(":memory:")
    fill(client)
    return client


def hybrid(client, k):
    sides = [([0.3, 0.1, 0.2], "cosine"), (BM25, "bm25")]
    prefetch = [models.Prefetch(query=q, using=u, filter=RED, limit=4) for q, u in sides]
    return client.query_points(
        "named", query=models.RrfQuery(rrf=models.Rrf(k=k)), prefetch=prefetch, with_payload=False
    )


def batch(client):
    asked = [
        models.QueryRequest(query=[0.2, 0.3], using="dot", limit=2, with_payload=True),
        models.QueryRequest(query=BM25, using="bm25", limit=3, with_payload=["n"]),
        models.QueryRequest(query=BM25, using="bm25"),
    ]
    return client.query_batch_points("named", asked)


ALIKE = {
    "info": lambda c: c.info(),
    "collections": lambda c: c.get_collections(),
    "collection": lambda c: c.get_collection("named"),
    "unnamed collection": lambda c: c.get_collection("plain"),
    "exists": lambda c: [c.collection_exists(name) for name in ("named", "gone")],
    "count": lambda c: [c.count("named"), c.count("named", count_filter=RED, exact=True)],
    "cosine": lambda c: c.query_points("named", query=[0.3, 0.1, 0.2], using="cosine"),
    "dot": lambda c: c.query_points("named", query=[1.0, 3.0], using="dot", query_filter=RED),
    "euclid": lambda c: c.query_points("named", query=[1, 3], using="euclid", limit=2, offset=1),
    "unnamed": lambda c: c.query_points("plain", query=[1.0, 3.0, 2.0], with_vectors=True),
    "sparse": lambda c: c.query_points("named", query=BM25, using="bm25", with_payload=["n"]),
    "by id": lambda c: c.query_points("named", query=IDS[2], using="dot", score_threshold=0.2),
    "vectors": lambda c: c.query_points("named", with_vectors=["bm25", "dot"]),
    "rrf with 60": lambda c: hybrid(c, 60),
    "rrf without k": lambda c: hybrid(c, None),
    "batch": batch,
    "scroll": lambda c: c.scroll("named", limit=2, with_vectors=True),
    "scroll on": lambda c: c.scroll("named", RED, 2, offset=IDS[3], with_payload=False),
    "scroll by field": lambda c: c.scroll("named", limit=3, order_by="n"),
    "retrieve": lambda c: c.retrieve("named", [IDS[2], 4, 99], with_vectors=True),
    "retrieve payloads": lambda c: c.retrieve("plain", [1], with_payload=["a"]),
    "index": lambda c: c.create_payload_index("named", "n", models.PayloadSchemaType.INTEGER),
    "delete what is not there": lambda c: c.delete_collection("gone"),
}


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.parametrize("ask", ALIKE.values(), ids=ALIKE.keys())
def test_answers_are_those_of_the_local_client(remote, local, ask):
    assert ask(remote) == ask(local)


@pytest.mark.parametrize("selector", [[1, IDS[2]], RED], ids=["ids", "filter"])
def test_points_and_collections_are_deleted(filled, selector):
    local, client = QdrantClient(":memory:"), filled.connect()
    fill(local)
    assert client.delete("named", selector) == local.delete("named", selector)
    assert client.scroll("named", with_vectors=True) == local.scroll("named", with_vectors=True)
    assert client.delete_collection("named") is True
    assert not filled.client.collection_exists("named")


def test_uploads_and_odd_names_pass(server):
    client = server.connect()
    client.create_collection("straße a%2Fb", vectors_config=NAMES["cosine"])
    client.upload_points("straße a%2Fb", [models.PointStruct(id=1, vector=[1, 0, 0])])
    assert server.client.count("straße a%2Fb").count == 1
    assert ("PUT", "/collections/straße a%2Fb/points") in server.requests


REFUSED = {
    "no collection": (lambda c: c.count("x"), 404, "Not found: Collection `x` doesn't exist!"),
    "collection twice": (
        lambda c: c.create_collection("plain", vectors_config=NAMES["dot"]),
        409,
        "Wrong input: Collection `plain` already exists!",
    ),
    "no point": (
        lambda c: c.query_points("plain", query=77),
        404,
        "Not found: No point with id 77 found",
    ),
    "no vector": (
        lambda c: c.query_points("plain", query=[1.0], using="x"),
        400,
        "Wrong input: Not existing vector name error: x",
    ),
    "dimension": (
        lambda c: c.upsert("plain", [models.PointStruct(id=1, vector=[1.0])]),
        400,
        "Wrong input: Vector dimension error: expected dim: 3, got 1",
    ),
    "dimension of a dot query": (
        lambda c: c.query_points("named", query=[1.0, 2.0, 3.0], using="dot"),
        400,
        "Wrong input: Vector dimension error: expected dim: 2, got 3",
    ),
    "dimension of a Euclid query": (
        lambda c: c.query_points("named", query=[1.0, 2.0, 3.0], using="euclid"),
        400,
        "Wrong input: Vector dimension error: expected dim: 2, got 3",
    ),
    "nothing to do": (lambda c: c.upsert("plain", []), 400, "Empty update request"),
    "not in the double": (
        lambda c: c.clear_payload("plain", [1]),
        501,
        "POST /collections/plain/points/payload/clear is not in tests/qdrant_routes.py",
    ),
}


@pytest.mark.parametrize(("ask", "status", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_are_those_of_a_server(remote, ask, status, text):
    with pytest.raises(UnexpectedResponse) as caught:
        ask(remote)
    assert caught.value.status_code == status
    assert caught.value.structured() == {"status": {"error": text}, "time": 0.0}


def test_bad_json_and_unknown_paths_are_refused(filled):
    url = f"{filled.url}/collections/plain/points/count"
    assert httpx.post(url, content=b"{").status_code == 400
    assert "JSON body" in httpx.post(url, json={"nonsense": 1}).json()["status"]["error"]
    answer = httpx.get(f"{filled.url}/prefix/collections")
    assert (answer.status_code, answer.content) == (404, b"")

"""The test double of a Qdrant server: what it records, and how it fails."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from qdrant_client import models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from tests.qdrant_server import QdrantServer


@pytest.fixture
def server():
    with QdrantServer() as server:
        yield server


@pytest.fixture
def filled(server):
    """A server with a collection of two points."""
    params = models.VectorParams(size=3, distance=models.Distance.COSINE)
    server.client.create_collection("plain", vectors_config=params)
    rows = [[0.3, 0.2, 0.1], [0.1, 0.5, 0.9]]
    server.client.upsert("plain", models.Batch(ids=[1, 2], vectors=rows))
    return server


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_an_api_key_is_asked_for(server):
    server.api_key = "secret"
    assert server.connect(api_key="secret").get_collections().collections == []
    assert server.connect().info().version
    for key, text in [("wrong", "Invalid API key or JWT"), (None, "Must provide an API key")]:
        with pytest.raises(UnexpectedResponse, match="401") as caught:
            server.connect(api_key=key).get_collections()
        assert text in str(caught.value)


def test_requests_and_writes_are_recorded(filled):
    filled.forget()
    client = filled.connect()
    client.count("plain")
    client.query_points("plain", query=[1.0, 2.0, 3.0])
    client.scroll("plain")
    client.retrieve("plain", [1])
    assert filled.writes == []
    filled.fail(500, path="PUT")
    with pytest.raises(UnexpectedResponse):
        client.upsert("plain", [models.PointStruct(id=9, vector=[1.0, 2.0, 3.0])])
    client.delete("plain", [1])
    tried = [("PUT", "/collections/plain/points"), ("POST", "/collections/plain/points/delete")]
    assert filled.writes == tried
    assert filled.requests[0] == ("POST", "/collections/plain/points/count")
    assert len(filled.requests) == 6


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 429, 500, 503, 507])
def test_a_failure_shows_as_its_status(server, status):
    server.fail(status, times=2, path="/collections")
    client = server.connect()
    for _ in range(2):
        with pytest.raises(UnexpectedResponse) as caught:
            client.get_collections()
        assert caught.value.status_code == status
        assert caught.value.structured()["status"]["error"] == caught.value.reason_phrase
    assert client.get_collections().collections == []


def test_a_rate_limit_says_when_to_come_again(server):
    text = "Rate limiting exceeded: try later"
    server.fail(429, body={"status": {"error": text}, "time": 0.0}, headers={"Retry-After": "3"})
    with pytest.raises(ResourceExhaustedResponse, match=text) as caught:
        server.connect().get_collections()
    assert caught.value.retry_after_s == 3


BROKEN = {
    "dropped": (lambda s: s.drop(), ResponseHandlingException),
    "no JSON": (lambda s: s.garbage(), json.JSONDecodeError),
    "other JSON": (lambda s: s.fail(200, body={"result": 3}), ResponseHandlingException),
    "no result": (lambda s: s.fail(200, body={}), AssertionError),
    "refused": (lambda s: s.stop(), ResponseHandlingException),
    "a page": (lambda s: s.fail(502, body="<html>Bad Gateway"), UnexpectedResponse),
}


@pytest.mark.parametrize(("breaking", "error"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_answer_shows_as_the_clients_exception(server, breaking, error):
    breaking(server)
    with pytest.raises(error):
        server.connect().get_collections()
    server.heal()
    server.start()
    assert server.connect().get_collections().collections == []


def test_faults_apply_in_order(server):
    server.drop(times=1)
    server.fail(503, times=1, path="exists")
    server.fail(500, times=1)
    client = server.connect()
    with pytest.raises(ResponseHandlingException):
        client.collection_exists("x")
    with pytest.raises(UnexpectedResponse, match="503"):
        client.collection_exists("x")
    with pytest.raises(UnexpectedResponse, match="500"):
        client.collection_exists("x")
    assert client.collection_exists("x") is False


def test_a_hanging_server_is_timed_out(server):
    server.hang(60, times=1)
    with pytest.raises(ResponseHandlingException) as caught:
        server.connect(timeout=1).get_collections()
    assert isinstance(caught.value.source, httpx.ReadTimeout)
    assert server.connect(timeout=1).get_collections().collections == []


def test_a_hang_is_followed_by_the_answer(server):
    server.hang(0.1)
    started = time.monotonic()
    assert server.connect().get_collections().collections == []
    assert time.monotonic() - started >= 0.1


def test_a_hang_ends_when_the_server_stops(server):
    server.hang(60)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.connect().get_collections)
        while not server.requests:
            time.sleep(0.001)
        started = time.monotonic()
        server.stop()
        assert isinstance(asked.exception(5), ResponseHandlingException)
        assert time.monotonic() - started < 2


def test_it_stops_at_once_and_starts_again_on_its_port(filled):
    url, client = filled.url, filled.connect()
    with httpx.Client(base_url=url) as kept:
        assert kept.get("/collections").status_code == 200
        filled.stop()
        filled.stop()
        assert not filled.running
        with pytest.raises(httpx.ConnectError):
            kept.get("/collections")
    with pytest.raises(ResponseHandlingException) as caught:
        client.count("plain")
    assert isinstance(caught.value.source, httpx.ConnectError)
    filled.start()
    assert filled.url == url
    assert client.count("plain").count == 2


def test_it_dies_after_so_many_answers(filled):
    client = filled.connect()
    filled.die_after(3)
    assert [client.count("plain").count for _ in range(3)] == [2, 2, 2]
    sources = []
    for _ in range(2):
        with pytest.raises(ResponseHandlingException) as caught:
            client.count("plain")
        sources.append(type(caught.value.source))
    assert sources == [httpx.RemoteProtocolError, httpx.ConnectError]
    filled.start()
    assert client.count("plain").count == 2


def test_a_death_answers_what_was_admitted_before(filled):
    filled.hang(0.3)
    filled.die_after(4)
    client = filled.connect()
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(client.count, "plain") for _ in range(12)]
        errors = [one.exception() for one in asked]
    assert errors.count(None) == 4
    assert {type(one) for one in errors} == {type(None), ResponseHandlingException}


def test_requests_run_at_once_and_in_turn(filled):
    filled.forget()
    client = filled.connect()
    for _ in range(20):
        client.count("plain")
    assert filled.in_flight_peak == 1
    filled.hang(0.5, times=4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: client.count("plain"), range(4)))
    assert filled.in_flight_peak == 4


def test_writes_and_searches_at_once_agree(filled):
    client = filled.connect()

    def write(n):
        client.upsert("plain", [models.PointStruct(id=n, vector=[1.0, n, 2.0])])
        return client.query_points("plain", query=[1.0, 2.0, 3.0], limit=100).points

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(10, 60)))
    assert client.count("plain").count == 52


def test_hundreds_of_requests_are_fast_and_keep_their_connection(filled):
    filled.forget()
    before = threading.active_count()
    body = {"query": [0.1, 0.2, 0.3], "limit": 2}
    started = time.monotonic()
    with httpx.Client(base_url=filled.url) as kept:
        for _ in range(300):
            assert kept.post("/collections/plain/points/query", json=body).status_code == 200
        assert threading.active_count() <= before + 1
    assert time.monotonic() - started < 5  # 40 ms each, were small packets delayed
    assert len(filled.requests) == 300

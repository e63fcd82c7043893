"""Searches on a server in batches, several at a time, and what one failure means for the others."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from app.core.corpus import Corpus
from app.core.errors import EngineError, Unreachable
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines.retrieval import Asked, Search
from app.flows.searching import Searcher
from app.settings import Configuration
from tests import serving
from tests.engines import Shelf
from tests.qdrant_server import Answer, QdrantServer
from tests.serving import WORDS, connection

server = serving.server
DENSE = Search(mode="dense", depth=5, filters={})
QUERY = ("POST", "/collections/chunks/points/query/batch")
POISON = 7777.0


class Picky(QdrantServer):
    """Refuses every request that holds the poison with `status`."""

    status = 400

    def _answer(self, listener, method, parts, headers, body):
        if str(POISON).encode() in body:
            return Answer(self.status, b'{"status": {"error": "a bad query"}}', {})
        return super()._answer(listener, method, parts, headers, body)


@pytest.fixture
def picky():
    with Picky() as made:
        yield made


def chunk(n):
    text = f"{WORDS[n % len(WORDS)]} {WORDS[n // 3 % len(WORDS)]}"
    return Chunk(ChunkKey("doc", "v1", f"c{n:03}"), text, text_hash(text), eligible=True)


CHUNKS = [chunk(n) for n in range(40)]
VECTORS = np.random.default_rng(5).choice([-1.0, 1.0], (40, 16)).astype(np.float32)


def shelf_on(server, **options):
    made = Shelf(connection(server, **options))
    made.fill(CHUNKS, VECTORS, 16)
    server.forget()
    return made


def asked(count, poisoned=()):
    rows = [Asked("", VECTORS[n % 40].copy()) for n in range(count)]
    for n in poisoned:
        rows[n].vector[0] = POISON
    return rows


def searcher(shelf):
    return Searcher(
        configuration=Configuration(mode="sparse", depth=10),
        corpus=Corpus({one.key: one for one in CHUNKS}, 1),
        filters={},
        embedder=None,
        content="",
        kind={},
        fill=lambda: shelf.engine,
    )


def questions(count):
    return {f"q{n:03}": WORDS[n % len(WORDS)] for n in range(count)}


def failures(found):
    return [n for n, one in enumerate(found) if isinstance(one, EngineError)]


@pytest.mark.parametrize(("status", "requests"), [(400, 1 + 16), (422, 17), (500, 4 + 15 + 4)])
def test_one_bad_question_of_a_batch_fails_alone(picky, status, requests):
    shelf = shelf_on(picky)
    wanted = shelf.engine.search_many(DENSE, asked(16))
    picky.status = status
    picky.forget()
    found = shelf.engine.search_many(DENSE, asked(16, [5]))
    assert failures(found) == [5] and f"a bad query (status {status})" in str(found[5])
    assert found[:5] + found[6:] == wanted[:5] + wanted[6:]
    assert picky.requests == [QUERY] * requests


def test_several_bad_questions_of_a_batch_fail_alone(picky):
    found = shelf_on(picky).engine.search_many(DENSE, asked(16, [0, 7, 15]))
    assert failures(found) == [0, 7, 15]


# What the server does, and how often it is asked for a batch of 16.
ALL_ALIKE = {
    "dropped": (lambda s: s.drop(), 4),
    "429": (lambda s: s.fail(429), 4),
    "503": (lambda s: s.fail(503), 4),
    "500": (lambda s: s.fail(500), 4 + 5 * 4),
    "401": (lambda s: s.fail(401), 1),
    "403": (lambda s: s.fail(403), 1),
    "404": (lambda s: s.fail(404), 1),
    "gone": (lambda s: s.client.delete_collection("chunks"), 1),
    "no JSON": (lambda s: s.garbage(), 1),
    "400": (lambda s: s.fail(400), 1 + 16),
}


@pytest.mark.parametrize(("breaking", "requests"), ALL_ALIKE.values(), ids=ALL_ALIKE.keys())
def test_a_batch_that_fails_as_a_whole_is_asked_a_bounded_number_of_times(
    server, breaking, requests
):
    shelf = shelf_on(server)
    breaking(server)
    found = shelf.engine.search_many(DENSE, asked(16))
    assert failures(found) == list(range(16)) and len({str(one) for one in found}) == 1
    assert server.requests == [QUERY] * requests


@pytest.mark.parametrize("answers", [[], [{"points": []}] * 3])
def test_a_wrong_number_of_answers(server, answers):
    shelf = shelf_on(server)
    server.fail(200, body={"result": answers, "status": "ok", "time": 0.0})
    found = shelf.engine.search_many(DENSE, asked(2))
    assert [type(one) for one in found] == [Unreachable] * 2
    assert str(found[0]) == (
        f"{shelf.connection.name} sent {len(answers)} answers to 2 queries. Check that qdrant_url "
        "leads to a Qdrant server, and its version."
    )
    assert len(server.requests) == 1


def test_a_question_without_a_known_word_takes_no_answer_of_another(server):
    shelf = shelf_on(server)
    texts = ["the of", "apple", "?!", "pear", ""]
    for mode in ("sparse", "hybrid"):
        search = replace(DENSE, mode=mode, rrf_k=60 if mode == "hybrid" else None)
        many = shelf.engine.search_many(search, [Asked(text, VECTORS[0]) for text in texts])
        assert many == [shelf.search(search, text, VECTORS[0]) for text in texts]
        assert [bool(one) for one in many] == [mode == "hybrid" or n in (1, 3) for n in range(5)]
    server.forget()
    sparse = replace(DENSE, mode="sparse")
    assert shelf.engine.search_many(sparse, [Asked("the", None)] * 3) == [[], [], []]
    assert server.requests == []


@pytest.mark.parametrize(("batch", "concurrency"), [(1, 1), (7, 1), (16, 4), (7, 3), (1, 4)])
def test_the_number_of_requests_and_how_many_at_a_time(server, batch, concurrency):
    shelf = shelf_on(server, batch=batch, concurrency=concurrency)
    server.hang(0.02, times=8)
    found = list(searcher(shelf).rank_all(questions(50), 5))
    assert [one.ranking.question for one in found] == list(questions(50))
    assert all(one.error is None for one in found)
    assert server.requests == [QUERY] * -(-50 // batch)
    assert server.in_flight_peak <= concurrency
    assert (server.in_flight_peak > 1) == (concurrency > 1)
    assert shelf.engine.batch == batch and shelf.engine.workers == concurrency


@pytest.mark.parametrize(
    ("batch", "concurrency", "most"), [(1, 1, 20 + 5 * 4), (1, 4, 20 + 10 * 4), (7, 4, 20 + 5 * 4)]
)
def test_a_server_that_dies_is_left_alone_after_five_questions(server, batch, concurrency, most):
    shelf = shelf_on(server, batch=batch, concurrency=concurrency)
    tried = []
    call = shelf.connection.client.query_batch_points
    shelf.connection.client.query_batch_points = lambda *words: tried.append(1) or call(*words)
    server.die_after(20)
    asked = questions(400)
    found = {one.ranking.question: one.ranking for one in searcher(shelf).rank_all(asked, 5)}
    assert found.keys() == asked.keys()
    failed = [one.failure for one in found.values() if one.failure]
    assert len(failed) == 400 - 20 * batch and len(tried) <= most
    told = [one for one in failed if one.startswith("not searched: ")]
    assert len(told) >= len(failed) - 7 * 10
    assert {one.removeprefix("not searched: ").split(" while ")[0] for one in failed} <= {
        f"{shelf.connection.name} does not answer",
        f"the connection to {shelf.connection.name} broke off",
    }
    server.start()
    assert all(one.error is None for one in searcher(shelf).rank_all(questions(9), 5))


@pytest.mark.parametrize("status", [401, 404])
def test_a_key_or_a_collection_that_goes_meanwhile_is_noticed_soon(server, status):
    shelf = shelf_on(server, batch=2, concurrency=1)
    every = searcher(shelf).rank_all(questions(100), 5)
    assert all(next(every).error is None for _ in range(6))
    server.fail(status)
    failed = [one.ranking.failure for one in every]
    assert len(failed) == 94 and len(server.requests) == 3 + 3
    assert sum(one.startswith("not searched: ") for one in failed) == 88


def test_five_bad_questions_in_a_row_keep_nobody_from_asking(picky):
    shelf = shelf_on(picky)
    found = shelf.engine.search_many(DENSE, asked(16, range(2, 9)))
    assert failures(found) == list(range(2, 9))


def test_stopping_leaves_no_request_under_way_that_is_tried_again(server):
    shelf = shelf_on(server, batch=1, concurrency=4)
    before, seen = threading.active_count(), []

    def stop_at_the_first():
        for _ in searcher(shelf).rank_all(questions(100), 5):
            server.hang(0.3)
            server.fail(503)
            seen.extend(server.requests)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_at_the_first()
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(server.requests) <= len(seen) + 5
    server.heal()
    assert all(one.error is None for one in searcher(shelf).rank_all(questions(10), 5))


def test_what_searched_is_described_with_its_own_version(server):
    shelf = shelf_on(server)
    found = shelf.engine.description()
    assert found["engine"] == "qdrant server" and found["collection"] == "chunks"
    assert found["server"] == server.url.removeprefix("http://") and found["version"]
    server.fail(500)
    with pytest.raises(Unreachable, match="failed while asking for its version"):
        shelf.engine.description()

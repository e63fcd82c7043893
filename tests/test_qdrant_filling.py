"""Filling a collection on a server: whole, in batches, or on where a filling broke off."""

import json
import threading

import numpy as np
import pytest

from app.core.errors import EngineError, Unreachable
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines.qdrant_filling import collection_name, collections_of, drop, fill
from app.engines.qdrant_requests import payload_name
from app.engines.retrieval import Search
from tests import serving
from tests.engines import Shelf
from tests.qdrant_server import QdrantServer
from tests.serving import connection

server = serving.server
PUT = ("PUT", "/collections/chunks/points")
INDEX = ("PUT", "/collections/chunks/index")
CREATE = ("PUT", "/collections/chunks")
FILTERS = {"kind": ["kept"], "review.status": [1, 2], "draft": [False], "mixed": ["a", 1]}


def chunk(n, text=None, **fields):
    text = text or f"text number {n}"
    return Chunk(ChunkKey("doc", "v1", f"c{n:04}"), text, text_hash(text), fields=fields)


def chunks(count):
    return [chunk(n, kind="kept" if n % 3 else "out") for n in range(count)]


def vectors(count):
    return np.random.default_rng(3).choice([-1.0, 1.0], (count, 16)).astype(np.float32)


def put_twice(server):
    """Points that were put in more than once, of the requests that were answered."""
    ids = [str(one) for batch in server.put for one in batch]
    return len(ids) - len(set(ids))


class Recording(QdrantServer):
    """Keeps the ids of every batch of points it took."""

    def __init__(self):
        super().__init__()
        self.put = []

    def _answer(self, listener, method, parts, headers, body):
        answer = super()._answer(listener, method, parts, headers, body)
        if method == "PUT" and parts[-1] == "points" and answer and answer.status == 200:
            self.put.append([one["id"] for one in json.loads(body)["points"]])
        return answer


@pytest.fixture
def recording():
    with Recording() as made:
        yield made


@pytest.mark.parametrize("concurrency", [1, 3, 4])
def test_batches_of_128_go_up_at_the_concurrency_that_is_set(recording, concurrency):
    recording.hang(0.1, times=8, path="PUT /collections/chunks/points")
    shelf = Shelf(connection(recording, concurrency=concurrency))
    assert shelf.fill(chunks(1_000), vectors(1_000), 16, {"kind": ["kept"]}) == 1_000
    assert recording.writes == [CREATE, INDEX, *[PUT] * 8]
    assert sorted(len(batch) for batch in recording.put) == [104, *[128] * 7]
    assert recording.in_flight_peak == concurrency
    assert shelf.count() == 1_000 and shelf.count({"kind": ["kept"]}) == 666
    recording.forget()
    assert shelf.fill(chunks(1_000), vectors(1_000), 16, {"kind": ["kept"]}) == 0
    assert recording.writes == [] and put_twice(recording) == 0


def test_progress_counts_what_is_missing(server):
    made, told = connection(server), []
    for count in (300, 500):
        fill(made, "chunks", chunks(count), None, None, {}, lambda *n: told.append(n))
    assert told == [(128, 300), (256, 300), (300, 300), (128, 200), (200, 200)]


@pytest.mark.parametrize("answers", [1, 2, 3, 5, 7])
def test_a_filling_that_broke_off_goes_on_where_it_was(recording, answers):
    """Exists, create, index, then 5 batches: it dies at each in turn."""
    shelf = Shelf(connection(recording, concurrency=2))
    recording.die_after(answers)
    with pytest.raises(Unreachable):
        shelf.fill(chunks(600), vectors(600), 16, {"kind": ["kept"]})
    recording.start()
    recording.forget()
    there = recording.client.count("chunks").count if answers > 1 else 0
    assert shelf.fill(chunks(600), vectors(600), 16, {"kind": ["kept"]}) == 600 - there
    assert shelf.count() == 600 and put_twice(recording) == 0
    assert INDEX in recording.writes and (CREATE in recording.writes) == (answers == 1)
    recording.forget()
    assert shelf.fill(chunks(600), vectors(600), 16, {"kind": ["kept"]}) == 0
    assert recording.writes == []


def test_a_server_that_stays_away_is_asked_a_bounded_number_of_times(server):
    shelf = Shelf(connection(server, concurrency=4))
    tried = []
    upsert = shelf.connection.client.upsert
    shelf.connection.client.upsert = lambda *w, **n: tried.append(1) or upsert(*w, **n)
    server.die_after(4)
    with pytest.raises(Unreachable) as caught:
        shelf.fill(chunks(4_000), None, None)
    assert str(caught.value).startswith(f"{shelf.connection.name} does not answer while filling")
    assert len(tried) <= 8 * 4 and server.client.count("chunks").count <= 4 * 128


def test_what_passes_is_tried_again_and_nothing_is_lost(server):
    server.fail(503, times=2, path="PUT")
    server.drop(times=1, path="points")
    server.fail(429, times=1, headers={"Retry-After": "1"})
    shelf = Shelf(connection(server))
    assert shelf.fill(chunks(300), None, None) == 300 and shelf.count() == 300


@pytest.mark.parametrize("status", [400, 413, 507])
def test_a_refusal_ends_a_filling_with_one_sentence(server, status):
    shelf = Shelf(connection(server, concurrency=1))
    server.fail(status, path="points", body={"status": {"error": "no room"}})
    with pytest.raises(EngineError) as caught:
        shelf.fill(chunks(1_000), None, None)
    assert str(caught.value) == (
        f"{shelf.connection.name} refused while filling the collection: no room (status {status}). "
        "See the server's log."
    )
    assert server.writes == [CREATE, PUT]


def test_a_collection_that_another_made_meanwhile_is_gone_on_with(recording):
    """Two fill at once, or the answer to its making was lost and it was asked for again."""
    first, second = (Shelf(connection(recording)) for _ in range(2))
    first.fill(chunks(200), None, None)
    recording.fail(200, times=1, path="exists", body={"result": {"exists": False}, "status": "ok"})
    assert second.fill(chunks(300), None, None) == 100
    assert recording.writes.count(CREATE) == 2 and put_twice(recording) == 0


def test_two_fill_at_once(server):
    shelves = [Shelf(connection(server)) for _ in range(3)]
    threads = [
        threading.Thread(target=one.fill, args=(chunks(500), vectors(500), 16)) for one in shelves
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    assert shelves[0].count() == 500


def test_indexes_are_made_for_the_fields_of_the_filter_alone(server):
    sent = []
    shelf = Shelf(connection(server))
    make = shelf.connection.client.create_payload_index
    shelf.connection.client.create_payload_index = lambda *w, **n: (
        sent.append(w[1:]) or make(*w, **n)
    )
    fields = {"kind": "kept", "review.status": 1, "draft": False, "mixed": "a"}
    shelf.fill([chunk(1, **fields), chunk(2, **fields)], None, None, FILTERS)
    # A field whose allowed values are of several types can have no index.
    assert {(name, kind.value) for name, kind in sent} == {
        ("kind", "keyword"),
        (payload_name("review.status"), "integer"),
        ("draft", "bool"),
    }
    assert shelf.count(FILTERS) == 2 and "." not in payload_name("review.status")
    shelf.fill([chunk(1, **fields), chunk(2, **fields)], None, None, FILTERS)
    assert len(sent) == 3


@pytest.mark.parametrize("name", ["a.b", "tags[]", "x[0]", "größe", "a b", '"q"', "", "a/b", "$.x"])
def test_fields_of_any_name_are_filtered_by(server, name):
    shelf = Shelf(connection(server))
    shelf.fill([chunk(1, **{name: "ok"}), chunk(2, **{name: "no"})], None, None, {name: ["ok"]})
    assert shelf.count({name: ["ok"]}) == 1 and shelf.count() == 2
    search = Search(mode="sparse", depth=5, filters={name: ["ok"]})
    assert [hit.key.chunk for hit in shelf.search(search, "text", None)] == ["c0001"]


def test_long_and_odd_texts(server):
    texts = ["apple " + "word " * 5_000, "the of and", "🍎 apple \x00 \u2028 pie", "¼" * 199_000]
    shelf = Shelf(connection(server))
    assert shelf.fill([chunk(n, text) for n, text in enumerate(texts)], vectors(4), 16) == 4
    search = Search(mode="sparse", depth=5, filters={})
    found = [hit.key.chunk for hit in shelf.search(search, "apple", None)]
    assert found == ["c0002", "c0000"] and shelf.count() == 4


def test_names_tell_collections_revisions_and_contents_apart(server):
    one = collection_name("docs", "a" * 64, "b" * 64)
    assert one == "desk-docs-aaaaaaaaaaaa-bbbbbbbbbbbb"
    theirs = [
        "docs", "desk-docs", "desk-docs-x", "desk-docs-aaaaaaaaaaaa", f"{one}-copy", f"x{one}",
        "desk-docs-AAAAAAAAAAAA-bbbbbbbbbbbb", "desk-docs.v2-aaaaaaaaaaaa-bbbbbbbbbbbb",
        "desk-docs-more-aaaaaaaaaaaa-bbbbbbbbbbbb", "desk-docs-aaaaaaaaaaaa-bbbbbbbbbbbb\n",
    ]  # fmt: skip
    ours = [one, collection_name("docs", "c" * 64, "b" * 64)]
    for name in (*theirs, *ours):
        server.client.create_collection(name, vectors_config={})
    made = connection(server)
    assert collections_of(made, "docs") == ours
    assert collections_of(made, "docs-aaaaaaaaaaaa") == []
    drop(made, one)
    drop(made, one)
    assert collections_of(made, "docs") == ours[1:]
    assert len(server.client.get_collections().collections) == len(theirs) + 1

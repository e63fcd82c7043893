"""Circumstances in which a number, a sentence or an hour would have been wrong."""

import threading
import time

import pytest

from app.core.errors import InvalidInput, NotReady, Unreachable
from app.core.model import ChunkKey, Hit
from app.engines import edge
from app.engines.embedding import Embedded
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from app.engines.retrieval import Asked, Search, fused
from app.flows import filling
from app.flows.comparing import compare
from app.flows.evaluating import evaluate
from app.flows.searching import Searcher
from app.settings import Configuration
from app.settings.connection import web_address
from app.ui import kept as kept_module
from app.ui.kept import Kept
from tests.conftest import SPARSE
from tests.foreign import DENSE, THEIRS, chunk, sized
from tests.retrievers import Endpoint, Reply, external, hits


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple"))
    yield made
    made.stop()


def key(name):
    return ChunkKey("d", "v", name)


def test_unequal_ranks_are_no_tie_when_fused():
    """1/79 + 1/81 against 1/72 + 1/90, which differ in the seventh digit."""
    sides = [[Hit(rank, key("b"), 1.0), Hit(other, key("a"), 1.0)] for rank, other in
             ((19, 12), (21, 30))]  # fmt: skip
    better, worse = fused(sides, 60, 2)
    assert better.score != worse.score
    assert better.score == pytest.approx(1 / 78 + 1 / 80)


@pytest.mark.parametrize("vectors", [sized(distance="Euclid"), sized(8), {"other": sized()}])
def test_a_collection_made_anew_with_other_vectors_must_be_synced(theirs, vectors):
    theirs.create()
    theirs.put(chunk(1, "apple"), chunk(2, "pear"))
    theirs.ask({"q1": "apple"})
    theirs.sync()
    theirs.create(vectors)
    vector = [1.0] * 8 if vectors == sized(8) else (1, 0, 0, 0)
    named = {"other": [1.0, 0, 0, 0]} if isinstance(vectors, dict) else vector
    theirs.put(chunk(1, "apple", named), chunk(2, "pear", named))
    target = filling.Target(theirs.collection, "dense", theirs.collection.corpus(), None)
    with pytest.raises(NotReady, match=f"{THEIRS} has other vectors than when it was synced"):
        target.open()


def test_what_was_searched_there_decides_whether_an_execution_is_the_same(theirs):
    theirs.settings(source='vector = "a"', configurations=DENSE)
    theirs.create({"a": sized(), "b": sized()})
    theirs.put(chunk(1, "apple", {"a": [1, 0, 0, 0], "b": [0, 1, 0, 0]}))
    theirs.ask({"q1": "apple"})
    theirs.sync()

    def kind():
        corpus = theirs.collection.corpus()
        return filling.Target(theirs.collection, "dense", corpus, None).kind

    first = kind()
    assert (first["collection"], first["vector"], first["distance"]) == (THEIRS, "a", "Cosine")
    theirs.settings(source='vector = "b"', configurations=DENSE)
    theirs.sync()
    assert kind()["vector"] == "b"


def test_resuming_goes_on_with_the_run_that_broke_off_not_with_one_before(
    indexed, endpoint, collection_of
):
    root = indexed(configurations=external(endpoint=endpoint.url))
    (whole,) = evaluate(collection_of(root))
    endpoint.say = lambda question, k: hits("pear") if "apple" in question else b"broken"
    (broken,) = evaluate(collection_of(root))
    assert (whole.execution.status, broken.execution.status) == ("complete", "incomplete")
    endpoint.say = lambda question, k: hits("plum")
    (resumed,) = evaluate(collection_of(root), resume=True)
    assert resumed.execution.provenance["resumed"] == broken.execution.id
    assert not resumed.reused and resumed.execution.status == "complete"


def test_many_unsupported_questions_that_all_failed(indexed, endpoint, desk):
    asked = [{"id": "q1", "text": "apple", "category": "c"}] + [
        {"id": f"u{n}", "text": f"pear {n}", "category": "c", "unsupported_as_of": "r"}
        for n in range(12)
    ]
    endpoint.say = lambda question, k: Reply(b"no", 500)
    root = indexed(questions=asked, labels=[("q1", "apple", 2)],
                   configurations=SPARSE + external(endpoint=endpoint.url))  # fmt: skip
    answer = desk(root, "evaluate", "tiny")
    assert answer.code == 2 and "13 questions failed" in answer.out
    assert "sparse" in answer.out[answer.out.index("unsupported  questions") :]


def test_what_cannot_be_opened_is_told_before_anything_is_run(indexed, desk, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    more = external(endpoint="http://127.0.0.1:9/", authorization_env="NO_SUCH_KEY")
    root = indexed(configurations=SPARSE + more)
    assert "NO_SUCH_KEY is not set" in desk(root, "evaluate", "tiny").err
    assert desk(root, "executions", "tiny").out.startswith("No execution yet")


@pytest.mark.parametrize(
    "value", ["admin:s3cret@localhost:6333", "https:/a:s3cret@h", "https://a:s3/cret@host"]
)
def test_a_slip_in_an_address_shows_no_password(value):
    with pytest.raises(ValueError, match="keys belong into the environment") as caught:
        web_address(value)
    assert "s3" not in str(caught.value)


def engine(endpoint, corpus, **more):
    words = {"command": (), "folder": None, "authorization_env": None, "timeout": 1.0, "workers": 1}
    program = Program(endpoint=endpoint.url, **{**words, **more})
    return ExternalEngine(program, Answers("it", corpus))


def test_a_redirect_does_not_bring_the_key_into_messages(
    tiny, endpoint, collection_of, monkeypatch
):
    monkeypatch.setenv("THE_KEY", "sesame-opens-it")
    endpoint.say = lambda question, k: Reply(
        b"", 302, {"Location": "/login?token=sesame-opens-it"}
    )  # fmt: skip
    made = engine(endpoint, collection_of(tiny()).corpus(), authorization_env="THE_KEY")
    (told,) = made.search_many(Search("external", 3, {}), [Asked("q")])
    assert "/login" in str(told) and "sesame" not in str(told)


def test_headers_that_drip_are_no_answer_either(tiny, collection_of):
    import socket

    listening = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip():
        connection, _ = listening.accept()
        with connection:
            try:
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
                    connection.send(bytes([byte]))
                    if stop.wait(0.2):
                        return
            except OSError:
                return

    threading.Thread(target=drip, daemon=True).start()
    there = type("There", (), {"url": f"http://127.0.0.1:{listening.getsockname()[1]}/"})
    made = engine(there, collection_of(tiny()).corpus())
    began = time.monotonic()
    (told,) = made.search_many(Search("external", 3, {}), [Asked("q")])
    stop.set()
    listening.close()
    assert isinstance(told, Unreachable) and "did not answer within 1 s" in str(told)
    assert time.monotonic() - began < 4


class Silent:
    """An embedder that never answers."""

    name, digest, dimension = "silent", "d", 2

    def __init__(self):
        self.asked = 0

    def batches(self, texts):
        self.asked += 1
        raise Unreachable("nobody answers")
        yield [], Embedded(None, ())


class Many:
    batch, workers, ordered = 16, 4, False

    def search_many(self, search, asked):
        raise AssertionError("nothing was embedded")

    def interrupt(self):
        pass


def test_a_silent_embedder_is_not_asked_ahead_for_every_question():
    embedder = Silent()
    searcher = Searcher(Configuration(), None, {}, embedder, "c", {}, Many)
    answers = list(searcher.rank_all({f"q{n}": "x" for n in range(200)}, 5))
    assert embedder.asked == 5 and len(answers) == 200
    assert all(answer.ranking.failure for answer in answers)


def test_who_waited_for_an_engine_that_failed_does_not_wait_again(monkeypatch):
    kept, tries = Kept(), []

    def make():
        tries.append(1)
        time.sleep(0.2)
        raise InvalidInput("it does not answer")

    def ask():
        with pytest.raises(InvalidInput):
            kept.engine("one", make)

    asking = [threading.Thread(target=ask) for _ in range(5)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert len(tries) == 1
    monkeypatch.setattr(kept_module, "_FAILED_FOR", 0)
    later = time.monotonic() + 10
    monkeypatch.setattr(kept_module.time, "monotonic", lambda: later)
    ask()
    assert len(tries) == 2  # and later it is tried again


def test_collections_of_others_that_differ_are_told_apart(indexed, collection_of, monkeypatch):
    from app.workspace import Workspace

    root = indexed()
    found = []
    for name in ("theirs", "theirs2"):
        monkeypatch.setattr(edge, "kind", lambda name=name: {"collection": name})
        found.append(evaluate(collection_of(root))[0].execution)
    differs = compare(Workspace.at(root), found[0].id, found[1].id).differs
    assert ("engine.collection", "theirs", "theirs2") in differs

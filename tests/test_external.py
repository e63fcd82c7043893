"""An endpoint over HTTP and commands as processes: every way they can fail, and what is left."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.core.errors import EngineError, Unreachable
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from tests.retrievers import (
    ECHO,
    HANG,
    Endpoint,
    Reply,
    ask,
    asleep,
    failed,
    gone,
    hits,
    pids,
    python,
    unreachable,
)

START = "Start it, or correct endpoint in collection.toml."
LOG = "See the program's own log."
KEY = "sk-very-secret-123"


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple", "pear"))
    yield made
    made.stop()


@pytest.fixture
def engine(tiny, collection_of, tmp_path):
    """An engine over a tiny corpus that asks an endpoint or runs a command in `tmp_path`."""
    corpus = collection_of(tiny()).corpus()

    def build(url=None, command=(), *, variable=None, timeout=10.0, workers=1):
        program = Program(url, tuple(command), tmp_path, variable, timeout, workers)
        return ExternalEngine(program, Answers(program.name, corpus))

    return build


def test_any_success_is_an_answer(engine, endpoint):
    one = engine(endpoint.url)
    endpoint.say = lambda question, k: Reply(hits("plum"), 201)
    assert ask(one) == ["plum"]
    assert endpoint.heads[0]["Content-Type"] == "application/json"
    assert "Authorization" not in endpoint.heads[0]
    endpoint.say = lambda question, k: Reply(b"", 204)
    assert failed(ask(one)).startswith(f"{endpoint.name} sent nothing. It must answer ")


@pytest.mark.parametrize(
    "text", ["wïe? 日本 🙂", 'a "quoted" \\ one', "two\nlines\t", "w" * 300_000]
)
def test_a_question_arrives_as_it_is(engine, endpoint, text):
    assert ask(engine(endpoint.url), text) == ["apple", "pear"]
    assert endpoint.asked == [{"format": 1, "question": text, "k": 20}]


@pytest.mark.parametrize(
    ("reply", "said", "how"),
    [
        (Reply(b"", 302, {"Location": "http://127.0.0.1:1/new"}),
         ' answered with status 302 and points to "http://127.0.0.1:1/new". Write the address that '
         "answers as endpoint.", unreachable),
        (Reply(b"who\n are you?", 401),
         ' answered with status 401: "who are you?". Name the variable that holds its key as '
         "authorization_env.", unreachable),
        (Reply(b"not here", 404), f' answered with status 404: "not here". {START}', unreachable),
        (Reply(b"", 503), f' answered with status 503: "". {START}', unreachable),
        (Reply({"error": "no memory"}, 500),
         f' answered with status 500: "{{\\"error\\": \\"no memory\\"}}". {LOG}', failed),
        (Reply(b"slowly", 429), ' answered with status 429: "slowly". Lower concurrency.', failed),
        (Reply(b"x" * 70_000_000, 500),
         f' answered with status 500: "{"x" * 159}…". {LOG}', failed),
        (Reply(b"x" * 70_000_000), f" sent over 67,108,864 bytes. {LOG}", failed),
    ],
    ids=["302", "401", "404", "503", "500", "429", "500 of 70 MB", "70 MB"],
)  # fmt: skip
def test_other_answers_of_an_endpoint(engine, endpoint, reply, said, how):
    one = engine(endpoint.url)
    endpoint.say = lambda question, k: reply
    assert how(ask(one)) == endpoint.name + said
    endpoint.say = lambda question, k: hits("plum")
    assert ask(one) == ["plum"]


def test_an_endpoint_that_is_not_there_and_comes_back(engine, endpoint):
    one = engine(endpoint.url)
    assert ask(one) == ["apple", "pear"]
    endpoint.stop()
    said = unreachable(ask(one))
    assert said == f"{endpoint.name} does not answer: Connection refused. {START}"
    endpoint.start()
    assert ask(one) == ["apple", "pear"]


@pytest.mark.parametrize("reply", [None, Reply(hits("plum"), cut=True)], ids=["at once", "midway"])
def test_an_endpoint_that_hangs_up(engine, endpoint, reply):
    endpoint.say = lambda question, k: reply
    said = unreachable(ask(engine(endpoint.url)))
    assert said.startswith(f"{endpoint.name} does not answer: ") and said.endswith(START)


@pytest.mark.parametrize("drip", [False, True])
def test_an_endpoint_that_is_too_slow(engine, endpoint, drip):
    """Also one that sends something before every single wait is over."""
    one = engine(endpoint.url, timeout=0.3)
    dripping = Reply(b" " * 1000, drip=0.05)
    endpoint.say = (lambda question, k: dripping) if drip else asleep(endpoint)
    began = time.monotonic()
    assert unreachable(ask(one)) == (
        f"{endpoint.name} did not answer within 0.3 s. Raise timeout in the configuration, or "
        "lower concurrency."
    )
    assert time.monotonic() - began < 8


def test_the_key_is_sent_and_never_told(engine, endpoint, monkeypatch):
    monkeypatch.setenv("THE_KEY", f" {KEY}\n")
    one = engine(endpoint.url, variable="THE_KEY")
    assert ask(one) == ["apple", "pear"]
    assert endpoint.heads[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps([one.description(), one.remarks()])
    endpoint.say = lambda question, k: Reply(f"{KEY} is not known".encode(), 403)
    assert unreachable(ask(one)) == (
        f'{endpoint.name} answered with status 403: "… is not known". Correct the key in THE_KEY.'
    )
    endpoint.say = lambda question, k: f"you sent {KEY}".encode()
    assert KEY not in failed(ask(one))
    endpoint.say = lambda question, k: hits("plum", pipeline=f"with {KEY}")
    assert ask(one) == ["plum"] and one.remarks() == {"pipelines": ["with …"]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "{name} wants a key, and THE_KEY is not set. Set THE_KEY."),
        ("  ", "{name} wants a key, and THE_KEY is not set. Set THE_KEY."),
        ("sk-\nx", "the key in THE_KEY for {name} holds characters that no header can hold. Set "
         "THE_KEY to the key alone."),
        ("schlüssel", "the key in THE_KEY for {name} holds characters that no header can hold. Set "
         "THE_KEY to the key alone."),
    ],
)  # fmt: skip
def test_a_key_that_cannot_be_sent(engine, endpoint, monkeypatch, value, said):
    monkeypatch.delenv("THE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("THE_KEY", value)
    with pytest.raises(Unreachable) as caught:
        engine(endpoint.url, variable="THE_KEY")
    assert str(caught.value) == said.format(name=endpoint.name)
    assert endpoint.asked == []


@pytest.mark.parametrize("kind", ["endpoint", "command"])
def test_an_interrupt_ends_what_is_under_way(engine, endpoint, tmp_path, until, kind):
    command = python(tmp_path, HANG)
    endpoint.say = asleep(endpoint)
    one = engine(endpoint.url) if kind == "endpoint" else engine(command=command)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(ask, one) for _ in range(3)]
        until(lambda: len(endpoint.asked) == 3 or len(pids(tmp_path)) == 6, "three questions")
        began = time.monotonic()
        one.interrupt()
        assert all(isinstance(found.result(5), EngineError) for found in waiting)
        assert time.monotonic() - began < 8
    assert gone(pids(tmp_path))
    endpoint.say = lambda question, k: hits("plum")
    python(tmp_path, ECHO % (["plum"],))
    assert ask(one) == ["plum"]


def test_what_an_interrupt_overtakes_is_not_begun(engine, endpoint, tmp_path):
    """A thread that was about to ask when all was ended."""
    for one in (engine(endpoint.url), engine(command=python(tmp_path, HANG))):
        reached, go = threading.Event(), threading.Event()
        search = one._search

        def late(*words, search=search, reached=reached, go=go):
            reached.set()
            go.wait(10)
            return search(*words)

        one._search = late
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(ask, one)
            assert reached.wait(10)
            one.interrupt()
            go.set()
            assert isinstance(found.result(5), Unreachable)
    assert (endpoint.asked, pids(tmp_path)) == ([], [])

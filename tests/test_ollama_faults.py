"""What an Ollama server can do wrong besides, and which of it the next question would meet, too."""

import json

import httpx
import numpy as np
import pytest

from app.core.errors import EmbedderError, Unreachable
from app.engines.embedding import embed_all
from app.engines.ollama_embedding import OllamaEmbedder
from tests.ollama_server import OllamaServer, Served

HOST = "127.0.0.1:11434"
LOG = "See the log of ollama serve."


@pytest.fixture(autouse=True)
def _host(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", HOST)
    monkeypatch.delenv("OLLAMA_API_KEY", raising=False)


@pytest.fixture
def server():
    return OllamaServer()


@pytest.fixture
def embedder(server):
    def make(model="embeddinggemma", **more):
        more = {"timeout": 5.0, "deadline": 60.0, **more}
        return OllamaEmbedder(model, transport=httpx.MockTransport(server), **more)

    return make


def fault(job):
    """The sentence, and whether the next question would meet it as well."""
    with pytest.raises(EmbedderError) as caught:
        job()
    return str(caught.value), isinstance(caught.value, Unreachable)


@pytest.mark.parametrize(
    ("status", "body", "said", "for_all"),
    [
        (404, {"error": 'model "embeddinggemma" not found, try pulling it first'},
         f"Ollama at {HOST} has no model embeddinggemma. Fetch it: ollama pull embeddinggemma.",
         False),
        (404, "404 page not found", f"Ollama at {HOST} refused: 404 page not found (status 404). "
         "Check that OLLAMA_HOST names an Ollama server.", False),
        (500, {"error": "no\n  memory"},
         f"Ollama at {HOST} refused: no memory (status 500). {LOG}", False),
        (500, {"error": {"message": "no"}},
         f"Ollama at {HOST} refused: {{'message': 'no'}} (status 500). {LOG}", False),
        (400, {"error": {"detail": 3}},
         f"Ollama at {HOST} refused: {{'detail': 3}} (status 400). {LOG}", False),
        (500, ["no"], f"Ollama at {HOST} sent an answer that cannot be read. Check that it is an "
         "Ollama server, and its version.", False),
        (502, "<html>" + "x" * 900, f"Ollama at {HOST} refused: <html>{'x' * 153}… (status 502). "
         + LOG, True),
        (503, {"error": "server busy"},
         f"Ollama at {HOST} refused: server busy (status 503). {LOG}", True),
    ],
)  # fmt: skip
def test_refusals(embedder, server, status, body, said, for_all):
    text = body if isinstance(body, str) else json.dumps(body)
    server.fail = lambda path, _: httpx.Response(status, text=text) if "embed" in path else None
    assert fault(lambda: embed_all(embedder(), ["text"])) == (said, for_all)


@pytest.mark.parametrize(
    "raised", [httpx.ConnectError("no"), httpx.ReadTimeout("no"), httpx.ConnectTimeout("no"),
               httpx.RemoteProtocolError("no"), httpx.ReadError("no")], ids=repr,
)  # fmt: skip
def test_what_the_next_question_would_meet_as_well(embedder, server, raised):
    def fail(path, body):
        raise raised

    server.fail = fail
    assert fault(lambda: embed_all(embedder(), ["text"]))[1]
    assert fault(lambda: embedder().digest)[1]


@pytest.mark.parametrize("host", ["localhost:port", "http://[::1", "localhost:99999"])
def test_an_address_that_is_none(monkeypatch, host):
    monkeypatch.setenv("OLLAMA_HOST", host)
    said, _ = fault(lambda: OllamaEmbedder("embeddinggemma", timeout=5, deadline=5).digest)
    assert said == (
        f'OLLAMA_HOST is "{host}", which is no address of a server. Set it to one such as '
        "127.0.0.1:11434, or unset it."
    )


def test_a_password_in_the_address_is_not_told(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://ann:secret@127.0.0.1:9")
    said, _ = fault(lambda: OllamaEmbedder("embeddinggemma", timeout=5, deadline=5).digest)
    assert said.startswith("Ollama does not answer at 127.0.0.1:9. ") and "secret" not in said


@pytest.mark.parametrize("key", ["sk-secret\n", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_not_told(embedder, monkeypatch, key):
    monkeypatch.setenv("OLLAMA_API_KEY", key)
    assert fault(embedder) == (
        "the key in OLLAMA_API_KEY holds characters that no header can hold. Set OLLAMA_API_KEY to "
        "the key alone.", False,
    )  # fmt: skip


def test_a_text_without_blanks_is_cut_between_characters(embedder, server):
    """Japanese, or a long line of base64."""

    def characters(path, body):
        if "embed" not in path:
            return None
        if max(len(text) for text in body["input"]) > 20:
            error = "the input length exceeds the context length"
            return httpx.Response(400, json={"error": error})
        rows = [[float(len(text)), 1.0] for text in body["input"]]
        return httpx.Response(200, json={"embeddings": rows, "prompt_eval_count": 1})

    server.fail = characters
    found = embed_all(embedder(), ["障害" * 20, "kurz", "x" * 5_000_000])
    assert found.cut == (True, False, True)
    assert server.embedded[-1] == ["x" * 10]  # the last resort: half as many as it reads tokens
    assert ["障害" * 10] in server.embedded
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1)


def test_the_deadline_of_a_job_ends_all_its_questions(embedder, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("app.engines.ollama_embedding.time.monotonic", lambda: now[0])
    one = embedder(deadline=30)
    embed_all(one, ["a question"])
    now[0] = 31
    assert fault(lambda: embed_all(one, ["a question"])) == (
        "ollama:embeddinggemma passed the deadline of 30 s. Raise deadline, and go on with "
        "--resume.", True,
    )  # fmt: skip


def test_over_http_stopped_and_started_again(server, monkeypatch):
    served = Served(server)
    monkeypatch.setenv("OLLAMA_HOST", served.host)
    one = OllamaEmbedder("embeddinggemma", timeout=5, deadline=60)
    assert one.digest == "ab" * 32 and one.dimension == 4
    served.stop()
    assert fault(lambda: embed_all(one, ["text"])) == (
        f"Ollama does not answer at {served.host}. Start it (ollama serve), set OLLAMA_HOST, or "
        "choose the bundled embedder.", True,
    )  # fmt: skip
    served.start()
    assert embed_all(one, ["text"]).vectors.shape == (1, 4)
    server.fail = lambda path, body: served.closing.wait(20)
    slow = OllamaEmbedder("embeddinggemma", timeout=0.3, deadline=60)
    assert fault(lambda: embed_all(slow, ["text"])) == (
        f"Ollama at {served.host} did not answer within 0.3 s. Raise timeout in the configuration, "
        "or choose a smaller model.", True,
    )  # fmt: skip
    served.stop()

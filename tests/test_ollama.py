"""Ollama's own client against a server that answers, and fails, as it documents."""

import socket

import httpx
import numpy as np
import pytest

from app.core.errors import EmbedderError
from app.engines.embedding import embed_all
from app.engines.ollama_embedding import OllamaEmbedder
from tests.ollama_server import OllamaServer

HOST = "127.0.0.1:11434"


@pytest.fixture(autouse=True)
def _host(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", HOST)


@pytest.fixture
def server():
    return OllamaServer()


@pytest.fixture
def embedder(server):
    def make(model="embeddinggemma", **more):
        more = {"timeout": 5.0, "deadline": 60.0, **more}
        return OllamaEmbedder(model, transport=httpx.MockTransport(server), **more)

    return make


def sentence(job):
    with pytest.raises(EmbedderError) as caught:
        job()
    (problem,) = caught.value.problems
    return str(problem)


def test_unit_vectors_in_order(embedder):
    found = embed_all(embedder(), ["a", "bbb", "cc"])
    assert found.vectors.shape == (3, 4) and found.cut == (False, False, False)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1)
    assert np.allclose(found.vectors[1], np.array([3, 4, 5, 6]) / np.sqrt(86))


def test_batches_of_32_and_never_truncated_by_the_server(embedder, server):
    embed_all(embedder(), ["text"] * 70)
    assert [len(batch) for batch in server.embedded] == [32, 32, 6]
    assert all(b["truncate"] is False for path, b in server.requests if path == "/api/embed")


def test_name_digest_and_dimension(embedder, server):
    one = embedder()
    assert (one.name, one.digest, one.dimension) == ("ollama:embeddinggemma", "ab" * 32, 4)
    assert embedder(digest="abab").digest == server.digest


def test_a_digest_that_is_not_the_one_asked_for(embedder):
    assert sentence(lambda: embedder(digest="cdcdcdcdcdcdcd").digest) == (
        "ollama:embeddinggemma has digest abababababab, the configuration asks for cdcdcdcdcdcd. "
        "Fetch that version of the model, or correct digest in collection.toml."
    )


def test_a_model_that_the_server_does_not_have(embedder):
    wanted = f"Ollama at {HOST} has no model nomic. Fetch it: ollama pull nomic."
    assert sentence(lambda: embedder("nomic").digest) == wanted
    assert sentence(lambda: embed_all(embedder("nomic"), ["text"])) == wanted


def test_a_server_that_is_not_there(monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{port}")
    one = OllamaEmbedder("embeddinggemma", timeout=5, deadline=5)
    assert sentence(lambda: one.digest) == (
        f"Ollama does not answer at 127.0.0.1:{port}. Start it (ollama serve), set OLLAMA_HOST, "
        "or choose the bundled embedder."
    )


def test_a_server_that_is_too_slow(embedder, server):
    def slow(path, body):
        raise httpx.ReadTimeout("slow")

    server.fail = slow
    assert sentence(lambda: embed_all(embedder(timeout=2.5), ["text"])) == (
        f"Ollama at {HOST} did not answer within 2.5 s. Raise timeout in the configuration, or "
        "choose a smaller model."
    )


def test_the_time_out_reaches_the_client():
    seen = []

    def handler(request):
        seen.append(request.extensions["timeout"]["read"])
        return OllamaServer()(request)

    transport = httpx.MockTransport(handler)
    embed_all(OllamaEmbedder("embeddinggemma", timeout=7, deadline=9, transport=transport), ["x"])
    assert set(seen) == {7}


def test_a_connection_that_breaks_off(embedder, server):
    def broken(path, body):
        raise httpx.RemoteProtocolError("Server disconnected")

    server.fail = broken
    assert sentence(lambda: embed_all(embedder(), ["text"])) == (
        f"the connection to Ollama at {HOST} broke off: Server disconnected. See the log of "
        "ollama serve, then run the command again."
    )


def test_a_server_that_fails(embedder, server):
    server.fail = lambda path, body: httpx.Response(500, json={"error": "out of memory"})
    assert sentence(lambda: embed_all(embedder(), ["text"])) == (
        f"Ollama at {HOST} refused: out of memory (status 500). See the log of ollama serve."
    )


@pytest.mark.parametrize(
    "body", ["<html>", "[]", '{"embeddings": "no"}', '{"embeddings": [["a"]]}']
)
def test_an_answer_that_cannot_be_read(embedder, server, body):
    server.fail = lambda path, _: httpx.Response(200, text=body) if "embed" in path else None
    assert sentence(lambda: embed_all(embedder(), ["text"])) == (
        f"Ollama at {HOST} sent an answer that cannot be read. Check that it is an Ollama server, "
        "and its version."
    )


def rows_of(*rows):
    def answer(path, body):
        return httpx.Response(200, json={"embeddings": rows}) if "embed" in path else None

    return answer


def test_a_wrong_number_of_vectors(embedder, server):
    server.fail = rows_of([1.0, 2.0])
    assert sentence(lambda: embed_all(embedder(), ["a", "b"])) == (
        "ollama:embeddinggemma returned 1 vectors for 2 texts. Update Ollama, or choose another "
        "model."
    )


def test_a_wrong_dimension(embedder):
    assert sentence(lambda: embed_all(embedder(dimension=768), ["a", "b"])) == (
        "ollama:embeddinggemma returned vectors of dimension 4; the configuration asks for 768. "
        "Correct dimension in collection.toml, or choose the right model."
    )
    assert embedder(dimension=4).dimension == 4


def test_vectors_of_several_dimensions(embedder, server):
    server.fail = rows_of([1.0, 2.0], [1.0])
    assert sentence(lambda: embed_all(embedder(), ["a", "b"])) == (
        "ollama:embeddinggemma returned vectors of dimension 1, 2; they must be equal. "
        "Correct dimension in collection.toml, or choose the right model."
    )


def test_the_dimension_may_not_change_between_batches(embedder, server):
    def changing(path, body):
        if "embed" in path and len(server.embedded) == 2:
            return httpx.Response(200, json={"embeddings": [[1.0, 2.0]]})
        return None

    server.fail = changing
    assert "returned vectors of dimension 2" in sentence(
        lambda: embed_all(embedder(), ["text"] * 33)
    )


@pytest.mark.parametrize("row", [[], [0.0, 0.0]])
def test_a_vector_without_a_direction(embedder, server, row):
    server.fail = rows_of(row)
    assert sentence(lambda: embed_all(embedder(), ["a"])) == (
        "ollama:embeddinggemma returned a vector that is zero or not finite. Check the model, or "
        "choose another embedder."
    )


def test_a_text_the_server_finds_too_long_is_cut_and_flagged(embedder, server):
    texts = ["short", "w " * 25, "also short"]
    found = embed_all(embedder(), texts)
    assert found.cut == (False, True, False)
    assert ["w " * 17 + "w"] in server.embedded  # three quarters of its words
    alone = embed_all(embedder(), ["short", "also short"])
    assert np.allclose(found.vectors[[0, 2]], alone.vectors)


def test_a_server_that_truncates_in_silence_is_found_out(embedder, server):
    def silent(path, body):
        if "embed" not in path:
            return None
        rows = [[1.0, 2.0] for _ in body["input"]]
        tokens = min(server.context, len(body["input"][0].split()))
        return httpx.Response(200, json={"embeddings": rows, "prompt_eval_count": tokens})

    server.fail = silent
    assert embed_all(embedder(), ["a", "word " * 30]).cut == (False, True)


def test_a_text_too_long_even_when_cut(embedder, server):
    def refusing(path, body):
        error = "the input length exceeds the context length"
        return httpx.Response(400, json={"error": error}) if "embed" in path else None

    server.fail = refusing
    assert sentence(lambda: embed_all(embedder(), ["w " * 1000])) == (
        "a text of 2,000 characters is too long for ollama:embeddinggemma, and so is its "
        f'beginning: "{"w " * 29}w…". Choose a chunking rule with shorter chunks.'
    )


def test_another_refusal_is_not_taken_for_a_long_text(embedder, server):
    server.fail = lambda path, body: httpx.Response(400, json={"error": "does not embed"})
    assert "refused: does not embed (status 400)" in sentence(lambda: embed_all(embedder(), ["a"]))


def test_the_deadline_bounds_all_requests_of_a_job(embedder, server, monkeypatch):
    clock = iter([0.0, 1.0, 31.0])
    monkeypatch.setattr("app.engines.ollama_embedding.time.monotonic", lambda: next(clock))
    kept = []

    def job():
        for positions, _ in embedder(deadline=30).batches(["text"] * 40):
            kept.extend(positions)

    assert sentence(job) == (
        "ollama:embeddinggemma passed the deadline of 30 s at text 33 of 40. Run the command again "
        "(what is done is kept), or raise deadline."
    )
    assert kept == list(range(32))


def test_the_deadline_counts_from_the_first_request_over_all_later_calls(
    embedder, server, monkeypatch
):
    now = [1000.0]
    monkeypatch.setattr("app.engines.ollama_embedding.time.monotonic", lambda: now[0])
    one = embedder(deadline=30)
    now[0] += 100  # what passes before the first request does not count
    for _ in range(3):
        embed_all(one, ["a", "b"])
        now[0] += 10
    embed_all(one, ["a"])
    asked, now[0] = len(server.embedded), now[0] + 0.5
    assert sentence(lambda: embed_all(one, ["a", "b"])) == (
        "ollama:embeddinggemma passed the deadline of 30 s at text 1 of 2. Run the command again "
        "(what is done is kept), or raise deadline."
    )
    assert len(server.embedded) == asked
    assert len(embed_all(embedder(deadline=30), ["a"]).vectors) == 1  # another job

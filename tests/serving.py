"""Collections on a Qdrant server in tests: settings, connections, a corpus to search, rankings."""

import json
import random
import re
import zlib
from dataclasses import replace
from functools import partial, reduce
from operator import xor

import httpx
import pytest

from app.engines.ollama_embedding import OllamaEmbedder
from app.engines.qdrant_calls import Connection, Server
from tests.ollama_server import OllamaServer
from tests.qdrant_server import QdrantServer

WORDS = re.findall(
    r"\w+",
    "apple pear plum quince cherry river stone bridge harbour engine valve pump queue worker "
    "timeout retry budget ledger grade label shelf index vector filter cluster shard replica",
)
SEARCHES = """
[configurations.dense]
embedder = "ollama:embeddinggemma"
[configurations.sparse]
mode = "sparse"
[configurations.hybrid]
mode = "hybrid"
rrf_k = 60
embedder = "ollama:embeddinggemma"
candidates = 40
"""


class WordVectors(OllamaServer):
    """Vectors of 16 signs: their length is 4, so that cosines are exact in any order of adding,
    and many texts are equally near to a question."""

    def __init__(self):
        super().__init__(dimension=16, context=10_000)

    def embed(self, body):
        rows = []
        for text in body["input"]:
            bits = reduce(xor, (zlib.crc32(word.encode()) for word in text.lower().split()))
            rows.append([1.0 if bits >> n & 1 else -1.0 for n in range(self.dimension)])
        return httpx.Response(200, json={"model": body["model"], "embeddings": rows})


def connection(server, pauses=None, **options):
    """A connection whose pauses take no time; they are kept in `pauses`."""
    made = Connection.to(Server(server.url, **options))
    return replace(made, pause=[].append if pauses is None else pauses.append)


def served(root, url, qdrant="", name=None):
    """Let a workspace's collection be searched on a server; `qdrant` are lines of [qdrant]."""
    (path,) = root.glob(f"data/{name or '*'}/collection.toml")
    kept, _, _ = path.read_text(encoding="utf-8").partition("\n[qdrant]")
    lines = [line for line in kept.splitlines() if not line.startswith("qdrant_url")]
    lines.insert(1, f'qdrant_url = "{url}"')
    path.write_text("\n".join([*lines, "[qdrant]", qdrant, ""]), encoding="utf-8")
    return root


def generated(seed, chunks=300, questions=30):
    """Texts with a field to filter by, and questions. Texts are short, and every fifth is a twin
    of another, so that there are many ties."""
    draw = random.Random(seed)
    texts = []
    for n in range(chunks):
        text = " ".join(draw.choices(WORDS, k=draw.randint(2, 7)))
        if n % 5 == 4:
            text = draw.choice(texts)["text"]
        kind = draw.choice(["kept", "kept", "kept", "out"])
        texts.append({"id": f"c{draw.randrange(10**6):06}-{n}", "text": text, "kind": kind})
    asked = {f"q{n:03}": " ".join(draw.choices(WORDS, k=3)) for n in range(questions)}
    return texts, asked


def labels_for(texts, asked):
    """One label per question, so that there is something to score."""
    kept = [one["id"] for one in texts if one["kind"] == "kept"]
    return [(question, kept[n % len(kept)], 2) for n, question in enumerate(asked)]


def ranks(found):
    """All that was found: key, rank and score of every hit, by question."""
    return {
        one.ranking.question: [(str(hit.key), hit.rank, hit.score) for hit in one.ranking.hits]
        for one in found
    }


@pytest.fixture
def server():
    with QdrantServer() as made:
        yield made


@pytest.fixture
def at_once(monkeypatch):
    """Pauses between tries take no time."""
    monkeypatch.setattr("app.engines.qdrant_calls._LONGEST_PAUSE", 0.0)


@pytest.fixture
def word_vectors(monkeypatch):
    """A server of embeddings that every embedder the flows make will talk to."""
    made = WordVectors()
    embedder = partial(OllamaEmbedder, transport=httpx.MockTransport(made))
    monkeypatch.setattr("app.flows.embedders.OllamaEmbedder", embedder)
    return made


def told(answer):
    """Everything a command said."""
    return answer.out + answer.err


def loads(path):
    return json.loads(path.read_text(encoding="utf-8"))

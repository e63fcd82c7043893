"""Searches in this process at several sizes, and what an evaluation adds to its searches.

    python -m tests.benchmarks.retrieval [--sizes 1000,10000,50000,100000] [--questions 1000]

Texts are drawn from words as frequent as in a language, vectors at random. Each size is filled and
searched in the embedded engine and in the local mode of Qdrant's client, which it is held against;
every engine in a process of its own, so that its peak of memory is its own. A kind of search is
asked until its questions or its seconds are used up; how often is printed. Then the same chunks are
brought in as `desk evaluate` does it, from the vector cache. At last an evaluation of questions, by
the bundled embedder, with its store and scores, against a bare loop that embeds and searches, in
turns.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines.bundled import DIMENSION, BundledEmbedder
from app.engines.embedding import Embedded
from app.engines.retrieval import Asked, Search
from app.engines.vectors import VectorCache, vector_key
from app.flows.embedders import make_embedder
from app.flows.evaluating import evaluate
from app.flows.exchange.labels import import_labels
from app.flows.exchange.questions import import_questions
from app.flows.filling import Target
from app.flows.indexing import index
from app.flows.loading import load
from app.workspace import Workspace
from tests.benchmarks.indexing import clocks, seconds
from tests.engines import EdgeShelf, Shelf

NAME = "bench"
FILTER = {"product": ["a", "b"]}
SEARCHES = {
    "dense": Search("dense", 20, {}),
    "sparse": Search("sparse", 20, {}),
    "hybrid": Search("hybrid", 20, {}, rrf_k=60, candidates=100),
}
#: At most so many questions for each kind of search, and no new one after so many seconds.
MOST, LONGEST = 200, 10.0
#: All of a collection's settings but its configurations.
HEAD = """format = 1
[source]
kind = "jsonl"
path = "corpus.jsonl"
fields = { chunk = "id", text = "text" }
[chunking]
rule = "as-is-v1"
[eligible]
product = ["a", "b"]
"""
SETTINGS = f"""{HEAD}[configurations.dense]
mode = "dense"
embedder = "bundled"
"""


def texts_of(number, words=60, seed=1):
    """Texts whose words are as unequally frequent as those of a language."""
    ranks = np.random.default_rng(seed).zipf(1.3, size=(number, words)) % 20_000
    return [" ".join(f"word{rank}" for rank in row) for row in ranks]


def vectors_of(number, seed=2):
    made = np.random.default_rng(seed).normal(size=(number, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def product(number):
    return "abc"[number % 3]


def peak():
    """The highest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def engine_step(engine, number):
    """Fill an engine, and search in it: seconds, milliseconds per search, and memory."""
    chunks = [
        Chunk(ChunkKey("d", "v", f"c{n}"), text, text_hash(text), fields={"product": product(n)})
        for n, text in enumerate(texts_of(number))
    ]
    vectors, before = vectors_of(number), peak()
    shelf = EdgeShelf() if engine == "edge" else Shelf()
    fill, _ = seconds(lambda: shelf.fill(chunks, vectors, DIMENSION, FILTER))
    asked = [
        Asked(text, vector)
        for text, vector in zip(texts_of(MOST, 8, 3), vectors_of(MOST, 4), strict=True)
    ]
    found = {}
    for name, search in SEARCHES.items():
        for more, filters in (("", {}), (", filter", FILTER)):
            wanted = Search(search.mode, search.depth, filters, search.rrf_k, search.candidates)
            shelf.engine.search_many(wanted, asked[:1])
            times, ends = [], time.perf_counter() + LONGEST
            for one in asked:
                took, (outcome,) = seconds(lambda: shelf.engine.search_many(wanted, [one]))  # noqa: B023
                assert isinstance(outcome, list)
                times.append(1000 * took)
                if time.perf_counter() > ends:
                    break
            found[f"{name}{more}"] = [*map(float, np.percentile(times, [50, 95])), len(times)]
    return {"fill": fill, "before": before, "peak": peak(), "searches": found}


def collection_in(root, texts):
    folder = root / "data" / NAME
    folder.mkdir(parents=True)
    (root / "labels" / NAME).mkdir(parents=True)
    (folder / "collection.toml").write_text(SETTINGS)
    lines = (
        json.dumps({"id": f"c{n}", "text": text, "product": product(n)}) + "\n"
        for n, text in enumerate(texts)
    )
    (folder / "corpus.jsonl").write_text("".join(lines))
    return Workspace.at(root).collection(NAME)


def cache_step(number):
    """Fill as a command does: from vectors that are in the cache."""
    with tempfile.TemporaryDirectory() as name:
        collection = collection_in(Path(name), texts_of(number))
        read, corpus = seconds(collection.corpus)
        cache = VectorCache.of(collection.vectors, BundledEmbedder.digest)
        keys = [vector_key(chunk.text) for chunk in corpus.chunks.values()]
        vectors = vectors_of(number)
        cache.add(keys, Embedded(vectors, (False,) * number))
        del vectors, keys
        target = Target(collection, "dense", corpus, BundledEmbedder())
        fill, engine = seconds(target.open)
        assert engine.count() == number
        return {"read": read, "fill": fill, "peak": peak()}


def overhead_step(questions):
    """An evaluation against a loop that embeds and searches: process and wall time, in percent."""
    texts = texts_of(1000, 40, 5)
    asked = [f"{text} ?" for text in texts_of(questions, 8, 6)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collection = collection_in(folder / "workspace", texts)
        lines = (json.dumps({"id": f"q{n}", "text": text}) + "\n" for n, text in enumerate(asked))
        (folder / "questions.jsonl").write_text("".join(lines))
        import_questions(collection, folder / "questions.jsonl")
        rows = (f"q{n} 0 c{3 * n % 999} 1\n" for n in range(questions))
        (folder / "qrels.trec").write_text("".join(rows))
        import_labels(collection, folder / "qrels.trec")
        index(collection)
        configuration = collection.configuration("dense")
        embedder = make_embedder(configuration)
        target = Target(collection, "dense", load(collection).corpus, embedder)
        engine, search = target.open(), SEARCHES["dense"]

        def bare():
            for text in asked:
                for _, embedded in embedder.batches([text]):
                    engine.search_many(search, [Asked(text, embedded.vectors[0])])

        bare()
        evaluate(collection)
        alone, whole = [], []
        for _ in range(3):
            alone.append(clocks(bare))
            whole.append(clocks(lambda: evaluate(collection)))
        return {
            "alone": [median(times[clock] for times in alone) for clock in (0, 1)],
            "whole": [median(times[clock] for times in whole) for clock in (0, 1)],
        }


def step(name, *words):
    """Run one step in a process of its own; returns what it found."""
    command = [sys.executable, "-m", "tests.benchmarks.retrieval", "--step", name]
    command += map(str, words)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def inside(words):
    """A step, in its own process."""
    name, *more = words
    if name == "engine":
        print(json.dumps(engine_step(more[0], int(more[1]))))
    else:
        steps = {"cache": cache_step, "overhead": overhead_step}
        print(json.dumps(steps[name](int(more[0]))))


def tell_sizes(sizes, local_to):
    for number in sizes:
        for engine in ("edge", "local"):
            if engine == "local" and number > local_to:
                continue
            found = step("engine", engine, number)
            print(
                f"{number:>7,} chunks, {engine:5s}  fill {found['fill']:6.2f} s  peak "
                f"{found['peak']:.0f} MB ({found['before']:.0f} before)",
                flush=True,
            )
            for name, (middle, high, times) in found["searches"].items():
                print(f"    {name:15s} p50 {middle:8.2f} ms  p95 {high:8.2f} ms  ({times} times)")
        found = step("cache", number)
        print(
            f"{number:>7,} chunks, edge, from the vector cache: fill {found['fill']:.2f} s, corpus "
            f"read in {found['read']:.2f} s, peak {found['peak']:.0f} MB",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,50000,100000")
    parser.add_argument("--local-to", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--step", nargs="+")
    asked = parser.parse_args()
    if asked.step:
        inside(asked.step)
        return
    tell_sizes([int(one) for one in asked.sizes.split(",") if one], asked.local_to)
    found = step("overhead", asked.questions)
    for clock, words in enumerate(("on the wall", "of the processors")):
        alone, whole = found["alone"][clock], found["whole"][clock]
        print(
            f"{asked.questions} questions, dense: embedded and searched in {alone:.2f} s {words}, "
            f"evaluated in {whole:.2f} s, overhead {100 * (whole / alone - 1):.1f} %"
        )


if __name__ == "__main__":
    main()

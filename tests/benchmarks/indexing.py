"""What indexing adds to the bare embedder, and what a large foreign collection costs here.

    python -m tests.benchmarks.indexing [--texts 300] [--points 200000]

First `index` against the embedder alone on the same texts, interleaved, the best of three each;
then an index of unchanged texts and of one changed text. Then a foreign collection of 20,000
points and one of as many as asked for: a first sync, one that finds nothing new, and an evaluation
of 50 questions, each in a process of its own, so that its peak of memory is its own. The points
come from another process, see many_points.py.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from app.engines.embedding import embed_all
from app.flows.embedders import make_embedder
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.syncing import sync
from app.workspace import Workspace
from tests.benchmarks.many_points import payload

NAME = "bench"
DENSE = '[configurations.dense]\nmode = "dense"\nembedder = "bundled"\n'
OWN = f"""format = 1
[source]
kind = "jsonl"
path = "corpus.jsonl"
fields = {{ chunk = "id", text = "text" }}
[chunking]
rule = "as-is-v1"
{DENSE}"""
FOREIGN = f"""format = 1
qdrant_url = "http://127.0.0.1:PORT"
[source]
kind = "qdrant"
collection = "many"
[source.fields]
document = "meta.document"
chunk = "id"
text = "text"
[chunking]
rule = "as-is-v1"
[eligible]
"meta.status" = "published"
{DENSE}"""


def workspace(root, settings):
    (root / "data" / NAME).mkdir(parents=True)
    (root / "labels" / NAME).mkdir(parents=True)
    (root / "data" / NAME / "collection.toml").write_text(settings)
    return Workspace.at(root).collection(NAME)


def write_texts(collection, texts):
    lines = (json.dumps({"id": f"c{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    (collection.folder / "corpus.jsonl").write_text("".join(lines))


def seconds(work):
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def clocks(work):
    """Seconds on the wall and of the processors: the former tell little on a busy machine."""
    began, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - busy


def overhead(folder, number):
    """`index` against the embedder alone, then what little is left to do."""
    texts = [payload(n)["text"] for n in range(number)]
    first = workspace(folder / "warm", OWN)
    embedder = make_embedder(first.configuration("dense"))
    embed_all(embedder, texts[:8])
    bare, whole = [], []
    for round_ in range(3):
        bare.append(clocks(lambda: embed_all(embedder, texts)))
        collection = workspace(folder / str(round_), OWN)
        write_texts(collection, texts)
        whole.append(clocks(lambda: index(collection)))  # noqa: B023 - called at once
    for clock, words in enumerate(("", " of the processors")):
        alone, here = (min(times[clock] for times in every) for every in (bare, whole))
        print(
            f"{number} texts: embedder alone {alone:.2f} s{words}, index {here:.2f} s, overhead "
            f"{100 * (here / alone - 1):.1f} % (wanted: under 15)"
        )
    took, (report,) = seconds(lambda: index(collection))
    print(f"unchanged texts: {took:.3f} s, {report.embedded} embedded, {report.reused} reused")
    write_texts(collection, ["One text is another now.", *texts[1:]])
    took, (report,) = seconds(lambda: index(collection))
    print(f"one changed text: {took:.3f} s, {report.embedded} embedded, {report.reused} reused")


@contextmanager
def many_points(number):
    """The port of a server with so many points, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.many_points", str(number)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


def run(*words):
    """A step in a process of its own; this one stays small, for a child starts with its peak."""
    command = [sys.executable, "-m", "tests.benchmarks.indexing", "--step", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def inside(step, root, number=0):
    """One step, in its own process; prints its time and its peak of memory in MB."""
    if step == "overhead":
        overhead(Path(root), int(number))
        return
    collection = Workspace.at(Path(root)).collection(NAME)
    if step == "evaluate":
        took, (found,) = seconds(lambda: evaluate(collection))
        said = f"{found.execution.status}, {found.execution.eligible:,} eligible"
    else:
        took, found = seconds(lambda: sync(collection))
        said = f"{found.new:,} new, {found.changed:,} changed, {found.removed:,} gone"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(json.dumps({"took": took, "peak": peak, "said": said}))


def large(folder, number):
    """Sync, sync again, evaluate."""
    with many_points(number) as port:
        root = folder / str(number)
        collection = workspace(root, FOREIGN.replace("PORT", str(port)))
        questions = (
            {"format": 1, "id": f"q{n}", "category": "general", "text": f"What about {n}?"}
            for n in range(50)
        )
        lines = "".join(json.dumps(one) + "\n" for one in questions)
        (collection.labels_folder / "questions.jsonl").write_text(lines)
        for what, step in (("first sync", "sync"), ("second", "sync"), ("evaluation", "evaluate")):
            found = json.loads(run(step, root).splitlines()[-1])
            print(
                f"{number:,} points, {what:10}  {found['took']:6.1f} s  peak {found['peak']:6.0f} "
                f"MB  {found['said']}",
                flush=True,
            )
        texts = (collection.catalogue / "points.jsonl").stat().st_size
        print(f"{number:,} points, the catalogue  {texts / 1e6:.0f} MB on the disk")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--step", nargs="+")
    asked = parser.parse_args()
    if asked.step:
        inside(*asked.step)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.texts:
            print(run("overhead", folder, asked.texts), end="", flush=True)
        for number in dict.fromkeys((min(20_000, asked.points), asked.points)):
            large(folder, number)


if __name__ == "__main__":
    main()

"""From a question to its evidence on screen, on page Retrieve, at several sizes.

    python -m tests.benchmarks.retrieve_page [--sizes 10000,100000] [--questions 40]

Hybrid search with a filter, lost evidence looked for, in headless Chromium on the machine that
serves. Vectors are drawn at random for the chunks; questions are embedded by the bundled model,
whose own time the page tells and which is taken off. The peak of the server's memory is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from app.core.ids import event_id
from app.core.text import canonical
from app.engines.embedding import Embedded
from app.engines.vectors import VectorCache, vector_key
from app.flows.embedders import make_embedder
from app.flows.indexing import index
from app.workspace import Workspace
from tests.benchmarks.labeling import dashboard, told
from tests.benchmarks.retrieval import HEAD, texts_of, vectors_of

NAME = "bench"
SETTINGS = f"""{HEAD}[configurations.hybrid]
mode = "hybrid"
rrf_k = 60
"""


def generate(root: Path, chunks: int, questions: int) -> None:
    """A workspace that is indexed, with two relevant chunks for every question."""
    data, labels = root / "data" / NAME, root / "labels" / NAME
    data.mkdir(parents=True)
    (labels / "judgments").mkdir(parents=True)
    (data / "collection.toml").write_text(SETTINGS)
    texts = texts_of(chunks)
    with (data / "corpus.jsonl").open("w") as file:
        for n, text in enumerate(texts):
            line = {"id": f"c{n}", "text": f"{text} number{n}", "product": "abc"[n % 3]}
            file.write(json.dumps(line) + "\n")
    draw = np.random.default_rng(5)
    lines, judged = [], []
    for n in range(questions):
        words = " ".join(draw.choice(texts[n].split(), 6))
        asked = {"id": f"q{n}", "text": f"What of {words}?", "category": f"c{n % 5}", "format": 1}
        lines.append(json.dumps(asked))
        for chunk in (3 * n, 3 * n + 1):
            judged.append(
                canonical(
                    {
                        "format": 1, "event": event_id(), "time": "2026-01-01T00:00:00.000Z",
                        "author": "ann", "kind": "grade", "question": f"q{n}", "grade": 2,
                        "chunk": [f"c{chunk}", "as-is-v1", f"c{chunk}"],
                    }
                )
            )  # fmt: skip
    (labels / "questions.jsonl").write_text("\n".join(lines) + "\n")
    (labels / "judgments/ann.jsonl").write_text("\n".join(judged) + "\n")
    collection = Workspace.at(root).collection(NAME)
    embedder = make_embedder(collection.configuration("hybrid"))
    assert embedder is not None
    keys = [vector_key(chunk.text) for chunk in collection.corpus().chunks.values()]
    cache = VectorCache.of(collection.vectors, embedder.digest)
    cache.add(keys, Embedded(vectors_of(chunks), tuple([False] * chunks)))
    index(collection)


def asked(page: Page, number: int) -> float:
    """Milliseconds from the press to the next question's evidence on screen, its embedding off."""
    page.evaluate(
        """(id) => { window.__done = new Promise((resolve) => {
             const began = performance.now();
             const look = () => {
               const meta = [...document.querySelectorAll(".desk-meta")].map((e) => e.innerText);
               const there = meta.some((words) => words.includes(` ${id} `));
               const stale = document.querySelector('[data-stale="true"] .desk-hit');
               if (there && !stale && document.querySelector(".desk-hit")) {
                 requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
               } else { requestAnimationFrame(look); }
             };
             document.querySelector(".st-key-step-next button").click(); look(); }); }""",
        f"q{number}",
    )
    took = float(page.evaluate("() => window.__done"))
    words = page.inner_text("main") if page.query_selector("main") else page.inner_text("body")
    found = re.search(r"embedded in ([\d.]+) ms", words)
    return took - float(found.group(1) if found else 0)


def memory(address: str) -> float:
    """The highest memory so far of the process that serves an address, in MB."""
    port = address.rpartition(":")[2]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            if "streamlit" in words and any(word.endswith(port) for word in words):
                peak = re.search(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
                return int(peak.group(1)) / 1e3 if peak else 0.0
        except OSError:
            continue
    return 0.0


def main() -> None:
    """Generate, open, and go from question to question."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--questions", type=int, default=40)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or sys.exit("needs Debian's chromium")
    for size in map(int, options.sizes.split(",")):
        root = Path(tempfile.mkdtemp())
        try:
            generate(root, size, options.questions)
            with dashboard(root) as address, sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page()
                began = time.perf_counter()
                page.goto(f"{address}/retrieve?k=5&question=q0")
                page.wait_for_selector(".desk-hit", timeout=300_000)
                first = time.perf_counter() - began
                print(f"{size:,} chunks: first page of a new server {first:.1f} s")
                page.wait_for_timeout(1000)
                took = []
                for number in range(1, options.questions):
                    took.append(asked(page, number))
                    page.wait_for_timeout(300)
                told(f"{size:,} chunks: the next question", np.array(took))
                print(f"{size:,} chunks: server {memory(address):,.0f} MB at most")
                browser.close()
        finally:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()

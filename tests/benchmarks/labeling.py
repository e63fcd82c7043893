"""How fast grading is over 50,000 chunks and 100,000 labels, alone and with 20 sessions.

Prints, in headless Chromium: the time from a key press to the next chunk on screen (percentiles),
alone and while 19 other sessions grade once a second; and the time from opening the page to a chunk
on screen. Run: python -m tests.benchmarks.labeling
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from app.core.ids import event_id
from app.core.model import Hit, Ranking
from app.core.text import canonical
from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.loading import load
from app.launch import command
from app.team import STARTED_WITH
from app.workspace import Workspace
from tests.sessions import Session

CHUNKS, QUESTIONS, REVIEWERS, LABELS, SESSIONS = 50_000, 2_000, 20, 100_000, 20
WORDS = [f"word{n}" for n in range(3_000)]
SETTINGS = """format = 1
[source]
kind = "jsonl"
path = "corpus.jsonl"
fields = { document = "doc", chunk = "id", text = "text", title = "title" }
[chunking]
rule = "as-is-v1"
[configurations.sparse]
mode = "sparse"
"""
#: Times a key press in the page: to the next item's text in the document, and painted.
TIMER = """
() => new Promise((resolve) => {
  const item = () => document.querySelector("[data-item]")?.dataset.item;
  const before = item();
  const wait = () => {
    if (item() && item() !== before) {
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - window.__at), 0));
    } else { requestAnimationFrame(wait); }
  };
  window.addEventListener("keydown", () => { window.__at = performance.now(); wait(); },
    { once: true, capture: true });
})
"""


def generate(root: Path) -> None:
    """A workspace of that size, with one execution whose hits are to be judged."""
    draw = random.Random(7)
    data, labels = root / "data/large", root / "labels/large"
    data.mkdir(parents=True)
    (labels / "judgments").mkdir(parents=True)
    (data / "collection.toml").write_text(SETTINGS)
    with (data / "corpus.jsonl").open("w") as file:
        for n in range(CHUNKS):
            words = " ".join(draw.choices(WORDS, k=80))
            line = {
                "doc": f"d{n // 10}",
                "id": f"c{n}",
                "text": words,
                "title": f"Document {n // 10}",
            }
            file.write(json.dumps(line) + "\n")
    with (labels / "questions.jsonl").open("w") as file:
        for n in range(QUESTIONS):
            words = " ".join(draw.choices(WORDS, k=8))
            line = {
                "format": 1,
                "id": f"q{n}",
                "category": f"c{n % 12}",
                "text": f"What of {words}?",
            }
            file.write(json.dumps(line) + "\n")
    loaded = load(Workspace.at(root).collection("large"))
    keys = list(loaded.corpus.eligible)
    rankings = []
    for n in range(QUESTIONS):
        found = draw.sample(keys, 20)
        hits = tuple(Hit(rank, key, 1.0 / rank) for rank, key in enumerate(found, start=1))
        rankings.append(Ranking(f"q{n}", hits))
    provenance = {"depth": 20, "configuration": {}, "embedder": None}
    execution = Execution("01a0", "large", "sparse", "f", "complete", loaded.corpus.revision,
                          CHUNKS, CHUNKS, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z",
                          provenance)  # fmt: skip
    texts = {name: question.text for name, question in loaded.questions.items()}
    executions.save(Store.at(root / "data/desk.duckdb"), execution, rankings, texts,
                    loaded.corpus, retain_text=False)  # fmt: skip
    each = LABELS // REVIEWERS
    for reviewer in range(REVIEWERS):
        lines = []
        for _ in range(each):
            asked = draw.randrange(QUESTIONS)
            pooled = draw.random() < 0.1
            key = rankings[asked].hits[draw.randrange(5)].key if pooled else draw.choice(keys)
            lines.append(
                canonical(
                    {
                        "format": 1,
                        "event": event_id(),
                        "time": "2026-01-01T00:00:00.000Z",
                        "author": f"r{reviewer}",
                        "kind": "grade",
                        "question": f"q{asked}",
                        "chunk": [key.document, key.version, key.chunk],
                        "grade": draw.randrange(3),
                        "text_hash": loaded.corpus.chunks[key].text_hash,
                        "question_hash": loaded.questions[f"q{asked}"].hash,
                    }
                )
            )
        (labels / f"judgments/r{reviewer}.jsonl").write_text("\n".join(lines) + "\n")


@contextmanager
def dashboard(root: Path) -> Any:
    """The address of a server of the workspace."""
    with closing(socket.socket()) as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    words = command("localhost", port)
    here = str(Path(__file__).parents[2])
    environment = {**os.environ, STARTED_WITH: "", "PYTHONPATH": here}
    process = subprocess.Popen(words, cwd=root, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://localhost:{port}"
    try:
        while True:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).read()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def opened(page: Page, address: str, reviewer: str) -> float:
    """Milliseconds from the request to a chunk on screen."""
    began = time.perf_counter()
    page.goto(f"{address}/?reviewer={reviewer}")
    page.wait_for_selector("[data-item]", timeout=120_000)
    return (time.perf_counter() - began) * 1000


def graded(page: Page, times: int, pause: float = 0.3) -> np.ndarray:
    """Milliseconds from each key press to the next chunk."""
    took = []
    for number in range(times):
        page.wait_for_timeout(pause * 1000)
        page.evaluate(f"() => {{ window.__timer = ({TIMER})(); }}")
        page.keyboard.press(str(number % 3))
        took.append(page.evaluate("() => window.__timer"))
    return np.array(took)


def told(words: str, values: np.ndarray) -> None:
    """Print the percentiles of some milliseconds."""
    half, most = np.percentile(values, [50, 95])
    print(
        f"{words}: p50 {half:.0f} ms, p95 {most:.0f} ms, max {values.max():.0f} ms, n {len(values)}"
    )


async def crowd(
    address: str, stop: threading.Event, took: list[float], ready: threading.Semaphore
) -> None:
    """19 sessions, each of a reviewer of its own, that grade once a second."""

    async def one(number: int) -> None:
        async with Session(address, f"reviewer=r{number}") as session:
            ready.release()
            await asyncio.sleep(number / SESSIONS)
            while not stop.is_set():
                seconds = await session.press(f"grade-{number % 3}")
                took.append(seconds * 1000)
                await asyncio.sleep(max(0.0, 1.0 - seconds))

    await asyncio.gather(*(one(number) for number in range(1, SESSIONS)))


def main() -> None:
    """Generate, open, grade alone, grade in a crowd."""
    root = Path(tempfile.mkdtemp())
    chromium = shutil.which("chromium") or sys.exit("needs Debian's chromium")
    try:
        generate(root)
        with dashboard(root) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            first = opened(page, address, "r0")
            print(f"first page of a new server, all files read: {first:.0f} ms")
            told("opening the page", np.array([opened(page, address, "r0") for _ in range(8)]))
            told("a key, one session", graded(page, 60))
            stop, took, ready = threading.Event(), list[float](), threading.Semaphore(0)
            others = threading.Thread(target=lambda: asyncio.run(crowd(address, stop, took, ready)))
            others.start()
            for _ in range(1, SESSIONS):
                ready.acquire()
            time.sleep(5)  # what comes with opening a session is over
            took.clear()
            told(f"a key, {SESSIONS} sessions", graded(page, 60))
            stop.set()
            others.join()
            told("a press of the others, until its run ended", np.array(took))
            browser.close()
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Workspaces to work on, the `desk` command, and an Ollama server without a network."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial

import httpx
import pytest
from click.testing import CliRunner

import app.cli
from app.engines.ollama_embedding import OllamaEmbedder
from app.flows.indexing import index
from app.workspace import Workspace
from tests.labelpage import page  # noqa: F401 - a fixture for all
from tests.ollama_server import OllamaServer
from tests.prepared import (
    REPOSITORY,
    _evaluated,  # noqa: F401 - fixtures for all
    _indexed,  # noqa: F401
    another_evaluated,  # noqa: F401
    another_runbooks,  # noqa: F401
    evaluated,  # noqa: F401
    runbooks,  # noqa: F401
)
from tests.repositories import alone

DESK = [sys.executable, "-c", "from app.cli import main; main()"]


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


@dataclass(frozen=True)
class Answer:
    """What a command ended with."""

    code: int
    out: str
    err: str

    @property
    def errors(self):
        return [line for line in self.err.splitlines() if line.startswith("error: ")]

    @property
    def notes(self):
        return [line for line in self.err.splitlines() if line.startswith("note: ")]

    @property
    def json(self):
        return json.loads(self.out, parse_constant=no_constant)


@pytest.fixture(scope="session")
def repository():
    return REPOSITORY


@pytest.fixture
def edit():
    """Replaces a text that must stand in a file."""

    def replace(path, old, new):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace


def lines_of(records):
    return "".join(
        (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) + "\n"
        for one in records
    )


def judgment(question, chunk, grade, number, **more):
    return {
        "format": 1, "event": f"e{number}", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
        "kind": "grade", "question": question, "chunk": [chunk, "as-is-v1", chunk],
        "grade": grade, **more,
    }  # fmt: skip


SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
TEXTS = {
    "apple": "An apple tree needs pruning in winter.",
    "pear": "A pear ripens off the tree.",
    "plum": "Plums are dried to make prunes.",
    "quince": "Quinces are too hard to eat raw.",
}
QUESTIONS = {"q1": "When is an apple tree pruned?", "q2": "What becomes of dried plums?"}
LABELS = (("q1", "apple", 2), ("q1", "pear", 0), ("q2", "plum", 2))


def tiny_in(
    root,
    texts=TEXTS,
    questions=QUESTIONS,
    labels=LABELS,
    *,
    settings="",
    configurations=SPARSE,
    fields="",
):
    """Builds a JSONL workspace in a folder; lines may be records or raw text. Returns it."""
    data, kept = root / "data/tiny", root / "labels/tiny"
    (kept / "judgments").mkdir(parents=True)
    data.mkdir(parents=True)
    if isinstance(texts, dict):
        texts = [{"id": name, "text": text} for name, text in texts.items()]
    if isinstance(questions, dict):
        questions = [
            {"format": 1, "id": name, "category": "general", "text": text}
            for name, text in questions.items()
        ]
    labels = [
        judgment(*one, number) if isinstance(one, tuple) else one
        for number, one in enumerate(labels)
    ]
    (data / "corpus.jsonl").write_text(lines_of(texts), encoding="utf-8")
    (data / "collection.toml").write_text(
        f"""format = 1
[source]
kind = "jsonl"
path = "corpus.jsonl"
fields = {{ chunk = "id", text = "text"{fields} }}
[chunking]
rule = "as-is-v1"
{settings}
{configurations}""",
        encoding="utf-8",
    )
    (kept / "questions.jsonl").write_text(lines_of(questions), encoding="utf-8")
    (kept / "judgments" / "ann.jsonl").write_text(lines_of(labels), encoding="utf-8")
    return root


@pytest.fixture
def tiny(tmp_path):
    """Builds a JSONL workspace, as `tiny_in` does. Returns its folder."""
    return partial(tiny_in, tmp_path / "tiny-workspace")


@pytest.fixture
def collection_of():
    """The only collection of a workspace folder, with its settings as they are now."""

    def collection(root):
        workspace = Workspace.at(root)
        (name,) = workspace.names()
        return workspace.collection(name)

    return collection


@pytest.fixture
def indexed(tiny, collection_of):
    """A tiny workspace that is indexed; returns its folder."""

    def build(*words, **more):
        root = tiny(*words, **more)
        index(collection_of(root))
        return root

    return build


@pytest.fixture(scope="session")
def desk():
    """The command in this process: `desk(workspace or None, *words)`."""

    def run(workspace, *words):
        where = ["--workspace", str(workspace)] if workspace else []
        result = CliRunner().invoke(app.cli.desk, [*where, *map(str, words)], prog_name="desk")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.output
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


def surroundings(more):
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1", **more}


@pytest.fixture
def start():
    """Starts Python with some words in a process of its own, which does not outlive the test."""
    started = []

    def run(words, cwd=None, **more):
        process = subprocess.Popen(
            [sys.executable, *words], cwd=cwd, env=surroundings(more), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def desk_process(start):
    """`desk` in a process of its own, under way."""

    def run(workspace, *words, **more):
        return start([*DESK[1:], "--workspace", str(workspace), *words], cwd=workspace, **more)

    return run


@pytest.fixture
def desk_run(desk_process):
    """`desk` in a process of its own, to its end."""

    def run(workspace, *words, **more):
        process = desk_process(workspace, *words, **more)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in out + err
        return Answer(process.returncode, out, err)

    return run


@pytest.fixture
def until():
    """Waits for a condition, up to 30 s."""

    def wait(condition, what, seconds=30, every=0.005):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen"
            time.sleep(every)

    return wait


@pytest.fixture
def git_settings(monkeypatch, tmp_path):
    """The only settings git has: none of this machine or of a user. Their file."""
    return alone(monkeypatch, tmp_path)


@pytest.fixture
def ollama_server(monkeypatch):
    """A server that every embedder the flows make will talk to, by Ollama's own client."""
    server = OllamaServer()
    made = partial(OllamaEmbedder, transport=httpx.MockTransport(server))
    monkeypatch.setattr("app.flows.embedders.OllamaEmbedder", made)
    return server


@pytest.fixture
def theirs(tmp_path):
    """A Qdrant collection that others filled, and a workspace that reads it."""
    from tests.foreign import foreign

    with foreign(tmp_path / "workspace") as made:
        yield made

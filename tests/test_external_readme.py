"""The README's own pipeline: its program, as it stands there, asked as it says."""

import json
import re
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest

from tests.conftest import REPOSITORY, SPARSE
from tests.retrievers import external

HEADING = re.compile(r"^##+ Your own pipeline$", re.MULTILINE)


@pytest.fixture(scope="module")
def section():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    found = HEADING.search(readme)
    if found is None:
        pytest.skip("README.md has no section Your own pipeline yet")
    return re.split(r"\n##+ ", readme[found.end() :])[0]


@pytest.fixture
def folder(section, indexed):
    """The folder of an indexed collection, with the README's program in it."""
    root = indexed(configurations=external("shop", command=["true"]) + SPARSE)
    (program,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (root / "data/tiny/retriever.py").write_text(program, encoding="utf-8")
    return root / "data/tiny"


def set_up(folder, configuration):
    path = folder / "collection.toml"
    before = path.read_text(encoding="utf-8").partition("[configurations.shop]")[0]
    path.write_text(f"{before}{configuration}\n{SPARSE}", encoding="utf-8")


def scores(desk, folder):
    answer = desk(folder.parents[1], "evaluate", "tiny", "-c", "shop", "--json")
    assert answer.code == 0, answer.out + answer.err
    (execution,) = answer.json["executions"]
    return {q["question"]: q["rr"] for q in execution["questions"] if q["k"] == 1}


@pytest.fixture
def endpoint(folder):
    """The program as an endpoint: its port."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "retriever.py", str(port)]
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL)
    yield port
    process.kill()
    process.wait()


def answering(port):
    asked = json.dumps({"format": 1, "question": "plums", "k": 2}).encode()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", asked, timeout=5) as answer:
            return len(json.load(answer)["hits"]) == 2
    except OSError:
        return False


def test_its_settings_and_its_program_as_an_endpoint(
    section, folder, endpoint, desk, until, monkeypatch
):
    (settings,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    assert "127.0.0.1:8000" in settings
    (variable,) = re.findall(r'authorization_env = "(\w+)"', settings)
    monkeypatch.setenv(variable, "a key")
    set_up(folder, settings.replace("127.0.0.1:8000", f"127.0.0.1:{endpoint}"))
    until(lambda: answering(endpoint), "the start of the endpoint", every=0.05)
    assert scores(desk, folder) == {"q1": 1.0, "q2": 1.0}


def test_its_program_as_a_command(section, folder, desk):
    (words,) = re.findall(r"or command = (\[.*?\])", section)
    command = [sys.executable if word == "python3" else word for word in json.loads(words)]
    set_up(folder, external("shop", command=command))
    assert scores(desk, folder) == {"q1": 1.0, "q2": 1.0}

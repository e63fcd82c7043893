"""Retrieve in a browser while what it asks is stopped, and started again."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import desk_serving
from tests.ollama_server import OllamaServer, Served
from tests.retrievers import Endpoint, external

pytestmark = [pytest.mark.browser, pytest.mark.slow]
GEMMA = """
[configurations.gemma]
embedder = "ollama:embeddinggemma"
dimension = 768
"""


@pytest.fixture(scope="module")
def ollama():
    found = Served(OllamaServer(dimension=768, context=2048))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def endpoint():
    made = Endpoint(
        lambda question, k: {
            "hits": [{"document": "durable-work-queue", "chunk": "recovery/p0", "score": 7}],
            "pipeline": "shop search 4.1",
        }
    )
    yield made
    made.stop()


@pytest.fixture(scope="module")
def asking(another_evaluated, ollama, endpoint):
    """The address of a dashboard of the runbooks with a configuration for each."""
    root = another_evaluated("asking")
    path = root / "data/runbooks/collection.toml"
    more = GEMMA + external(endpoint=endpoint.url)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OLLAMA_HOST", ollama.host)
        with desk_serving(root) as address:
            yield address


@pytest.fixture
def running(ollama, endpoint):
    """Both answer, whatever became of an earlier test."""
    for one in (ollama, endpoint):
        one.stop()
        one.start()


@pytest.mark.parametrize("configuration", ["gemma", "pipeline"])
@pytest.mark.usefixtures("running")
def test_down_told_and_back_again(asking, screen, ollama, endpoint, configuration, tmp_path):
    server = ollama if configuration == "gemma" else endpoint
    screen.goto(f"{asking}/retrieve?question=restart-recovery&configuration={configuration}&k=3")
    expect(screen.get_by_text("Scores at K = 3").first).to_be_visible()
    expect(screen.get_by_role("alert")).to_have_count(0)
    screen.screenshot(path=tmp_path / f"{configuration}-up.png", full_page=True)

    server.stop()
    screen.get_by_role("button", name="Search again").click()
    said = {
        "gemma": f"Ollama does not answer at {ollama.host}. Start it (ollama serve), set "
        "OLLAMA_HOST, or choose the bundled embedder.",
        "pipeline": f"The search failed: the endpoint {endpoint.url} does not answer: "
        "Connection refused. Start it, or correct endpoint in collection.toml.",
    }[configuration]
    expect(screen.get_by_role("alert")).to_have_text(said)
    screen.screenshot(path=tmp_path / f"{configuration}-down.png", full_page=True)

    pick(screen, "Configuration", "sparse")
    expect(screen.get_by_role("alert")).to_have_count(0)
    expect(screen.get_by_text("Scores at K = 3").first).to_be_visible()
    pick(screen, "Configuration", configuration)
    expect(screen.get_by_role("alert")).to_have_text(said)

    server.start()
    screen.get_by_role("button", name="Try again").click()
    expect(screen.get_by_text("Scores at K = 3").first).to_be_visible()
    expect(screen.get_by_role("alert")).to_have_count(0)
    expect(screen.locator(".desk-hit").first).to_be_visible()
    screen.screenshot(path=tmp_path / f"{configuration}-back.png", full_page=True)
    assert screen.outside == []


def pick(screen, label, option):
    screen.get_by_role("combobox", name=re.compile(rf"\b{label}\b")).click()
    screen.get_by_role("option", name=option, exact=True).click()

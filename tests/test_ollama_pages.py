"""Page Retrieve while Ollama is down, busy, without the model, or with another one."""

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import REPOSITORY, SPARSE
from tests.ollama_server import OllamaServer, Served

GEMMA = '[configurations.gemma]\nembedder = "ollama:embeddinggemma"\ntimeout = 1.0\n'


@pytest.fixture
def served(monkeypatch):
    found = Served(OllamaServer(context=2048))
    monkeypatch.setenv("OLLAMA_HOST", found.host)
    yield found
    found.stop()


@pytest.fixture
def page(served, indexed, monkeypatch):
    """Retrieve on a question and the configuration that asks Ollama."""
    monkeypatch.chdir(indexed(configurations=GEMMA + SPARSE))
    at = AppTest.from_file(str(REPOSITORY / "app/main.py"), default_timeout=60)
    for step in (at.run, lambda: at.switch_page("pages/retrieve.py"), at.run):
        at.query_params["question"] = "q1"
        step()
    assert not at.exception and alerts(at) == []
    return at


def bodies(at):
    return [e.proto.body for e in at.get("html")]


def alerts(at):
    return [body for body in bodies(at) if 'role="alert"' in body]


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        ("stop", "Ollama does not answer at {host}. Start it (ollama serve), set OLLAMA_HOST, or "
         "choose the bundled embedder."),
        ("wait", "Ollama at {host} did not answer within 1 s. Raise timeout in the "
         "configuration, or choose a smaller model."),
        ("digest", "The embedder ollama:embeddinggemma has changed since tiny was indexed ("
         + "ab" * 12 + " then, " + "cd" * 12 + " now). Index it: desk index tiny."),
        (lambda path, body: httpx.Response(200, json={"models": []}) if "tags" in path else None,
         "Ollama at {host} has no model embeddinggemma. Fetch it: ollama pull embeddinggemma."),
        (lambda path, body: httpx.Response(500, json={"error": "<b>no</b>"}),
         "Ollama at {host} refused: &lt;b&gt;no&lt;/b&gt; (status 500). See the log of ollama "
         "serve."),
    ],
    ids=["down", "slow", "changed", "no model", "fails"],
)  # fmt: skip
def test_one_sentence_and_the_page_goes_on(page, served, fail, said):
    if fail == "stop":
        served.stop()
    elif fail == "digest":
        served.server.digest = "cd" * 32
    else:
        fail = fail if callable(fail) else lambda path, body: served.closing.wait(5) and None
        served.server.fail = fail
    page.run()
    assert alerts(page) == []  # what was found is not asked for again by every press
    page.button(key="search-again").click().run()
    (alert,) = alerts(page)
    assert said.format(host=served.host) in alert and not page.exception
    page.selectbox(key="pick-configuration").select("sparse").run()
    assert alerts(page) == [] and any("Scores at K" in body for body in bodies(page))
    served.server.fail, served.server.digest = None, "ab" * 32
    if fail == "stop":
        served.start()
    page.selectbox(key="pick-configuration").select("gemma").run()
    assert alerts(page) == [] and any("Scores at K" in body for body in bodies(page))


def test_a_question_that_fails_while_it_is_embedded(page, served):
    """The model is still listed; the search of this question fails, and the page says which."""
    asked = len(served.server.embedded)
    served.server.fail = lambda path, body: (
        httpx.Response(500, json={"error": "no memory"}) if path == "/api/embed" else None
    )
    page.button(key="search-again").click().run()
    (alert,) = alerts(page)
    assert f"The search failed: Ollama at {served.host} refused: no memory (status 500)." in alert
    assert any("Scores at K" in body for body in bodies(page)) and not page.exception
    assert len(served.server.embedded) > asked

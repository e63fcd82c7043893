"""Page Retrieve on another program, as Streamlit runs it but without a browser."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import REPOSITORY, SPARSE
from tests.retrievers import Endpoint, Reply, external, hits


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple", "pear"))
    yield made
    made.stop()


@pytest.fixture
def page(indexed, endpoint, monkeypatch):
    """Opens Retrieve on `q1` and a configuration of a tiny workspace."""

    def opened(configuration="pipeline", **keys):
        root = indexed(configurations=external(endpoint=endpoint.url, **keys) + SPARSE)
        monkeypatch.chdir(root)
        at = AppTest.from_file(str(REPOSITORY / "app/main.py"), default_timeout=60)
        steps = [at.run, lambda: at.switch_page("pages/retrieve.py"), at.run]
        for step in steps:
            for key, value in {"question": "q1", "configuration": configuration, "k": "1"}.items():
                at.query_params[key] = value
            step()
        assert not at.exception
        return at

    return opened


def shown(at):
    return "\n".join([e.proto.body for e in at.get("html")] + [t.value for t in at.text])


def alerts(at):
    return [e.proto.body for e in at.get("html") if 'role="alert"' in e.proto.body]


def test_what_it_answers_in_its_order(page, endpoint):
    endpoint.say = lambda question, k: hits(("pear", 0.25), ("apple", 0.75))
    text = shown(page())
    assert (
        text.index("A pear ripens") < text.index("K = 1: what follows") < text.index("pruning in")
    )
    assert "score 0.2500" in text and "ranked deeper by the program: rank 2" in text
    assert "question q1 · answerable · category general · development" in text
    assert "pipeline: searched in " in text and "embedded" not in text
    assert endpoint.asked == [{"format": 1, "question": "When is an apple tree pruned?", "k": 20}]


def test_down_and_back_again(page, endpoint):
    at = page()
    assert alerts(at) == []
    endpoint.stop()
    at.button(key="search-again").click().run()
    (alert,) = alerts(at)
    assert (
        f"The search failed: {endpoint.name} does not answer: Connection refused. Start "
        "it, or correct endpoint in collection.toml." in alert
    )
    assert "The search failed: there is no score." in shown(at) and not at.exception
    at.selectbox(key="pick-configuration").select("sparse").run()
    assert alerts(at) == [] and "pruning in" in shown(at)
    endpoint.start()
    at.selectbox(key="pick-configuration").select("pipeline").run()
    assert alerts(at) == [] and "pruning in" in shown(at)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"<script>alert(1)</script>",
         "sent &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;, which is no JSON."),
        (Reply(b"<b>no</b>", 500), "answered with status 500: &quot;&lt;b&gt;no&lt;/b&gt;&quot;."),
        (hits("cherry"), "returned the chunk &quot;cherry cherry&quot; at rank 1, which is not in"),
        (hits("apple", "apple"), "duplicate keys: apple was returned twice"),
    ],
)  # fmt: skip
def test_a_bad_answer_is_a_sentence(page, endpoint, said, words):
    endpoint.say = lambda question, k: said
    at = page()
    (alert,) = alerts(at)
    assert words in alert and "Scores at K = 1" in shown(at)


def test_nothing_came_back(page, endpoint):
    endpoint.say = lambda question, k: hits()
    text = shown(page())
    assert "Nothing came back. That is a scored miss, not a failure." in text
    assert "not returned: nothing came back" in text


def test_a_threshold_cuts_what_scores_less(page, endpoint):
    endpoint.say = lambda question, k: hits(("pear", 0.9), ("apple", 0.1))
    text = shown(page(threshold=0.5))
    assert "1 hit below the threshold was cut." in text
    # What was cut stands below the line.
    assert text.index("Threshold 0.5: what scores below it is cut") < text.index("pruning in")
    assert "cut by the threshold: score 0.1, threshold 0.5; rank 2 without it" in text


def test_a_threshold_that_leaves_nothing(page, endpoint):
    text = shown(page(threshold=5))
    assert "Nothing is left: the threshold cuts every hit. That is a scored miss, not a" in text
    assert "2 hits below the threshold were cut." in text


def test_a_missing_key_is_told_before_anything_is_asked(page, endpoint, monkeypatch):
    monkeypatch.delenv("PIPELINE_KEY", raising=False)
    (alert,) = alerts(page(authorization_env="PIPELINE_KEY"))
    assert (
        f"The endpoint {endpoint.url} wants a key, and PIPELINE_KEY is not set. Set PIPELINE_KEY."
        in alert
    )
    assert endpoint.asked == []

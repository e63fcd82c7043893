"""`qdrant_url` and `[qdrant]`: what may stand there, and the sentence for what may not."""

import pytest

from app.core.errors import InvalidInput
from app.flows.serving import server_of
from app.workspace import read_settings

PLACE = "data/x/collection.toml"
URL = "http://localhost:6333"


@pytest.fixture
def settings(tmp_path):
    def read(url=None, qdrant=None):
        path = tmp_path / "collection.toml"
        text = "format = 1\n" + ("" if url is None else f"qdrant_url = {url!r}\n")
        text += '[source]\nkind = "markdown"\n'
        text += '[chunking]\nrule = "section-paragraphs-80w-overlap1-v1"\n'
        text += "[configurations.one]\n" + ("" if qdrant is None else f"[qdrant]\n{qdrant}\n")
        path.write_text(text, encoding="utf-8")
        return read_settings(path, PLACE)

    return read


@pytest.fixture
def refused(settings):
    """The one sentence for settings that are refused, without their place."""

    def read(*words):
        with pytest.raises(InvalidInput) as caught:
            settings(*words)
        (found,) = [str(problem) for problem in caught.value.problems]
        assert found.startswith(f"{PLACE}: ")
        return found.removeprefix(f"{PLACE}: ")

    return read


def test_without_an_address_everything_is_embedded(settings):
    assert server_of(settings()) is None


def test_what_is_not_set_has_the_documented_value(settings):
    found = server_of(settings(URL))
    assert (found.url, found.key_env, found.timeout, found.retries) == (
        URL, "QDRANT_API_KEY", 30, 3,
    )  # fmt: skip
    assert (found.batch, found.concurrency, found.host) == (16, 4, "localhost:6333")


def test_what_is_set_is_what_is_used(settings):
    lines = 'api_key_env = "DESK_KEY"\ntimeout = 5\nretries = 0\nbatch = 256\nconcurrency = 64'
    found = server_of(settings(f"{URL}/", lines))
    assert (found.key_env, found.timeout, found.retries) == ("DESK_KEY", 5, 0)
    assert (found.batch, found.concurrency, found.host) == (256, 64, "localhost:6333")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://qdrant.example.org", "qdrant.example.org"),
        ("https://q.example.org:6333/behind/a/proxy", "q.example.org:6333/behind/a/proxy"),
        ("http://[::1]:6333", "[::1]:6333"),
        ("http://bücher.example:6333", "bücher.example:6333"),
    ],
)  # fmt: skip
def test_addresses(settings, url, host):
    assert server_of(settings(url)).host == host


@pytest.mark.parametrize(
    "url",
    ["", "localhost:6333", "localhost", "ftp://localhost", "http://", "http://:6333", "//localhost",
     "http://local host", "http://localhost:port", "http://localhost:0", "http://localhost:99999",
     "http://[::1", "grpc://localhost:6334", "http:///collections", " http://localhost"],
)  # fmt: skip
def test_an_address_that_is_none(refused, url):
    assert refused(url) == (
        f"qdrant_url '{url}' is not an address such as http://localhost:6333. Correct it."
    )


@pytest.mark.parametrize(
    "url",
    ["http://me:sesame@h:6333", "https://sesame@h", "http://:sesame@h", "http://me:sesame@h:x"],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(refused, url):
    assert refused(url) == (
        "qdrant_url holds a name or a password; keys belong into the environment. Correct it."
    )


@pytest.mark.parametrize("url", ["http://h:6333?api-key=sesame", "http://h:6333/#sesame"])
def test_a_query_in_an_address_is_refused_and_not_repeated(refused, url):
    assert refused(url) == (
        "qdrant_url has a query; name the server alone, keys belong into the environment. "
        "Correct it."
    )


@pytest.mark.parametrize(
    "value", ["", "eyJhbGciOi.J9.sesame-1", "my-key", "7KEY", "A KEY", "K" * 100, "schlüssel"]
)
def test_a_key_in_the_place_of_a_variable_is_refused_and_not_repeated(refused, value):
    told = refused(URL, f'api_key_env = "{value}"')
    assert told == "qdrant.api_key_env is not the name of an environment variable. Correct it."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("timeout = 0", 'qdrant.timeout is "0", not greater than or equal to 1'),
        ("timeout = 0.5", 'qdrant.timeout is "0.5", not integer'),
        ("timeout = 3601", 'qdrant.timeout is "3601", not less than or equal to 3600'),
        ("retries = -1", 'qdrant.retries is "-1", not greater than or equal to 0'),
        ("retries = 11", 'qdrant.retries is "11", not less than or equal to 10'),
        ("batch = 0", 'qdrant.batch is "0", not greater than or equal to 1'),
        ("concurrency = 65", 'qdrant.concurrency is "65", not less than or equal to 64'),
        ("concurrency = true", 'qdrant.concurrency is "True", not integer'),
    ],
)
def test_numbers_out_of_range(refused, line, told):
    assert refused(URL, line) == f"{told}. Correct it."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('api_key = "sesame"', 'unknown key "qdrant.api_key". Did you mean api_key_env?'),
        ('url = "http://h"', 'unknown key "qdrant.url". Remove it.'),
        ("retrys = 1", 'unknown key "qdrant.retrys". Did you mean retries?'),
    ],
)
def test_unknown_keys(refused, line, told):
    assert refused(URL, line) == told


@pytest.mark.parametrize("lines", ["", "batch = 4"])
def test_a_table_for_no_server(refused, lines):
    told = refused(None, lines)
    assert told == "[qdrant] is for a server; add qdrant_url, or remove it. Correct it."

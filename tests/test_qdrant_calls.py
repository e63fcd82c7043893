"""Calls to a Qdrant server that fails: one clear sentence, bounded tries, no key told."""

import ssl
import threading

import httpx
import pytest
from qdrant_client.http.exceptions import ResponseHandlingException

from app.core.errors import EngineError, Unreachable
from app.engines.qdrant_calls import Connection, Server
from app.engines.qdrant_filling import collections_of
from tests import serving
from tests.serving import connection

server = serving.server
KEY = "sesame-3f9a"
RETRIED = "also when asked 3 more times"


def ask(made):
    return collections_of(made, "x")


def refusal(made, kind=EngineError):
    with pytest.raises(kind) as caught:
        ask(made)
    assert type(caught.value) is kind
    return str(caught.value)


BUSY = (
    "{at} is asked too often while {doing}, {again}. Lower concurrency under [qdrant] in "
    "collection.toml."
)
FAILED = "{at} failed while {doing}, {again}: %s. See the server's log."
# What the server does, what is said of it, how often it is asked.
PASSING = {
    "dropped": (
        lambda s: s.drop(),
        "the connection to {at} broke off while {doing}, {again}. See the server's log.",
        4,
    ),
    "refused": (
        lambda s: s.stop(),
        "{at} does not answer while {doing}, {again}. Start it, or correct qdrant_url in "
        "collection.toml.",
        0,
    ),
    "429": (lambda s: s.fail(429), BUSY, 4),
    "429 and a time": (lambda s: s.fail(429, headers={"Retry-After": "3"}), BUSY, 4),
    "429 and a date": (
        lambda s: s.fail(429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), BUSY, 4,
    ),
    "408": (lambda s: s.fail(408), FAILED % "Request Timeout (status 408)", 4),
    "500": (
        lambda s: s.fail(500, body={"status": {"error": "Service internal\nerror: disk"}}),
        FAILED % "Service internal error: disk (status 500)",
        4,
    ),
    "502": (lambda s: s.fail(502, body="<html>No"), FAILED % "Bad Gateway (status 502)", 4),
    "503": (lambda s: s.fail(503), FAILED % "Service Unavailable (status 503)", 4),
}  # fmt: skip
KEYLESS = "{at} wants a key while {doing}: %s. Set QDRANT_API_KEY."
REFUSED = "{at} refused while {doing}: %s. %s."
LOG = "See the server's log"
GONE = "Not found: Collection `x` doesn't exist!"
UNREADABLE = (
    "{at} sent an answer that cannot be read while {doing}. Check that qdrant_url leads to a "
    "Qdrant server, and its version."
)
LASTING = {
    "401": (lambda s: s.fail(401), KEYLESS % "Unauthorized (status 401)"),
    "403": (lambda s: s.fail(403), KEYLESS % "Forbidden (status 403)"),
    "404": (
        lambda s: s.fail(404, body={"status": {"error": GONE}}),
        REFUSED % (f"{GONE} (status 404)", "Run desk index again"),
    ),
    "400": (
        lambda s: s.fail(400, body={"status": {"error": "w" * 5_000}}),
        REFUSED % (f"{'w' * 300} (status 400)", LOG),
    ),
    "413": (
        lambda s: s.fail(413, body="[]"),
        REFUSED % ("Request Entity Too Large (status 413)", LOG),
    ),
    "redirect": (
        lambda s: s.fail(307, headers={"Location": "http://127.0.0.1:1/"}),
        REFUSED % ("Temporary Redirect (status 307)", LOG),
    ),
    "no JSON": (lambda s: s.garbage(), UNREADABLE),
    "other JSON": (lambda s: s.fail(200, body={"result": 3}), UNREADABLE),
    "no result": (lambda s: s.fail(200, body={}), UNREADABLE),
    "not UTF-8": (lambda s: s.fail(200, body=b'{"result": "\xff"}'), UNREADABLE),
    "false gzip": (
        lambda s: s.fail(200, body=b"{}", headers={"Content-Encoding": "gzip"}), UNREADABLE,
    ),
}  # fmt: skip


def worded(sentence, made):
    at = f"Qdrant at {made.server.host}"
    return sentence.format(at=at, doing="listing collections", again=RETRIED)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)


@pytest.mark.parametrize(("breaking", "sentence", "tries"), PASSING.values(), ids=PASSING.keys())
def test_what_may_pass_is_tried_a_bounded_number_of_times(server, breaking, sentence, tries):
    made = connection(server)
    breaking(server)
    assert refusal(made, Unreachable) == worded(sentence, made)
    assert len(server.requests) == tries
    server.heal()
    server.start()
    assert ask(made) == []


@pytest.mark.parametrize(("breaking", "sentence"), LASTING.values(), ids=LASTING.keys())
def test_what_asking_does_not_mend_is_asked_once(request, server, breaking, sentence):
    """What is refused to all requests alike counts as nobody answering: the rest is not asked."""
    pauses = []
    made = connection(server, pauses)
    breaking(server)
    kind = Unreachable if request.node.callspec.id in ("401", "403", "404") else EngineError
    assert refusal(made, kind) == worded(sentence, made)
    assert len(server.requests) == 1 and pauses == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_passes_is_waited_for(server, status):
    pauses = []
    server.fail(status, times=3)
    assert ask(connection(server, pauses)) == []
    assert pauses == [0.2, 0.4, 0.8] and len(server.requests) == 4


def test_a_server_says_how_long_to_wait_up_to_ten_seconds(server):
    pauses = []
    server.fail(429, times=1, headers={"Retry-After": "3"})
    server.fail(429, times=1, headers={"Retry-After": "3600"})
    server.fail(429, times=1, headers={"Retry-After": "soon"})
    assert ask(connection(server, pauses)) == []
    assert pauses == [3.0, 10.0, 10.0]


@pytest.mark.parametrize(("retries", "again"), [(0, ""), (1, ", also when asked once more")])
def test_retries_are_as_set(server, retries, again):
    server.fail(503)
    assert f"while listing collections{again}: Service" in refusal(
        connection(server, retries=retries), Unreachable
    )
    assert len(server.requests) == retries + 1


def test_a_time_out_names_the_time_and_where_it_is_set(server):
    server.hang(60)
    made = connection(server, timeout=1, retries=1)
    assert refusal(made, Unreachable) == (
        f"Qdrant at {made.server.host} did not answer within 1 s while listing collections, also "
        "when asked once more. See the server's load, or raise timeout under [qdrant] in "
        "collection.toml."
    )
    assert len(server.requests) == 2


def test_an_address_without_a_host_and_a_server_without_tls(server):
    made = Connection.to(Server("http://nowhere.invalid:6333", retries=0))
    assert refusal(made, Unreachable).startswith("Qdrant at nowhere.invalid:6333 does not answer")
    made = Connection.to(Server(server.url.replace("http:", "https:"), retries=0))
    assert refusal(made, Unreachable) == (
        f"there is no secure connection to Qdrant at {made.server.host} while listing collections. "
        "Correct qdrant_url in collection.toml (http or https), or the server's certificate."
    )


def test_the_certificates_are_checked():
    made = Connection.to(Server("https://localhost"))
    context = made.client._client._rest_args["verify"]
    assert context.verify_mode == ssl.CERT_REQUIRED and context.check_hostname


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_not_told(server, monkeypatch, status):
    monkeypatch.setenv("OTHER", KEY)
    server.fail(status)
    said = refusal(connection(server, key_env="OTHER"), Unreachable)
    assert f"{server.url[7:]} refuses the key while listing collections: " in said
    assert said.endswith(f"(status {status}). Set OTHER to a key that may do this.")
    assert KEY not in said


@pytest.mark.parametrize("stored", [KEY, f"{KEY}\n", f" {KEY}\r\n"])
def test_the_key_comes_from_the_environment_variable_that_is_named(server, monkeypatch, stored):
    server.api_key = KEY
    assert "Set QDRANT_API_KEY." in refusal(connection(server), Unreachable)
    monkeypatch.setenv("OTHER", stored)
    assert ask(connection(server, key_env="OTHER")) == []
    assert "wants a key" in refusal(connection(server), Unreachable)
    made = connection(server, key_env="OTHER")
    assert KEY not in repr(made) + repr(made.server)


@pytest.mark.parametrize("stored", [f"{KEY}\nX-Other: 1", f"{KEY}\x7f", f"{KEY}-schlüssel"])
def test_a_key_that_no_header_can_carry(server, monkeypatch, stored):
    monkeypatch.setenv("QDRANT_API_KEY", stored)
    with pytest.raises(EngineError) as caught:
        connection(server)
    assert str(caught.value) == (
        "the key in QDRANT_API_KEY holds line ends or characters beyond ASCII. "
        "Set QDRANT_API_KEY to the key alone."
    )
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_key_or_a_name_in_the_address_is_not_told():
    assert Server("http://h:1/prefix/?api-key=sesame#x").host == "h:1/prefix"


def test_an_address_with_a_path(server):
    made = Connection.to(Server(f"{server.url}/behind/a/proxy/", retries=0))
    assert made.name == f"Qdrant at {server.url[7:]}/behind/a/proxy"
    assert "refused while listing collections: Not Found (status 404)" in refusal(made, Unreachable)
    assert server.requests == [("GET", "/behind/a/proxy/collections")]


def test_an_interrupt_ends_the_tries_and_later_requests_are_made(server):
    server.hang(0.3, times=1)
    server.fail(503, times=1)
    made = connection(server)
    said = []
    asking = threading.Thread(target=lambda: said.append(refusal(made, Unreachable)))
    asking.start()
    while not server.requests:
        pass
    made.interrupt()
    asking.join(10)
    assert "failed while listing collections: Service Unavailable" in said[0]
    assert len(server.requests) == 1
    server.fail(503, times=1)
    assert ask(made) == [] and len(server.requests) == 3


def test_no_library_speaks_to_a_user(server):
    """Whatever it is that broke, its own words go to the log, by the cause."""
    made = connection(server, retries=0)
    for error in (httpx.ReadError("[Errno 104]"), httpx.RemoteProtocolError("peer closed")):
        server.heal()
        with pytest.raises(Unreachable) as caught:
            made.call("asking", lambda error=error: raising(error))
        assert str(error) not in str(caught.value) and caught.value.__cause__ is not None


def raising(error):
    raise ResponseHandlingException(error)

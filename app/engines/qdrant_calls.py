"""Calls to Qdrant: a server or the client's local mode, errors in our words, bounded retries."""

from __future__ import annotations

import json
import os
import ssl
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from app.core.catalogue import host_of
from app.core.errors import EngineError, Unreachable

T = TypeVar("T")
#: Statuses of servers that are busy, starting or being replaced; Qdrant's own time-out is a 408.
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
#: Statuses of what is refused to every request alike: the key, or the collection is missing.
_LASTING = frozenset({401, 403, 404})
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is reached. `timeout` is seconds for one request; the key is in `key_env`."""

    url: str
    key_env: str = "QDRANT_API_KEY"
    timeout: int = 30
    retries: int = 3
    batch: int = 16
    concurrency: int = 4

    @property
    def host(self) -> str:
        """What messages and provenance call it."""
        return host_of(self.url)

    @property
    def key(self) -> str | None:
        """The key in the environment; raises EngineError for one that no header can carry."""
        # A line end comes with many a file of variables; the client would tell the key with it.
        key = os.environ.get(self.key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise EngineError(
                f"the key in {self.key_env} holds line ends or characters beyond ASCII",
                remedy=f"Set {self.key_env} to the key alone",
            )
        return key or None


@dataclass(frozen=True)
class Connection:
    """A client and how patient to be with it. `missing` says what to do for a collection's lack."""

    client: QdrantClient
    server: Server | None = None
    missing: str = "Run desk index again"
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)
    _interrupts: list[None] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def to(cls, server: Server, missing: str = "Run desk index again") -> Connection:
        """A server, not asked anything yet; raises EngineError for a key that cannot be sent."""
        with warnings.catch_warnings():
            # A key over plain http is for the person who wrote the address to decide.
            warnings.simplefilter("ignore", UserWarning)
            client = QdrantClient(
                url=server.url,
                port=None,
                api_key=server.key,
                timeout=server.timeout,
                check_compatibility=False,
                verify=_certificates(),
            )
        return cls(client, server, missing)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"Qdrant at {self.server.host}" if self.server else "Qdrant"

    def interrupt(self) -> None:
        """Let no request that is under way now be tried again; later ones are."""
        self._interrupts.append(None)

    def call(self, doing: str, request: Callable[[], T]) -> T:
        """The answer. What passes by itself is asked again, a bounded number of times.

        Raises Unreachable where it still fails then, EngineError for what asking does not mend.
        """
        retries = self.server.retries if self.server else 0
        wait, interrupts = _FIRST_PAUSE, len(self._interrupts)
        failure: Exception
        for left in range(retries, -1, -1):
            try:
                return request()
            except ResourceExhaustedResponse as error:
                failure, wait = error, max(wait, float(error.retry_after_s))
            except (UnexpectedResponse, ResponseHandlingException, QdrantException) as error:
                failure = error
                if not _passing(error):
                    raise self._final(doing, error) from error
            except (ValueError, KeyError, TypeError, AssertionError) as error:
                # Local mode refuses by these; over the network they are answers nobody can read.
                if self.server is not None:
                    raise self._final(doing, error) from error
                raise EngineError(
                    f"{self.name} failed while {doing}: {error}", remedy=self.missing
                ) from error
            if left:
                self.pause(min(wait, _LONGEST_PAUSE))
                wait *= 2
            if len(self._interrupts) > interrupts:
                break
        raise self._gone(doing, failure, retries - left) from failure

    def _gone(self, doing: str, error: Exception, retries: int) -> Unreachable:
        more = "once more" if retries == 1 else f"{retries} more times"
        again = f", also when asked {more}" if retries else ""
        source = error.source if isinstance(error, ResponseHandlingException) else error
        if isinstance(source, httpx.TimeoutException) and self.server:
            return Unreachable(
                f"{self.name} did not answer within {self.server.timeout} s while {doing}{again}",
                remedy="See the server's load, or raise timeout under [qdrant] in collection.toml",
            )
        if isinstance(source, httpx.ConnectError):
            if _insecure(source):
                return Unreachable(
                    f"there is no secure connection to {self.name} while {doing}{again}",
                    remedy="Correct qdrant_url in collection.toml (http or https), or the server's "
                    "certificate",
                )
            return Unreachable(
                f"{self.name} does not answer while {doing}{again}",
                remedy="Start it, or correct qdrant_url in collection.toml",
            )
        if isinstance(source, UnexpectedResponse) and source.status_code != 429:
            return Unreachable(
                f"{self.name} failed while {doing}{again}: {_words(source)}",
                remedy="See the server's log",
            )
        if isinstance(source, UnexpectedResponse | QdrantException):
            return Unreachable(
                f"{self.name} is asked too often while {doing}{again}",
                remedy="Lower concurrency under [qdrant] in collection.toml",
            )
        return Unreachable(
            f"the connection to {self.name} broke off while {doing}{again}",
            remedy="See the server's log",
        )

    def _final(self, doing: str, error: Exception) -> EngineError:
        if not isinstance(error, UnexpectedResponse):
            return EngineError(
                f"{self.name} sent an answer that cannot be read while {doing}",
                remedy="Check that qdrant_url leads to a Qdrant server, and its version",
            )
        if error.status_code in (401, 403) and self.server:
            key = self.server.key_env
            has = bool(os.environ.get(key))
            state = "refuses the key" if has else "wants a key"
            remedy = f"Set {key} to a key that may do this" if has else f"Set {key}"
            return Unreachable(f"{self.name} {state} while {doing}: {_words(error)}", remedy=remedy)
        remedy = self.missing if error.status_code == 404 else "See the server's log"
        kind = Unreachable if error.status_code in _LASTING else EngineError
        return kind(f"{self.name} refused while {doing}: {_words(error)}", remedy=remedy)


def _passing(error: Exception) -> bool:
    """Whether asking again may help."""
    if isinstance(error, UnexpectedResponse):
        return error.status_code in _PASSING
    if not isinstance(error, ResponseHandlingException):
        return True  # status 429 with a Retry-After the client cannot read
    return isinstance(error.source, httpx.TransportError)


@cache
def _certificates() -> ssl.SSLContext:
    """Those to trust, read once: it takes a tenth of a second."""
    return httpx.create_ssl_context()


def _insecure(error: BaseException | None) -> bool:
    """Whether a connection failed because it was to be secure."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _words(error: UnexpectedResponse) -> str:
    """The status, and the server's own words where it has some."""
    try:
        said = json.loads(error.content)["status"]["error"]
    except (ValueError, TypeError, KeyError):
        said = error.reason_phrase
    return f"{' '.join(str(said).split())[:300]} (status {error.status_code})"

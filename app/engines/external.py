"""A retriever outside: an HTTP endpoint or a command, asked as the team's own users would ask it.

It is sent `{"format": 1, "question": text, "k": number}` and answers `{"hits": [{"document",
"chunk", "score"}]}` in its own order, best first. An answer that cannot be used fails its question.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import httpx

from app.core.errors import EngineError, Unreachable
from app.core.model import ChunkKey
from app.core.text import shown
from app.engines.external_answers import Answers
from app.engines.external_commands import LONGEST, SAID, Commands
from app.engines.retrieval import Asked, Outcome, Search

_REMEDY = "See the program's own log"
#: A shorter key could be part of any answer; it is not looked for in them.
_SHORTEST_KEY = 6
#: Answers of an address behind which nobody searches: the next question would get the same one.
_NOBODY = frozenset({404, 405, 410, 502, 503, 504})
#: Seconds for a connection; a machine that is there takes no longer.
_CONNECT = 10.0
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


@dataclass(frozen=True, slots=True)
class Program:
    """What is asked, at most `workers` questions at a time. `timeout` is seconds for one question.

    A `command` runs in `folder`, reads the question from its standard input and writes the answer
    to its standard output.
    """

    endpoint: str | None
    command: tuple[str, ...]
    folder: Path
    authorization_env: str | None
    timeout: float
    workers: int

    @property
    def name(self) -> str:
        """What messages call it."""
        if self.endpoint:
            return f"the endpoint {self.endpoint}"
        return f"the command {shown(' '.join(self.command))}"

    def description(self) -> dict[str, Any]:
        """What is asked, for provenance."""
        where = {"endpoint": self.endpoint} if self.endpoint else {"command": list(self.command)}
        return {"engine": "external", **where}


class ExternalEngine:
    """Asks a program, and reads its answers as chunks of a corpus. Its order is kept."""

    batch = 1
    ordered = True

    def __init__(self, program: Program, answers: Answers) -> None:
        """Nothing is asked yet; raises Unreachable where the key it wants is not there."""
        self._program = program
        self._answers = answers
        self._key = _key(program)
        self._commands = Commands(program.name, program.command, program.folder)
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._lock = Lock()
        self._client = self._connections()

    def _connections(self) -> httpx.Client:
        timeout = httpx.Timeout(self._program.timeout, connect=min(self._program.timeout, _CONNECT))
        # Reading the certificates takes a tenth of a second; only https has a use for them.
        secure = (self._program.endpoint or "").lower().startswith("https:")
        # No connection is used twice: each is watched from its beginning.
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(timeout=timeout, verify=secure, limits=limits)

    @property
    def workers(self) -> int:
        """Questions at a time."""
        return self._program.workers

    def description(self) -> Mapping[str, Any]:
        """What is asked."""
        return self._program.description()

    def remarks(self) -> Mapping[str, Any]:
        """What was noticed in the answers so far."""
        return self._answers.remarks()

    def held(self, keys: Sequence[ChunkKey]) -> None:
        """Nothing: a program cannot be asked what it holds."""

    def interrupt(self) -> None:
        """End what is under way: commands are killed, connections closed."""
        self._commands.interrupt()
        with self._lock:
            for one in self._sockets:
                _hang_up(one)
            self._client.close()
            self._client = self._connections()

    def _watch(self, clock: _Clock, event: str, about: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            found = about["return_value"].get_extra_info("socket")
            if isinstance(found, socket.socket):
                clock.add(found)
                with self._lock:
                    self._sockets.add(found)

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question; see `Engine`."""
        # Taken before anything is asked: what an interrupt overtakes meets a closed client.
        client, interrupts = self._client, self._commands.interrupts
        return [self._search(search, one, client, interrupts) for one in asked]

    def _search(
        self, search: Search, asked: Asked, client: httpx.Client, interrupts: int
    ) -> Outcome:
        words = {"format": 1, "question": asked.text, "k": search.depth}
        question = json.dumps(words, ensure_ascii=False).encode("utf-8", errors="replace")
        try:
            if endpoint := self._program.endpoint:
                raw = self._fetch(client, endpoint, question)
            else:
                raw = self._commands.run(question, self._program.timeout, interrupts)
            return self._answers.read(raw, search.depth)
        except TimeoutError:
            return self._too_slow()
        except EngineError as error:
            return error

    def _fetch(self, client: httpx.Client, endpoint: str, question: bytes) -> bytes:
        """The body the endpoint answers, within the time and of a bearable size."""
        name = self._program.name
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body, clock = bytearray(), _Clock(self._program.timeout)
        try:
            with (
                clock,
                client.stream(
                    "POST",
                    endpoint,
                    content=question,
                    headers=headers,
                    extensions={"trace": partial(self._watch, clock)},
                ) as response,
            ):
                for part in response.iter_bytes():
                    body += part
                    if not response.is_success and len(body) > SAID:
                        break
                    if len(body) > LONGEST:
                        raise EngineError(f"{name} sent over {LONGEST:,} bytes", remedy=_REMEDY)
        except httpx.ConnectTimeout as error:
            raise self._silent("no connection") from error
        except httpx.TimeoutException as error:
            raise self._too_slow() from error
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            if clock.late:
                raise self._too_slow() from error
            why = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
            raise self._silent(why) from error
        answer = bytes(body)
        if self._key and len(self._key) >= _SHORTEST_KEY:
            # One that repeats what it was sent must not bring the key into messages and the store.
            answer = answer.replace(self._key.encode(), "…".encode())
        if not response.is_success:
            raise self._refused(response, answer)
        return answer

    def _refused(self, response: httpx.Response, body: bytes) -> EngineError:
        """What a status other than 2xx means; Unreachable where every question will meet it."""
        status, variable = response.status_code, self._program.authorization_env
        said = shown(" ".join(body[:400].decode("utf-8", errors="replace").split()), 160)
        message = f"{self._program.name} answered with status {status}: {said}"
        if response.is_redirect:
            parts = urlsplit(response.headers.get("Location", ""))
            # No query: it may repeat the key.
            there = shown(parts._replace(query="", fragment="").geturl(), 200)
            message = f"{self._program.name} answered with status {status} and points to {there}"
            return Unreachable(message, remedy="Write the address that answers as endpoint")
        if status in (401, 403):
            remedy = "Name the variable that holds its key as authorization_env"
            remedy = f"Correct the key in {variable}" if variable else remedy
            return Unreachable(message, remedy=remedy)
        if status in _NOBODY:
            return Unreachable(message, remedy="Start it, or correct endpoint in collection.toml")
        return EngineError(message, remedy="Lower concurrency" if status == 429 else _REMEDY)

    def _silent(self, why: str) -> Unreachable:
        return Unreachable(
            f"{self._program.name} does not answer: {why}",
            remedy="Start it, or correct endpoint in collection.toml",
        )

    def _too_slow(self) -> Unreachable:
        return Unreachable(
            f"{self._program.name} did not answer within {self._program.timeout:g} s",
            remedy="Raise timeout in the configuration, or lower concurrency",
        )


def _hang_up(one: socket.socket) -> None:
    """End a connection. A thread that reads from a socket does not wake when it is only closed."""
    with suppress(OSError):
        socket.socket.shutdown(one, socket.SHUT_RDWR)


class _Clock:
    """Ends a request when its time is over, whatever it waits for: `late` says that it did."""

    def __init__(self, seconds: float) -> None:
        self.late = False
        self._connections: list[socket.socket] = []
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *failure: object) -> None:
        self._timer.cancel()

    def add(self, connection: socket.socket) -> None:
        self._connections.append(connection)
        if self.late:
            _hang_up(connection)

    def _end(self) -> None:
        self.late = True
        for one in self._connections:
            _hang_up(one)


def _key(program: Program) -> str | None:
    """The key the endpoint wants, from the environment; None where it wants none."""
    if (variable := program.authorization_env) is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise Unreachable(
            f"{program.name} wants a key, and {variable} is not set", remedy=f"Set {variable}"
        )
    if not (key.isascii() and key.isprintable()):
        # What httpx says of such a header quotes it.
        raise Unreachable(
            f"the key in {variable} for {program.name} holds characters that no header can hold",
            remedy=f"Set {variable} to the key alone",
        )
    return key

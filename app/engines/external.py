"""A retriever outside: an HTTP endpoint or a command, asked as the team's own users would ask it.

It is sent `{"format": 1, "question": text, "k": number}` and answers `{"hits": [{"document",
"chunk", "score"}]}` in its own order, best first. An answer that cannot be used fails its question.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import httpx

from app.core.errors import EngineError, Unreachable
from app.core.text import shown
from app.engines.external_answers import Answers
from app.engines.retrieval import Asked, Outcome, Search

_LONGEST = 64 * 1024 * 1024
_REMEDY = "See the program's own log"


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
        return self.endpoint or f"the command {shown(' '.join(self.command))}"

    def description(self) -> dict[str, Any]:
        """What is asked, for provenance."""
        where = {"endpoint": self.endpoint} if self.endpoint else {"command": list(self.command)}
        return {"engine": "external", **where}


class ExternalEngine:
    """Asks a program, and reads its answers as chunks of a corpus. Its order is kept."""

    batch = 1
    ordered = True

    def __init__(self, program: Program, answers: Answers) -> None:
        """Nothing is asked yet."""
        self._program = program
        self._answers = answers
        self._client = httpx.Client(timeout=program.timeout)
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

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

    def interrupt(self) -> None:
        """End what is under way: commands are killed, connections closed."""
        with self._lock:
            for process in self._running:
                _kill(process)
            self._client.close()
            self._client = httpx.Client(timeout=self._program.timeout)

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """One outcome per question; see `Engine`."""
        return [self._search(search, one) for one in asked]

    def _search(self, search: Search, asked: Asked) -> Outcome:
        words = {"format": 1, "question": asked.text, "k": search.depth}
        question = json.dumps(words, ensure_ascii=False).encode("utf-8", errors="replace")
        try:
            endpoint = self._program.endpoint
            raw = self._fetch(endpoint, question) if endpoint else self._run(question)
            return self._answers.read(raw, search.depth)
        except EngineError as error:
            return error

    def _fetch(self, endpoint: str, question: bytes) -> bytes:
        """The body the endpoint answers, within the time and of a bearable size."""
        name, until = self._program.name, time.monotonic() + self._program.timeout
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if variable := self._program.authorization_env:
            if not (key := os.environ.get(variable)):
                raise Unreachable(
                    f"{name} wants a key, and {variable} is not set", remedy=f"Set {variable}"
                )
            headers["Authorization"] = f"Bearer {key}"
        body = bytearray()
        try:
            with self._client.stream(
                "POST", endpoint, content=question, headers=headers
            ) as response:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _LONGEST:
                        raise EngineError(f"{name} sent over {_LONGEST:,} bytes", remedy=_REMEDY)
                    if time.monotonic() > until:
                        raise self._too_slow()
        except httpx.TimeoutException as error:
            raise self._too_slow() from error
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            raise Unreachable(
                f"{name} does not answer: {error or type(error).__name__}",
                remedy="Start it, or correct endpoint in collection.toml",
            ) from error
        if response.status_code != 200:
            said = " ".join(bytes(body[:200]).decode("utf-8", errors="replace").split())
            raise EngineError(
                f"{name} answered with status {response.status_code}: {shown(said, 160)}",
                remedy=_REMEDY,
            )
        return bytes(body)

    def _too_slow(self) -> Unreachable:
        return Unreachable(
            f"{self._program.name} did not answer within {self._program.timeout:g} s",
            remedy="Raise timeout in the configuration, or lower concurrency",
        )

    def _run(self, question: bytes) -> bytes:
        """What the command writes to its standard output."""
        name = self._program.name
        try:
            process = subprocess.Popen(
                self._program.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._program.folder,
                start_new_session=True,  # so that what it starts ends with it
            )
        except (OSError, ValueError) as error:
            raise Unreachable(
                f"{name} cannot be run: {getattr(error, 'strerror', None) or error}",
                remedy="Correct command in collection.toml",
            ) from error
        with self._lock:
            self._running.add(process)
        try:
            out, err = process.communicate(question, timeout=self._program.timeout)
        except subprocess.TimeoutExpired as error:
            raise self._too_slow() from error
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)
        if process.returncode != 0:
            lines = err.decode("utf-8", errors="replace").split("\n")
            said = next((line.strip() for line in reversed(lines) if line.strip()), "no word")
            raise EngineError(
                f"{name} ended with exit code {process.returncode}: {shown(said, 160)}",
                remedy="Run it by hand with the question on its standard input",
            )
        return out


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started; one that has ended is none."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

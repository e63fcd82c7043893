"""Commands asked by their standard input and output, and ended with all they started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from app.core.errors import EngineError, Unreachable
from app.core.text import shown

#: More than this is no answer.
LONGEST = 64 * 1024 * 1024
#: Of what a program says of its failure, only the end is kept.
SAID = 64 * 1024


class Commands:
    """Runs of one command, several at a time; all of them end at once when interrupted.

    `name` is what messages call it.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        """Nothing runs yet."""
        self._name, self._command, self._folder = name, command, folder
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._interrupts = 0

    @property
    def interrupts(self) -> int:
        """How often it was interrupted; a search notes it before it runs anything."""
        return self._interrupts

    def interrupt(self) -> None:
        """End what runs. What was begun before and has not started yet will not start."""
        with self._lock:
            self._interrupts += 1
            for process in self._running:
                _kill(process)

    def run(self, question: bytes, timeout: float, interrupts: int) -> bytes:
        """What it writes to its standard output; raises TimeoutError and EngineError."""
        until = time.monotonic() + timeout
        process = self._start(interrupts)
        try:
            out, err = _exchange(process, question, until)
            if len(out) <= LONGEST:
                process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)
        if len(out) > LONGEST:
            raise EngineError(
                f"{self._name} wrote over {LONGEST:,} bytes", remedy="See the program's own log"
            )
        if code := process.returncode:
            lines = err.decode("utf-8", errors="replace").split("\n")
            said = next((line.strip() for line in reversed(lines) if line.strip()), None)
            ended = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
            words = "without a word" if said is None else shown(said, 160)
            raise EngineError(
                f"{self._name} {ended}: {words}",
                remedy="Run it by hand with the question on its standard input",
            )
        return out

    def _start(self, interrupts: int) -> subprocess.Popen[bytes]:
        try:
            with self._lock:
                if interrupts != self._interrupts:
                    raise Unreachable(f"{self._name} was not run: the search was interrupted")
                process = subprocess.Popen(
                    self._command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self._folder,
                    start_new_session=True,  # so that what it starts ends with it
                )
                self._running.add(process)
        except (OSError, ValueError) as error:
            raise Unreachable(
                f"{self._name} cannot be run: {getattr(error, 'strerror', None) or error}",
                remedy="Correct command in collection.toml",
            ) from error
        return process


def _exchange(
    process: subprocess.Popen[bytes], question: bytes, until: float
) -> tuple[bytes, bytes]:
    """Give a process its question; what it wrote to its standard output, and the end of the other.

    One that does not read is not waited for, and of one that writes without end no more is kept
    than tells so. Raises TimeoutError.
    """
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise ValueError("a process without pipes")
    out, err, left = bytearray(), bytearray(), memoryview(question)
    with stdin, stdout, stderr, selectors.DefaultSelector() as waiting:
        os.set_blocking(stdin.fileno(), False)
        waiting.register(stdin, selectors.EVENT_WRITE)
        waiting.register(stdout, selectors.EVENT_READ, out)
        waiting.register(stderr, selectors.EVENT_READ, err)
        while waiting.get_map() and len(out) <= LONGEST:
            if (wait := until - time.monotonic()) <= 0:
                raise TimeoutError
            for at, _ in waiting.select(wait):
                if at.fileobj is stdin:
                    left = _written(at.fd, left)
                    if not left:
                        waiting.unregister(stdin)
                        stdin.close()
                elif part := os.read(at.fd, SAID):
                    at.data.extend(part)
                    del err[:-SAID]
                else:
                    waiting.unregister(at.fileobj)
    return bytes(out), bytes(err)


def _written(pipe: int, left: memoryview) -> memoryview:
    """What is left to write after as much as goes."""
    try:
        return left[os.write(pipe, left) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return left[:0]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started; one that has ended is none."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

"""How a flow tells how far it is, and what an earlier run left unfinished."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.core.errors import NotReady
from app.core.ids import event_id
from app.core.judgments import now

#: Called with what is being done, the number done, and the number in all.
Progress = Callable[[str, int, int], None]


class Cancelled(KeyboardInterrupt):
    """Raised by a `Progress` to end work in a thread as Ctrl-C ends a command's: what is done is
    kept.
    """


def silent(what: str, done: int, total: int) -> None:
    """No progress."""


@contextmanager
def marked(folder: Path, what: str, kept: str = "Nothing of it is stored") -> Iterator[list[str]]:
    """Mark work as under way; yields sentences about earlier work that was cut short.

    `kept` says what remains of it when it is cut short.
    A mark is a file under a lock that dies with its process, so a mark whose lock is free was
    left by a crash or kill -9. It goes once work has succeeded that could tell of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    left = _left_over(folder)
    mark = folder / f"{event_id()}.json"
    with _held(mark):
        mark.write_text(
            json.dumps({"what": what, "pid": os.getpid(), "started": now(), "kept": kept})
        )
        try:
            yield list(left.values())
        finally:
            mark.unlink(missing_ok=True)
    for told in left:
        told.unlink(missing_ok=True)


@contextmanager
def exclusively(lock: Path, doing: str, place: str) -> Iterator[None]:
    """One process at a time; raises NotReady where another holds the lock."""
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise NotReady(
            f"another process is {doing}", place=place, remedy="Wait for it to end, then try again"
        ) from None


@contextmanager
def _held(mark: Path) -> Iterator[None]:
    """The lock of a mark; raises Timeout while its work goes on."""
    path = Path(f"{mark}.lock")
    with FileLock(path, timeout=0):
        yield
        path.unlink(missing_ok=True)


def _left_over(folder: Path) -> dict[Path, str]:
    """Marks whose work no longer goes on, each with its sentence."""
    found: dict[Path, str] = {}
    for mark in sorted(folder.glob("*.json")):
        try:
            with _held(mark):
                # Its work may have ended, in good order, since the folder was read.
                if mark.exists():
                    found[mark] = _sentence(mark)
        except Timeout:
            continue
    return found


def _sentence(mark: Path) -> str:
    try:
        value = json.loads(mark.read_text())
        return (
            f"{value['what']}, started {value['started']} by process {value['pid']}, did not "
            f"finish. {value['kept']}."
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "Work that an earlier process began did not finish."

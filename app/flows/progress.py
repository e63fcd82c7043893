"""How a flow tells how far it is, and what an earlier run left unfinished."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.core.ids import event_id
from app.core.judgments import now

#: Called with what is being done, the number done, and the number in all.
Progress = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """No progress."""


@contextmanager
def marked(folder: Path, what: str) -> Iterator[list[str]]:
    """Mark work as under way; yields sentences about earlier work that was cut short.

    A mark is a file under a lock that dies with its process, so a mark whose lock is free was
    left by a crash or kill -9.
    """
    folder.mkdir(parents=True, exist_ok=True)
    notices = _left_over(folder)
    mark = folder / f"{event_id()}.json"
    lock = FileLock(f"{mark}.lock")
    lock.acquire()
    try:
        mark.write_text(json.dumps({"what": what, "pid": os.getpid(), "started": now()}))
        yield notices
    finally:
        mark.unlink(missing_ok=True)
        lock.release()
        Path(f"{mark}.lock").unlink(missing_ok=True)


def _left_over(folder: Path) -> list[str]:
    notices: list[str] = []
    for mark in sorted(folder.glob("*.json")):
        lock = FileLock(f"{mark}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        try:
            value = json.loads(mark.read_text())
            notices.append(
                f"{value['what']}, started {value['started']} by process {value['pid']}, did not "
                "finish. Nothing half done was kept."
            )
        except (OSError, ValueError, KeyError):
            notices.append("Work that an earlier process began did not finish.")
        finally:
            mark.unlink(missing_ok=True)
            lock.release()
            Path(f"{mark}.lock").unlink(missing_ok=True)
    return notices

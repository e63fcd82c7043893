"""Opening a file that one process at a time may have open."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from app.engines.store_errors import is_locked, locked, ours


class Closable(Protocol):
    """An open connection."""

    def close(self) -> None:
        """Let the file go."""


ConnectionT = TypeVar("ConnectionT", bound=Closable)


def patiently(
    connect: Callable[[], ConnectionT],
    failure: type[Exception],
    path: Path,
    place: str,
    seconds: float,
) -> ConnectionT:
    """What `connect` opens, once no other process has the file open, within so many seconds.

    `failure` is what `connect` raises. Raises StoreLocked, or what else keeps it from opening.
    """
    until = time.monotonic() + seconds
    pause = 0.005
    while True:
        inode = _inode(path)
        try:
            connection = connect()
            if inode in (None, _inode(path)):
                return connection
            # Another file was put in its place meanwhile: what is open has no name any more.
            connection.close()
        except failure as error:
            if inode == _inode(path) and not is_locked(error):
                raise ours(error, place) from error
            if time.monotonic() > until:
                raise locked(error, place, seconds) from error
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 1.5, 0.03)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None

"""The folder of an engine in this process: its own as long as the process lives, then nobody's.

A folder is in use while the lock in it is held. The system frees a lock with its process, however
that ends, so a folder whose lock is free is left over, and whoever makes the next one removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import EngineError

PREFIX = "relevance-desk-engine-"
_LOCK, _SHARD = "lock", "shard"
#: Free bytes without which nothing more is written. The engine writes through mapped memory, where
#: a full disk ends the process instead of failing a call.
_SPARE = 32 << 20
#: A folder is lost to a process that sweeps only in the instant before it is locked.
_TRIES = 10
_REMEDY = "Make room there, or set TMPDIR to a folder that can be written to"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that no other process removes; `path` is where the engine's files go."""

    path: Path
    _home: Path
    _descriptor: int
    _process: int

    @classmethod
    def take(cls) -> Folder:
        """Make one, after removing those left over; raises EngineError where that is refused."""
        try:
            parent = Path(tempfile.gettempdir())
            sweep(parent)
            for _ in range(_TRIES):
                home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
                descriptor = _hold(home, os.O_CREAT)
                if descriptor is not None:
                    return cls(home / _SHARD, home, descriptor, os.getpid())
        except OSError as error:
            raise _refused(error.strerror or str(error)) from error
        raise _refused("other processes remove what is made there")

    def require_room(self) -> None:
        """Raise EngineError where the disk is about to be full."""
        try:
            free = shutil.disk_usage(self._home).free
        except OSError as error:
            raise _refused(error.strerror or str(error)) from error
        if free < _SPARE:
            raise _refused(f"only {free >> 20} MB are left there")

    @property
    def mine(self) -> bool:
        """Whether this process made it, and was not forked off the one that did."""
        return os.getpid() == self._process

    def release(self) -> None:
        """Remove it."""
        shutil.rmtree(self._home, ignore_errors=True)
        with suppress(OSError):
            os.close(self._descriptor)


def sweep(parent: Path) -> None:
    """Remove the folders in `parent` that processes have left over."""
    for home in parent.glob(f"{PREFIX}*"):
        # Somebody else's, or gone by now: neither is any concern of this process.
        with suppress(OSError):
            _sweep(home)


def _sweep(home: Path) -> None:
    names = {path.name for path in home.iterdir()}
    if home.is_symlink() or not names <= {_LOCK, _SHARD}:
        return  # not made here
    if _LOCK not in names:
        home.rmdir()  # its process ended before it locked it, or is about to notice
    elif (descriptor := _hold(home)) is not None:
        shutil.rmtree(home, ignore_errors=True)
        os.close(descriptor)


def _hold(home: Path, flags: int = 0) -> int | None:
    """Lock a folder; None where another process has it, or has removed it meanwhile."""
    lock = home / _LOCK
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        there, mine = lock.stat(), os.fstat(descriptor)
        if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _refused(why: str) -> EngineError:
    try:
        where = tempfile.gettempdir()
    except OSError:
        where = "the temporary folder"
    return EngineError(f"the search engine cannot keep its files in {where}: {why}", remedy=_REMEDY)

"""What the upkeep of a workspace shares: sizes in words, and whether a lock is held."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


def size_words(size: int) -> str:
    """A number of bytes as people read it: `512 bytes`, `3.1 MB`."""
    if size < 1000:
        return f"{size} bytes"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.95 or unit == "TB":
            break
    return f"{value:.1f} {unit}"


def files_in(folder: Path) -> Iterator[Path]:
    """Every file below a folder in order, links followed, none twice; nothing where it is none."""
    seen: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        yield from (Path(place) / name for name in sorted(names))


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; what goes meanwhile counts as nothing."""
    found = 0
    for path in files_in(folder):
        try:
            found += path.stat().st_size
        except OSError:
            continue
    return found


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock file; makes and changes nothing."""
    try:
        descriptor = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False

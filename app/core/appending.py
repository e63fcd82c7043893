"""Appending to a file so that it is on the disk, or the file is as it was before."""

from __future__ import annotations

import os
from pathlib import Path

from app.core.jsonlines import parse_object


def set_torn_aside(path: Path, shown_path: str) -> str | None:
    """Leave a file that ends with a line end; returns what was moved, or None."""
    if not path.exists() or _ends_with_newline(path):
        return None
    raw = path.read_bytes()
    whole, newline, tail = raw.rpartition(b"\n")
    if isinstance(parse_object(tail), dict):
        write(path, b"\n")
        return None
    with path.with_name(path.name + ".torn").open("ab") as aside:
        aside.write(tail + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    os.truncate(path, len(whole) + len(newline))
    return f"{shown_path}: a line that was cut short was moved to {path.name}.torn."


def write(path: Path, data: bytes) -> None:
    """One write and an fsync; on a failure the file is as it was before."""
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, data)
            if written != len(data):
                raise OSError(28, f"only {written} of {len(data)} bytes fitted on the disk")
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells one state of a file from another; None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _ends_with_newline(path: Path) -> bool:
    """Whether a file is empty or ends with a line end; reads one byte, whatever its size."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"

"""Files that are there whole or not at all, and what the disk refuses, in our words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from app.core.errors import InvalidInput


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write under; at the end it takes the place of `path`.

    Where what is inside fails, `path` stays as it was and nothing is left over.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Write a whole file so that a reader, or a crash, meets the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def on_disk(what: str, place: str, remedy: str) -> Iterator[None]:
    """Tell an OSError inside as InvalidInput: `what`, and what the disk says."""
    try:
        yield
    except OSError as error:
        message = f"{what}: {error.strerror or error}"
        raise InvalidInput(message, place=place, remedy=remedy) from error


def reading(place: str) -> AbstractContextManager[None]:
    """The same for a file that is read because somebody named it."""
    return on_disk("the file cannot be read", place, "Name a readable file")

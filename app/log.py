"""The log file: what was run and how it ended, and tracebacks, which never go to a user."""

from __future__ import annotations

import traceback
from pathlib import Path

from app.core.errors import DeskError, EngineError, LabelNotSaved, StoreError
from app.core.judgments import now

_MOST_BYTES = 5_000_000


def record_cause(error: DeskError, root: Path) -> None:
    """Log an error of the outside world behind one of ours; the sentence alone may not do."""
    if error.__cause__ is not None and isinstance(error, EngineError | StoreError | LabelNotSaved):
        record(error, root)


def record(error: BaseException, root: Path) -> str:
    """Append the traceback of an error to the workspace's log; returns where it stands."""
    return _append("\n" + "".join(traceback.format_exception(error)), root)


def note(words: str, root: Path) -> str:
    """Append one line on what was done; returns where it stands."""
    return _append(f" {words}", root)


def _append(text: str, root: Path) -> str:
    """Append under the time; a log above 5 MB is set aside as `desk.log.1`."""
    folder = root / "data"
    if not folder.is_dir():
        return "no log: there is no workspace here"
    path = folder / "desk.log"
    try:
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(path.with_name("desk.log.1"))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{now()}{text}\n")
    except OSError as failed:
        return f"no log: {failed.strerror}"
    return "data/desk.log"

"""What DuckDB says, in our words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import StoreCorrupt, StoreError, StoreLocked, StoreNewer

#: What DuckDB says of a file that is damaged.
_DAMAGED = (
    r"not a valid DuckDB|corrupt|checksum|deserializ|Serialization|Could not read enough bytes"
)


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has the file open."""

    pid: int
    program: str


def holder(error: BaseException | None) -> Holder | None:
    """Who holds the lock that an error of DuckDB speaks of, if it tells."""
    found = re.search(r"held in (.+?) \(PID (\d+)\)", str(error))
    return Holder(int(found[2]), Path(found[1]).name) if found else None


def is_locked(error: BaseException) -> bool:
    """Whether an error of DuckDB says that another process has the file open."""
    return "lock on file" in str(error)


def locked(error: BaseException, place: str, seconds: float) -> StoreLocked:
    """The error for a file that another process did not let go of in time."""
    by = holder(error)
    who = f"process {by.pid} ({by.program})" if by else "another process"
    return StoreLocked(
        f"{who} has held the store for {seconds:.0f} s",
        place=place,
        remedy="Wait for it to end or stop it, then try again",
    )


def newer(what: str, place: str) -> StoreNewer:
    """The error for a file that `what` wrote."""
    return StoreNewer(
        f"the store was written by {what}",
        place=place,
        remedy="Update: pip install --upgrade relevance-desk",
    )


def ours(error: BaseException, place: str) -> StoreError:
    """The error for anything else that DuckDB says."""
    text = str(error)
    if "WAL does not match" in text:
        return StoreCorrupt(
            "the file belongs to another store, as when a backup was put in place beside it",
            place=f"{place}.wal",
            remedy="Move it away: the store is whole without it",
        )
    if re.search(
        _DAMAGED,
        text,
    ):
        return StoreCorrupt(
            "the file is not a readable store",
            place=place,
            remedy="Put a backup in its place, or move it away: labels are kept elsewhere, "
            "and executions of your own configurations can be run again",
        )
    if re.search(r"newer|storage version|version number", text):
        return newer("a newer version of DuckDB", place)
    return StoreError(
        f"the store failed: {text.splitlines()[0]}",
        place=place,
        remedy="Check the disk's space and permissions; data/desk.log has the details",
    )

"""What an examination finds: fine, doubtful or broken, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from app.core.errors import DeskError, Problem

Level = Literal["ok", "warning", "error"]
#: Of problems of one kind so many are told; of the rest their number.
MOST = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    problem: Problem


def ok(message: str, place: str = "", remedy: str = "") -> Finding:
    """Nothing to do, unless `remedy` says what one may do."""
    return Finding("ok", Problem(message, place, remedy))


def warning(message: str, place: str = "", remedy: str = "") -> Finding:
    """Worth a look; everything works."""
    return Finding("warning", Problem(message, place, remedy))


def error(message: str, place: str = "", remedy: str = "") -> Finding:
    """Something does not work, or was lost."""
    return Finding("error", Problem(message, place, remedy))


def raised(failure: DeskError, level: Level = "error") -> list[Finding]:
    """A finding per problem of an error that was raised."""
    return limited(Finding(level, problem) for problem in failure.problems)


def guarded(look: Callable[[], list[Finding]]) -> list[Finding]:
    """What a look finds; what keeps it from looking is a finding, too."""
    try:
        return look()
    except DeskError as failure:
        return raised(failure)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        remedy = "Mend the permissions, or the disk"
        return [error(f"this cannot be looked at: {reason}", str(failure.filename or ""), remedy)]


def limited(findings: Iterable[Finding]) -> list[Finding]:
    """The first few, and how many more there are."""
    found = list(findings)
    more = len(found) - MOST
    if more <= 0:
        return found
    return [*found[:MOST], Finding(found[MOST].level, Problem(f"and {more:,} more like these"))]

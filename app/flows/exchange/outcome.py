"""What an import or an export came to: counted first, and written only if nothing is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.core.errors import Problem
from app.flows.wording import count

#: So many refused rows are told one by one; the others are counted.
_MOST = 1000


@dataclass
class Refused:
    """Rows that cannot be taken: every one counted, the first of them told."""

    problems: list[Problem] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)

    def add(self, problem: Problem, line: int) -> None:
        """One reason why a line is refused."""
        self.lines.add(line)
        if len(self.problems) < _MOST:
            self.problems.append(problem)

    def __len__(self) -> int:
        """The number of lines refused."""
        return len(self.lines)


@dataclass
class Outcome:
    """What an import found in a file, and whether it was written.

    `read` rows of the file are `new`, `known` (there already), `left_out` by a choice of the user
    or a rule, or refused. `authors` are under whose names new judgments come, with their numbers.
    """

    what: str
    source: str
    read: int = 0
    new: int = 0
    known: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    refused: Refused = field(default_factory=Refused)
    notes: list[str] = field(default_factory=list)
    written: bool = False
    skipping: bool = False
    result: Any = None
    authors: Counter[str] = field(default_factory=Counter)

    def refuse(self, line: int, message: str, remedy: str) -> None:
        """Refuse a line of the file."""
        self.refused.add(Problem(message, f"{self.source}:{line}", remedy), line)

    def finish(self, write: Callable[[], Any], *, dry_run: bool, skip_refused: bool) -> Outcome:
        """Write unless this is a dry run or a row is refused; `skip_refused` writes the others."""
        self.skipping = skip_refused
        stopped = len(self.refused) and not skip_refused
        if not dry_run and not stopped:
            self.result = write()
            self.written = True
        return self

    @property
    def ok(self) -> bool:
        """Whether nothing is refused, or what is refused was left out because the user said so."""
        return self.written or self.skipping or not self.refused.lines


def counts_text(found: Outcome) -> str:
    """Rows in and what they came to, in words."""
    parts = [f"{found.new:,} new", f"{found.known:,} there already"]
    parts += [f"{number:,} left out ({reason})" for reason, number in found.left_out.items()]
    parts.append(f"{len(found.refused):,} refused")
    return f"{found.source}: {count(found.read, 'row')} read, {found.what}: {', '.join(parts)}"


def outcome_text(found: Outcome) -> str:
    """The counts in words, one line, and what happens next."""
    head = counts_text(found)
    if found.written:
        return f"{head}. {'Imported' if found.new else 'There was nothing to do'}."
    if not found.ok:
        return f"{head}. Nothing was written: mend the rows, or leave them out with --skip-refused."
    return f"{head}. A dry run: nothing was written."


def outcome_json(found: Outcome) -> dict[str, Any]:
    """The answer of `desk import --json`, one of its `imports`."""
    return {
        "what": found.what,
        "source": found.source,
        "read": found.read,
        "new": found.new,
        "known": found.known,
        "left_out": dict(found.left_out),
        "refused": len(found.refused),
        "problems": [
            {"place": p.place, "message": p.message, "remedy": p.remedy}
            for p in found.refused.problems
        ],
        "notes": found.notes,
        "written": found.written,
    }

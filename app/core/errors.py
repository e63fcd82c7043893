"""Every error a user can meet.

DeskError                   one sentence: the thing, the place, the cause, the remedy
├── InvalidInput            a file, a setting or an argument; carries every problem found
│   └── ForeignLabels       not one label names a chunk of the corpus
├── NotReady                something must be done first (index, start a server)
├── EngineError             an outside thing failed: embedder, Qdrant
│   ├── Unreachable         it does not answer: what is asked next will fail as well
│   └── EmbedderError
│       └── EmbedderUnreachable
├── StoreError              the DuckDB file
│   ├── StoreLocked         another process holds it
│   ├── StoreCorrupt        it cannot be read
│   └── StoreNewer          a newer program wrote it
├── LabelNotSaved           an append to the ledger did not reach the disk
└── LabelConflict           the item changed since it was shown
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and what to do about it."""

    message: str
    place: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        """`place: message. Remedy.`, each part only where there is one."""
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.remedy:
            text = f"{text.rstrip('.')}. {self.remedy}"
        return text if text.endswith((".", "?", "!")) else f"{text}."


class DeskError(Exception):
    """What a user is told instead of a traceback."""

    def __init__(self, message: str, *, place: str = "", remedy: str = "") -> None:
        """Keep the one problem; `InvalidInput` may hold several."""
        self.problems: tuple[Problem, ...] = (Problem(message, place, remedy),)
        super().__init__(str(self.problems[0]))


class InvalidInput(DeskError):
    """Input that is refused; nothing was written."""

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> InvalidInput:
        """One error for all `problems`, in their order; needs at least one."""
        found = tuple(problems)
        first = found[0]
        error = cls(first.message, place=first.place, remedy=first.remedy)
        error.problems = found
        error.args = ("\n".join(str(problem) for problem in found),)
        return error


class ForeignLabels(InvalidInput):
    """Not one label names a chunk of the corpus: two id spaces never meet in silence."""


class NotReady(DeskError):
    """Something must be done first."""


class EngineError(DeskError):
    """An outside thing failed."""


class Unreachable(EngineError):
    """An outside thing does not answer, also when asked again."""


class EmbedderError(EngineError):
    """The embedder is missing, unreachable, too slow or not the one that was indexed with."""


class EmbedderUnreachable(EmbedderError, Unreachable):
    """The embedder does not answer."""


class StoreError(DeskError):
    """The DuckDB file cannot be used."""


class StoreLocked(StoreError):
    """Another process holds the file."""


class StoreCorrupt(StoreError):
    """The file is not a readable store."""


class StoreNewer(StoreError):
    """A newer program wrote the file."""


class LabelNotSaved(DeskError):
    """The append did not reach the disk; the item stays gradable."""


class LabelConflict(DeskError):
    """The item was judged, changed or retired since it was shown; nothing was written."""

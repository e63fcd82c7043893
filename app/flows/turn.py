"""What is on a reviewer's screen: plain records, with nothing of other reviewers but counts."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.judgments import Judgment
from app.flows.labeling import Item
from app.flows.stale import Stale


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts from the ledger: of one question and of the collection.

    `settled` pairs have the judgments they need, of `total` the team is to judge; `mine` were
    judged by the reviewer, `left` are asked of them. `seconds` is what one item takes them.
    """

    question_settled: int
    question_total: int
    question_mine: int
    settled: int
    total: int
    mine: int
    left: int
    seconds: float

    @property
    def estimate(self) -> str:
        """What is left in words: `420 pairs, about 1 h 45 at 15 s each`, or `nothing`."""
        if not self.left:
            return "nothing"
        pairs = "1 pair" if self.left == 1 else f"{self.left:,} pairs"
        return f"{pairs}, about {duration(self.left * self.seconds)} at {self.seconds:.0f} s each"


@dataclass(frozen=True, slots=True)
class Linked:
    """How far the items of a link are: `done` of `total` are judged by the reviewer.

    `place` is that of the item on screen, from 1 and in the reviewer's own order; None where
    another item is on screen, or none.
    """

    place: int | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Turn:
    """One screen. `own` is the reviewer's judgment of the item, `strip` their last ones.

    `stale` is what they said of the item before it, or the question, was changed; of such judgments
    they have `stale_in_all`. `deciding` pairs of a comparison lack a judgment, by whomever; None
    where none was asked for.

    `unreturned`: the question asked for has no pair at all; `elsewhere`: it has none left, this is
    its text, and the item is another's. `blocked`: there is something left for the reviewer, but
    others have it on screen now. `linked`: how far the items of a link are, where one asks for
    them and nothing else.
    """

    item: Item | None
    own: Judgment | None
    stale: Stale | None
    stale_in_all: int
    put_off: bool
    question: str | None
    progress: Progress
    strip: tuple[Judgment, ...]
    deciding: int | None
    unreturned: bool
    elsewhere: str | None
    blocked: bool
    linked: Linked | None = None


def duration(seconds: float) -> str:
    """`1 min`, `25 min`, `1 h 45`."""
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    # To 5 minutes: more would promise what nobody knows.
    minutes = 5 * round(minutes / 5)
    return f"{minutes // 60} h {minutes % 60:02}"

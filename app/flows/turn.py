"""What is on a reviewer's screen: plain records, with nothing of other reviewers but counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from app.core.judgments import Judgment
from app.flows.labeling import Item
from app.flows.own import Own
from app.flows.stale import Stale

#: Judgments a pace is taken from; a longer pause between two is no judging.
_RECENT, _LONGEST_PAUSE, _FEWEST = 30, 180.0, 5


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts from the ledger: of one question and of the collection.

    `settled` pairs have the judgments they need, of `total` the team is to judge; `mine` were
    judged by the reviewer, `left` are asked of them. `seconds` is what one item takes them.
    """

    question_settled: int
    question_total: int
    question_mine: int
    question_left: int
    settled: int
    total: int
    mine: int
    left: int
    seconds: float

    @property
    def estimate(self) -> str:
        """What is left in words: `420 pairs, about 1 h 45 at 15 s each`."""
        pairs = "1 pair" if self.left == 1 else f"{self.left:,} pairs"
        return f"{pairs}, about {duration(self.left * self.seconds)} at {self.seconds:.0f} s each"


@dataclass(frozen=True, slots=True)
class Turn:
    """One screen. `own` is the reviewer's judgment of the item, `strip` their last ones.

    `stale` is what they said of the item before it, or the question, was changed; of such judgments
    they have `stale_in_all`. `deciding` pairs are left to be judged for a comparison, None where
    none was asked for.

    `blocked`: there is something left for the reviewer, but others have it on screen now.
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
    blocked: bool


def duration(seconds: float) -> str:
    """`1 min`, `25 min`, `1 h 45`."""
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return f"{minutes} min"
    # To 5 minutes: more would promise what nobody knows.
    minutes = 5 * round(minutes / 5)
    return f"{minutes // 60} h {minutes % 60:02}"


def pace(own: Own, otherwise: float) -> float:
    """Seconds an item takes a reviewer: the median of their last pauses between judgments."""
    times: list[float] = []
    for event in reversed(own.events.values()):
        if len(times) > _RECENT:
            break
        if event.author == own.reviewer and event.kind in ("grade", "cannot-judge"):
            try:
                times.append(datetime.fromisoformat(event.time).timestamp())
            except ValueError:
                continue
    pauses = [later - earlier for later, earlier in pairwise(times)]
    pauses = [pause for pause in pauses if 0 < pause <= _LONGEST_PAUSE]
    return max(1.0, median(pauses)) if len(pauses) >= _FEWEST else otherwise

"""What a reviewer is told of the work: how far it is, how long it will take, what they did last."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from statistics import median

from app.core.judgments import Judgment
from app.flows.ground import Ground
from app.flows.own import Own
from app.flows.turn import Progress
from app.flows.worklist import Worklist

#: Judgments shown in the strip of what was done last.
STRIP = 20
#: Judgments a pace is taken from; a longer pause between two is no judging.
_RECENT, _LONGEST_PAUSE, _FEWEST = 40, 180.0, 15


def progress_of(
    ground: Ground, worklist: Worklist, own: Own, question: str | None, seconds: float
) -> Progress:
    """Counts of a question and of the collection; `seconds` an item takes as long as the
    reviewer's own pace is not known.
    """
    known = question is not None and question in ground.pool.pairs
    plot = ground.plot(question) if known and question else None
    settled, total = ground.team
    return Progress(
        question_settled=plot.settled if plot else 0,
        question_total=len(plot.texts) if plot else 0,
        question_mine=own.judged(question) if question else 0,
        settled=settled,
        total=total,
        mine=len(own.fresh),
        left=worklist.left,
        seconds=pace(own, seconds),
    )


def strip_of(own: Own) -> Iterable[Judgment]:
    """The reviewer's last judgments in force, newest first."""
    shown = 0
    for event in reversed(own.events.values()):
        if shown == STRIP:
            return
        if event.author == own.reviewer and not event.adjudication and own.in_force(event):
            shown += 1
            yield event


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
    return max(3.0, median(pauses)) if len(pauses) >= _FEWEST else otherwise

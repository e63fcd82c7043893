"""Which judgments of a ledger are somebody's first of an item, given blind and not taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from app.core.grades import text_judged
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.flows.loading import Loaded

#: A question's id, what was judged under it (a text hash, or a key without a text), and the
#: question's hash.
Item = tuple[str, object, str]
#: An author, a question's id and what was judged under it.
_Subject = tuple[str, str, object]
#: What an undo has of its own; all else it repeats from the judgment it brings back.
_OF_AN_UNDO = {"event", "time", "replaces", "undoes"}


def first_of_each(
    loaded: Loaded, placed: Iterable[Placed[Judgment]]
) -> tuple[dict[tuple[str, Item], Judgment], Counter[str]]:
    """The first blind judgment of every author and item, in the order of the ledger.

    Also how many judgments do not count, by the reason. A judgment that changes another of its
    author is no first one: not of the item it is of, nor, where text or question had changed in
    between, of a new item, for what was said before is known to who says it again.
    """
    events = [one.event for one in placed]
    undone = _Undone(events)
    found: dict[_Subject, dict[str, Judgment]] = {}
    left_out: Counter[str] = Counter()
    for event in events:
        question = loaded.questions.get(event.question)
        if event.adjudication:
            left_out["adjudications"] += event.kind == "grade"
        elif undone.skips(event):
            continue
        elif question is None:
            left_out["of questions that are no longer here"] += 1
        else:
            subject, asked = _subject(loaded, event), event.question_hash or question.hash
            if event.kind in ("withdraw", "later"):
                # One by hand may not say of which wording it speaks: then of all.
                gone = [event.question_hash] if event.question_hash else [*found.get(subject, ())]
                for wording in gone:
                    found.get(subject, {}).pop(wording, None)
            elif not event.blind:
                left_out["given while not blind"] += 1
            elif (changed := undone.changed_by(event)) is None:
                found.setdefault(subject, {}).setdefault(asked, event)
            else:
                before = _subject(loaded, changed), changed.question_hash or question.hash
                left_out["given again after a change"] += before != (subject, asked)
    return {
        (author, (name, about, asked)): event
        for (author, name, about), versions in found.items()
        for asked, event in versions.items()
    }, left_out


def _subject(loaded: Loaded, event: Judgment) -> _Subject:
    return event.author, event.question, text_judged(event, loaded.corpus)


class _Undone:
    """What every author has taken back, by the events that say so: withdrawals and undos.

    An undo that brings a judgment back repeats its words; it stands for that judgment and is none
    of its own.
    """

    def __init__(self, events: Sequence[Judgment]) -> None:
        self._events = {event.event: event for event in events}
        self._stands_for: dict[str, Judgment] = {}
        self._taken: set[str] = set()
        for event in events:
            self._take(event)

    def skips(self, event: Judgment) -> bool:
        """Whether an event was taken back, or stands for another."""
        return event.event in self._taken or event.event in self._stands_for

    def changed_by(self, event: Judgment) -> Judgment | None:
        """The grade or `cannot judge` of its author that a judgment was given in the place of."""
        before = self._own(event, event.replaces)
        if before is None or before.kind not in ("grade", "cannot-judge"):
            return None
        return None if before.event in self._taken else before

    def _take(self, event: Judgment) -> None:
        if event.kind == "withdraw":
            undone = self._own(event, event.undoes or event.replaces)
        else:
            undone = self._own(event, event.undoes or event.replaces)
            before = self._own(undone, undone.replaces) if undone else None
            if undone is None or not _is_undo(event, before):
                return
            if before is not None:
                self._stands_for[event.event] = before
        if undone is not None:
            self._taken.add(undone.event)

    def _own(self, event: Judgment, name: str | None) -> Judgment | None:
        """The judgment an event names, or the one which that stands for; nobody else's."""
        named = self._events.get(name or "")
        if named is None or named.author != event.author:
            return None
        return self._stands_for.get(named.event, named)


def _is_undo(event: Judgment, before: Judgment | None) -> bool:
    """Whether an event, no withdrawal, is an undo, and `before` what it would bring back."""
    if "undoes" in event.model_fields_set:
        return event.undoes is not None
    # Earlier versions did not say so: there, what repeats the words before the last was an undo.
    if before is None:
        return False
    return event.model_dump(exclude=_OF_AN_UNDO) == before.model_dump(exclude=_OF_AN_UNDO)

"""A reviewer's stale judgments, kept up as they judge: what is confirmed only leaves the list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from app.core.errors import InvalidInput
from app.core.grades import Subject, subject_of, text_judged
from app.core.judgments import Judgment
from app.flows.loading import Loaded
from app.flows.own import Own
from app.flows.roles import require_adjudicator
from app.flows.stale import Stale, stale_of

#: From more events on at once the list is worked out again.
_MANY = 8


class StaleList:
    """What `stale_of` gives, worked out again only where an event may have brought one back.

    Holds for one corpus, one set of questions and what is retired. Not safe for threads.
    """

    def __init__(self, loaded: Loaded, own: Own) -> None:
        """Nothing is looked for before it is asked for."""
        self._loaded, self._own = loaded, own
        self._events: dict[str, Judgment] | None = None
        self._count = 0
        self._ids: set[str] = set()
        self._items: list[Stale] = []

    def now(self) -> list[Stale]:
        """The list as it is now, by what the reviewer's own judgments say.

        Their adjudications are in it where they may adjudicate. Raises InvalidInput as `stale_of`.
        """
        own = self._own
        ids = own.stale | own.stale_decisions
        new = [*islice(own.events.values(), self._count, None)]
        if own.events is not self._events or not ids <= self._ids:
            self._items = stale_of(self._loaded, own.reviewer) if ids else []
        elif new:
            self._items = self._left(ids, [one for one in new if one.author == own.reviewer])
        self._events, self._count, self._ids = own.events, len(own.events), ids
        if own.stale_decisions and not self._may_adjudicate():
            return [one for one in self._items if not one.event.adjudication]
        return self._items

    def _left(self, ids: set[str], new: Sequence[Judgment]) -> list[Stale]:
        """The list without what these events settled: themselves, their chunks or their texts."""
        if len(new) > _MANY or self._brings_back(ids, new):
            return stale_of(self._loaded, self._own.reviewer)
        keys = {_of_key(event) for event in new}
        said = {self._subject(event) for event in new}
        left: list[Stale] = []
        for one in self._items:
            if one.event.event not in ids or _of_key(one.event) in keys:
                continue
            if subject_of(one.event, one.chunk.text_hash) not in said:
                left.append(one)
            elif len(one.suggestions) > 1:
                return stale_of(self._loaded, self._own.reviewer)  # another chunk may be offered
        return left

    def _brings_back(self, ids: set[str], new: Sequence[Judgment]) -> bool:
        """Whether an event took the place of one that kept another judgment out of the list."""
        events, by_hash = self._own.events, self._loaded.corpus.by_hash
        # Of several events one may bring back what another has just taken out.
        listed = {one.event.event for one in self._items} if len(new) == 1 else set()
        kept_out = {_of_key(events[one]) for one in ids - listed}
        for event in new if kept_out else ():
            name, subject = _of_key(event), self._subject(event)
            for before in events.values():
                if before.question != event.question or before.author != event.author:
                    continue
                was = self._subject(before)
                if before.event != event.replaces and was != subject:
                    continue
                elsewhere = _of_key(before) != name and _of_key(before) in kept_out
                if elsewhere or (was != subject and was[2] in by_hash):
                    return True
        return False

    def _subject(self, event: Judgment) -> Subject:
        return subject_of(event, text_judged(event, self._loaded.corpus))

    def _may_adjudicate(self) -> bool:
        try:
            require_adjudicator(self._loaded.collection.workspace, self._own.reviewer)
        except InvalidInput:
            return False
        return True


def _of_key(event: Judgment) -> tuple[object, ...]:
    return event.question, *event.chunk, event.adjudication

"""Who has which pair on screen, so that two reviewers are not given one item."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.core.coverage import Pair

#: Seconds after which an item that was left on screen is free for others.
_HELD = 180.0


class Claims:
    """The pair each reviewer has on screen, in this process. Nothing is stored.

    `begun` are the questions whose first grade was given here: see `Coverage`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self.begun: set[str] = set()
        self._held: dict[str, tuple[Pair, float]] = {}
        self._by: dict[Pair, dict[str, float]] = {}

    def hold(self, reviewer: str, pair: Pair | None) -> None:
        """A reviewer has this pair on screen now, and no other."""
        before = self._held.pop(reviewer, None)
        if before is not None:
            holders = self._by.get(before[0], {})
            holders.pop(reviewer, None)
            if not holders:
                self._by.pop(before[0], None)
        if pair is not None:
            self._held[reviewer] = pair, self._clock()
            self._by.setdefault(pair, {})[reviewer] = self._clock()

    def others(self, reviewer: str, pair: Pair) -> int:
        """How many others have a pair on screen, as far as they still seem to be there."""
        since = self._clock() - _HELD
        holders = self._by.get(pair, {})
        return sum(1 for name, when in holders.items() if name != reviewer and when >= since)

"""What all worklists stand on: which pairs need a judgment, and how far the team is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.coverage import Coverage, Pair
from app.core.queue import Draw, missing
from app.flows.pooling import Pool, Work


@dataclass(frozen=True, slots=True)
class Plot:
    """One question: the texts that are to be judged, those that need it now and why, and how many
    are settled. What was retired is not among them.
    """

    texts: tuple[str, ...]
    needs: Mapping[str, Work]
    settled: int


class Ground:
    """Kept up question by question; what has not changed is not worked out again."""

    def __init__(self, pool: Pool, coverage: Coverage, draw: Draw) -> None:
        """Nothing is worked out before it is asked for."""
        self.pool, self.coverage, self.draw = pool, coverage, draw
        self._plots: dict[str, Plot] = {}
        self._lots: dict[Pair, tuple[int, bool]] = {}
        self._sums: list[int] | None = None

    def touch(self, question: str) -> None:
        """Something about a question has changed."""
        before = self._plots.pop(question, None)
        if self._sums is not None and before is not None:
            now = self.plot(question)
            self._sums[0] += now.settled - before.settled
            self._sums[1] += len(now.texts) - len(before.texts)

    def plot(self, question: str) -> Plot:
        """One question as it is now."""
        found = self._plots.get(question)
        if found is None:
            found = self._plots[question] = self._plot(question)
        return found

    @property
    def team(self) -> tuple[int, int]:
        """Pairs that have the judgments they need, and pairs in all but those retired."""
        if self._sums is None:
            plots = [self.plot(question) for question in self.pool.pairs]
            self._sums = [sum(p.settled for p in plots), sum(len(p.texts) for p in plots)]
        return self._sums[0], self._sums[1]

    def needed(self, pair: Pair) -> int:
        """How many must judge a pair."""
        return self._lot(pair)[0]

    def work(self, pair: Pair) -> Work | None:
        """Why a pair needs a judgment now, None where it needs none."""
        return self.plot(pair[0]).needs.get(pair[1])

    def _lot(self, pair: Pair) -> tuple[int, bool]:
        found = self._lots.get(pair)
        if found is None:
            found = self._lots[pair] = self.draw.needed(pair), self.draw.audited(pair)
        return found

    def _plot(self, question: str) -> Plot:
        pooled = self.pool.pairs.get(question, {})
        judged = self.coverage.by_question.get(question, {})
        every = [*pooled, *(text for text, who in judged.items() if text not in pooled)]
        texts = [text for text in every if not self.coverage.is_retired((question, text))]
        implicit = self.pool.implicit if self._is_covered(question) else frozenset()
        needs: dict[str, Work] = {}
        settled = 0
        for text in texts:
            pair, standing = (question, text), judged.get(text)
            if standing is None:
                if text in implicit:
                    settled += 1
                else:
                    needs[text] = pooled[text]
                continue
            needed, audited = self._lot(pair)
            if missing(standing, needed):
                said = standing.said.values()
                unfresh = "stale" in said and "graded" not in said
                needs[text] = pooled.get(text) or (Work.STALE if unfresh else Work.DEEPER)
                continue
            settled += 1
            if audited and len(standing.graders) == needed and not standing.decided:
                needs[text] = Work.AUDIT
        return Plot(tuple(texts), needs, settled)

    def _is_covered(self, question: str) -> bool:
        """Whether completeness settles pairs without a judgment.

        Not where reviewers have only now begun: their first grade must not end the work on all
        other pairs, though the numbers count them as 0 from then on.
        """
        return self.coverage.is_graded(question) and question not in self.coverage.begun

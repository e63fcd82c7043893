"""Second searches that check a ranking, and what else is noticed while questions are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.errors import EngineError, Unreachable
from app.core.model import Ranking
from app.engines.embedding import Embedded, Vectors
from app.engines.retrieval import ENOUGH, overlap, prefix_differs, search_one
from app.flows.searching import Searcher

#: What engines notice themselves: texts that differ there, and what a pipeline calls itself.
_REMARKS = ("other_texts", "pipelines")


class Checks:
    """Optional second searches: prefixes per K, and an exact twin."""

    def __init__(self, searcher: Searcher, cutoffs: Sequence[int], depth: int) -> None:
        self._searcher, self._cutoffs, self._depth = searcher, cutoffs, depth
        self._prefixes = searcher.configuration.prefix_check
        self._twin = searcher.configuration.exact_twin
        self._differing: list[dict[str, Any]] = []
        self._failed: list[dict[str, Any]] = []
        self._cut: list[str] = []
        self._overlaps: dict[int, list[float]] = {k: [] for k in cutoffs}
        self._remarks: dict[str, list[str]] = {}
        self._silent = 0

    def take(self, earlier: Mapping[str, Any]) -> set[str]:
        """Go on with what an execution noticed that this one resumes.

        Returns the questions to be asked again because a second search of theirs failed.
        """
        again = {one["question"] for one in earlier.get("failed", [])}
        differing = earlier.get("prefix", {}).get("differing", [])
        self._cut += [question for question in earlier.get("cut", []) if question not in again]
        self._differing += [one for one in differing if one["question"] not in again]
        for k, number in earlier.get("ann_recall_n", {}).items():
            self._overlaps[int(k)] += [earlier["ann_recall"][k]] * number
        self._remarks = {name: earlier.get(name, []) for name in _REMARKS}
        return again

    def compare(self, ranking: Ranking, text: str, embedded: Embedded | None) -> None:
        """Note whether the question was cut, and search again where that is asked for.

        A second search that fails is noted; the ranking stands. Where nobody answers any more, none
        is tried.
        """
        if embedded is not None and embedded.cut[0]:
            self._cut.append(ranking.question)
        vector = None if embedded is None else embedded.vectors[0]
        if self._silent >= ENOUGH:
            self._note_failure(ranking, self._failed[-1]["reason"])
            return
        try:
            self._search_again(ranking, text, vector)
        except EngineError as error:
            self._silent = self._silent + 1 if isinstance(error, Unreachable) else 0
            self._note_failure(ranking, str(error))
        except KeyboardInterrupt:
            self._note_failure(ranking, "the execution was stopped")
            raise
        else:
            self._silent = 0

    def _note_failure(self, ranking: Ranking, reason: str) -> None:
        self._failed.append({"question": ranking.question, "reason": reason})

    def _search_again(self, ranking: Ranking, text: str, vector: Vectors | None) -> None:
        searcher = self._searcher
        if self._prefixes:
            for k in self._cutoffs:
                hits = search_one(
                    searcher.engine, searcher.search(k, beside=self._depth), text, vector
                )
                if prefix_differs(ranking.hits, hits, ordered=searcher.engine.ordered):
                    self._differing.append({"question": ranking.question, "k": k})
        if self._twin:
            exact = search_one(
                searcher.engine, searcher.search(self._depth, exact=True), text, vector
            )
            for k in self._cutoffs:
                share = overlap(ranking.hits, exact, k)
                self._overlaps[k] += [] if share is None else [share]

    def result(self, remarks: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """What was found: `cut` questions, `failed` second searches, `prefix` searches that differ,
        `ann_recall`, the mean overlap with exact search per K over `ann_recall_n` questions, and
        the `remarks` of the engine; only where there is something.
        """
        result: dict[str, Any] = {}
        if self._cut:
            result["cut"] = self._cut
        if self._failed:
            result["failed"] = self._failed
        if self._prefixes:
            result["prefix"] = {"differing": self._differing}
        if self._twin:
            result["ann_recall"] = {
                str(k): sum(shares) / len(shares) if shares else None
                for k, shares in self._overlaps.items()
            }
            result["ann_recall_n"] = {
                str(k): len(shares) for k, shares in self._overlaps.items() if shares
            }
        for name in _REMARKS:
            if found := sorted({*self._remarks.get(name, []), *remarks.get(name, [])}):
                result[name] = found
        return result

"""One configuration run over all questions: a new execution, or a stored one that is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.core.errors import EngineError
from app.core.ids import execution_id
from app.core.judgments import now
from app.core.model import Ranking, ScoringSettings
from app.engines import executions
from app.engines.embedding import Embedded, Vectors
from app.engines.executions import Execution
from app.engines.retrieval import overlap, prefix_differs
from app.engines.store import Store
from app.flows.loading import Loaded
from app.flows.progress import Progress
from app.flows.provenance import fingerprint, provenance
from app.flows.searching import Searcher

#: A search goes at least this many ranks beyond the largest cut-off.
_BEYOND = 5


@dataclass
class Run:
    """One configuration over all questions."""

    loaded: Loaded
    name: str
    searcher: Searcher
    scoring: ScoringSettings
    store: Store
    progress: Progress
    interrupted: bool = field(default=False, init=False)

    def execution(self, *, reuse: bool) -> tuple[Execution, bool]:
        """A stored execution, and whether it was there before."""
        loaded, searcher = self.loaded, self.searcher
        texts = {question.id: question.text for question in loaded.questions.values()}
        depth = max(searcher.configuration.depth, max(self.scoring.cutoffs) + _BEYOND)
        retain_text = loaded.collection.settings.retain_text
        identity = fingerprint(
            searcher,
            loaded.collection.name,
            self.name,
            depth,
            texts,
            retain_text=retain_text,
            cutoffs=self.scoring.cutoffs,
        )
        if reuse and (known := executions.listed(self.store, fingerprint=identity)):
            return known[0], True
        searcher.engine  # noqa: B018 - filled before the first search; what fails here ends the run
        started = now()
        rankings, checks = self._search(texts, depth)
        failed = any(ranking.failure is not None for ranking in rankings)
        execution = Execution(
            id=execution_id(),
            collection=loaded.collection.name,
            configuration=self.name,
            fingerprint=identity,
            status="incomplete" if failed or self.interrupted else "complete",
            corpus_revision=loaded.corpus.revision,
            points=len(loaded.corpus.chunks),
            eligible=len(loaded.corpus.eligible),
            started=started,
            finished=now(),
            provenance=provenance(
                searcher,
                loaded.collection.workspace.root,
                depth,
                loaded.labels.revision,
                self.scoring,
                checks,
                retain_text=retain_text,
            ),
        )
        executions.save(
            self.store,
            execution,
            rankings,
            texts,
            loaded.corpus,
            retain_text=retain_text,
        )
        return execution, False

    def _search(self, texts: dict[str, str], depth: int) -> tuple[list[Ranking], dict[str, Any]]:
        rankings: list[Ranking] = []
        checks = Checks(self.searcher, self.scoring.cutoffs, depth)
        what = f"Searching {self.loaded.collection.name} with {self.name}"
        try:
            for number, (question, text) in enumerate(texts.items(), start=1):
                ranking, embedded = self.searcher.rank(question, text, depth)
                rankings.append(ranking)
                if ranking.failure is None:
                    checks.compare(ranking, text, embedded)
                self.progress(what, number, len(texts))
        except KeyboardInterrupt:
            self.interrupted = True
            done = {ranking.question for ranking in rankings}
            rankings += [
                Ranking(question, failure="not searched: the execution was stopped")
                for question in texts
                if question not in done
            ]
        return rankings, checks.result()


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

    def compare(self, ranking: Ranking, text: str, embedded: Embedded | None) -> None:
        """Note whether the question was cut, and search again where that is asked for.

        A second search that fails is noted; the ranking stands.
        """
        if embedded is not None and embedded.cut[0]:
            self._cut.append(ranking.question)
        vector = None if embedded is None else embedded.vectors[0]
        try:
            self._search_again(ranking, text, vector)
        except EngineError as error:
            self._failed.append({"question": ranking.question, "reason": str(error)})

    def _search_again(self, ranking: Ranking, text: str, vector: Vectors | None) -> None:
        searcher = self._searcher
        if self._prefixes:
            for k in self._cutoffs:
                hits = searcher.engine.search(searcher.search(k, beside=self._depth), text, vector)
                if prefix_differs(ranking.hits, hits):
                    self._differing.append({"question": ranking.question, "k": k})
        if self._twin:
            exact = searcher.engine.search(searcher.search(self._depth, exact=True), text, vector)
            for k in self._cutoffs:
                share = overlap(ranking.hits, exact, k)
                self._overlaps[k] += [] if share is None else [share]

    def result(self) -> dict[str, Any]:
        """What was found: `cut` questions, `failed` second searches, `prefix` searches that differ,
        `ann_recall`, the mean overlap with exact search per K; only where there is something.
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
        return result

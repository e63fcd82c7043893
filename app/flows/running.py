"""One configuration run over all questions: a new execution, or a stored one that is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.ids import execution_id
from app.core.judgments import now
from app.core.model import Ranking, ScoringSettings
from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.loading import Loaded
from app.flows.progress import Progress
from app.flows.provenance import fingerprint, provenance
from app.flows.search_checks import Checks
from app.flows.searching import Searcher, depth_of


@dataclass
class Run:
    """One configuration over all questions. `who` asked for it, if that is not this account."""

    loaded: Loaded
    name: str
    searcher: Searcher
    scoring: ScoringSettings
    store: Store
    progress: Progress
    who: str | None = None
    interrupted: bool = field(default=False, init=False)
    notices: list[str] = field(default_factory=list, init=False)

    @property
    def _depth(self) -> int:
        return depth_of(self.searcher.configuration, self.scoring.cutoffs)

    def execution(self, *, reuse: bool, resume: bool = False) -> tuple[Execution, bool]:
        """A stored execution, and whether it was there before.

        `reuse` takes a complete one with the same fingerprint. `resume` does so, too, and asks an
        incomplete one's failed questions again: what was found before is kept.
        """
        loaded, searcher = self.loaded, self.searcher
        texts = {question.id: question.text for question in loaded.questions.values()}
        depth = self._depth
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
        newest = self._broken_off() if resume else None
        earlier = newest if newest and newest.fingerprint == identity else None
        if reuse or (resume and earlier is None):
            known = executions.listed(self.store, fingerprint=identity)
            if known:
                return known[0], True
        if newest and earlier is None:
            self.notices.append(
                f"{newest.id} is not resumed: corpus, questions, settings, K or embedder have "
                "changed since. It was run anew."
            )
        engine = searcher.engine  # opened before the first search; what fails here ends the run
        description = {**engine.description(), **searcher.kind}
        if searcher.configuration.mode != "dense":
            description.pop("score", None)  # fused ranks and BM25 are no distances
        started = now()
        kept, checks = self._kept(earlier)
        self._search(texts, depth, kept, checks)
        rankings = [kept[question] for question in texts]
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
                checks.result(engine.remarks()),
                engine=description,
                resumed=earlier.id if earlier else None,
                retain_text=retain_text,
                who=self.who,
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

    def _broken_off(self) -> Execution | None:
        """The newest execution of this configuration, if it broke off."""
        name, collection = self.name, self.loaded.collection.name
        found = executions.listed(self.store, collection, name=name)
        own = (one for one in found if one.configuration == name and not one.imported)
        newest = next(own, None)
        return newest if newest is not None and newest.status == "incomplete" else None

    def _kept(self, earlier: Execution | None) -> tuple[dict[str, Ranking], Checks]:
        """What an earlier execution found, and what its checks noticed."""
        checks = Checks(self.searcher, self.scoring.cutoffs, self._depth)
        if earlier is None:
            return {}, checks
        rankings, _ = executions.rankings(self.store, earlier)
        again = checks.take(earlier.provenance.get("checks", {}))
        kept = {
            one.question: one
            for one in rankings
            if one.failure is None and one.question not in again
        }
        return kept, checks

    def _search(
        self, texts: Mapping[str, str], depth: int, kept: dict[str, Ranking], checks: Checks
    ) -> None:
        """Ask what is not there yet, and keep every outcome."""
        wanted = {question: text for question, text in texts.items() if question not in kept}
        what = f"Searching {self.loaded.collection.name} with {self.name}"
        begun = len(kept)
        try:
            for number, answer in enumerate(self.searcher.rank_all(wanted, depth), start=1):
                ranking = answer.ranking
                kept[ranking.question] = ranking
                if ranking.failure is None:
                    checks.compare(ranking, texts[ranking.question], answer.embedded)
                self.progress(what, begun + number, len(texts))
        except KeyboardInterrupt:
            self.interrupted = True
            for question in wanted:
                stopped = Ranking(question, failure="not searched: the execution was stopped")
                kept.setdefault(question, stopped)

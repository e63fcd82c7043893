"""A collection made searchable: one question, or all of them at the pace of the engine."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from app.core.corpus import Corpus, Filter
from app.core.errors import EngineError, NotReady, Unreachable
from app.core.model import Hit, Ranking
from app.engines.embedding import Embedded, Embedder, embed_all, render
from app.engines.retrieval import ENOUGH, Asked, Engine, Search
from app.flows.embedders import make_embedder
from app.flows.filling import Target
from app.flows.manifests import misfit
from app.settings import Configuration
from app.workspace import Collection

#: Ranks beyond the largest cut-off that are searched at least.
BEYOND = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question got back, what it was embedded as, and why, where it got nothing."""

    ranking: Ranking
    embedded: Embedded | None = None
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A question ready to be searched for: embedded, or failed."""

    question: str
    text: str
    embedded: Embedded | None
    embed_ms: float
    error: EngineError | None


@dataclass(frozen=True)
class Searcher:
    """Searches of one configuration over one corpus revision.

    The engine is opened when it is first asked for: a stored execution needs none. `content` is a
    hash of all that is embedded, `kind` what kind of engine it is.
    """

    configuration: Configuration
    corpus: Corpus
    filters: Filter
    embedder: Embedder | None
    content: str
    kind: Mapping[str, Any]
    fill: Callable[[], Engine]

    @cached_property
    def engine(self) -> Engine:
        """The filled engine; raises NotReady or EngineError where it cannot be opened."""
        return self.fill()

    def search(self, depth: int, *, exact: bool | None = None, beside: int = 0) -> Search:
        """What the engine is asked for `depth` ranks.

        `beside` is the depth of a search whose results this one is held against: both must fuse
        as many candidates.
        """
        configuration = self.configuration
        return Search(
            mode=configuration.mode,
            depth=depth,
            filters=self.filters,
            rrf_k=configuration.rrf_k,
            candidates=max(configuration.candidates, depth, beside),
            exact=configuration.exact if exact is None else exact,
        )

    def embed(self, text: str) -> Embedded | None:
        """The question's vector and whether it was cut; None where no embedder is used."""
        if self.embedder is None:
            return None
        template = self.configuration.templates[0]
        return embed_all(self.embedder, [render(template, {"question": text})])

    def rank(self, question: str, text: str, depth: int) -> Answer:
        """The uncut ranking of a question, or why there is none.

        What fails in the embedder or the engine is the outcome of this question. Ask for `engine`
        before, so that opening it is neither taken for a search nor timed as one.
        """
        return self._found([self._prepared(question, text)], depth)[0]

    def rank_all(self, texts: Mapping[str, str], depth: int) -> Iterator[Answer]:
        """Every question's answer, in batches and at once as the engine can, in their order.

        Where nobody answers any more, the rest is not asked and says so.
        """
        engine, silent = self.engine, 0
        left = iter(texts.items())
        try:
            for answer in self._at_once(engine, left, depth):
                silent = silent + 1 if isinstance(answer.error, Unreachable) else 0
                yield answer
                if silent >= ENOUGH and answer.error is not None:
                    reason = f"not searched: {answer.error}"
                    for question, _ in left:
                        yield Answer(Ranking(question, failure=reason))
        except BaseException:
            engine.interrupt()
            raise

    def _at_once(
        self, engine: Engine, left: Iterator[tuple[str, str]], depth: int
    ) -> Iterator[Answer]:
        """Questions are embedded here, one after the other, while others are searched for."""
        blocks = self._blocks(engine, left)
        if engine.workers == 1:
            for block in blocks:
                yield from self._found(block, depth)
            return
        pool = ThreadPoolExecutor(engine.workers)
        waiting: deque[Future[list[Answer]]] = deque()
        try:
            for block in blocks:
                waiting.append(pool.submit(self._found, block, depth))
                if len(waiting) > engine.workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _blocks(self, engine: Engine, left: Iterator[tuple[str, str]]) -> Iterator[list[_Prepared]]:
        """Embedded questions in batches; where the embedder is silent, no further one waits for it.

        Batches are made ahead of the answers, so that a time-out for each would add up.
        """
        silent: list[EngineError] = []
        while block := list(islice(left, engine.batch)):
            found = []
            for question, text in block:
                if len(silent) >= ENOUGH:
                    found.append(_Prepared(question, text, None, 0.0, silent[-1]))
                    continue
                one = self._prepared(question, text)
                silent = [*silent, one.error] if isinstance(one.error, Unreachable) else []
                found.append(one)
            yield found

    def _prepared(self, question: str, text: str) -> _Prepared:
        began = time.perf_counter()
        embedded, error = None, None
        try:
            embedded = self.embed(text)
        except EngineError as failed:
            error = failed
        return _Prepared(question, text, embedded, _ms(began), error)

    def _found(self, block: Sequence[_Prepared], depth: int) -> list[Answer]:
        began = time.perf_counter()
        asked = [
            Asked(one.text, None if one.embedded is None else one.embedded.vectors[0])
            for one in block
            if one.error is None
        ]
        outcomes = iter(self.engine.search_many(self.search(depth), asked) if asked else [])
        took = round(_ms(began) / len(block), 3)
        found: list[Answer] = []
        for one in block:
            outcome = one.error or next(outcomes)
            error = outcome if isinstance(outcome, EngineError) else None
            hits = [] if isinstance(outcome, EngineError) else outcome
            failure = str(error) if error else self._fault(hits)
            ranking = Ranking(
                one.question,
                tuple(hits) if failure is None else (),
                failure,
                one.embed_ms,
                0.0 if one.error else took,
            )
            found.append(Answer(ranking, one.embedded, error))
        return found

    def _fault(self, hits: Sequence[Hit]) -> str | None:
        """Why a ranking cannot be scored: each hit is checked again, whatever the engine says."""
        seen = set()
        for hit in hits:
            if hit.key in seen:
                return f"duplicate keys: {hit.key.short()} was returned twice"
            seen.add(hit.key)
            if hit.key not in self.corpus.eligible:
                return (
                    f"eligibility violation: {hit.key.short()} was returned at rank {hit.rank} but "
                    "does not pass the filter"
                )
        return None


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)


def depth_of(configuration: Configuration, cutoffs: Sequence[int]) -> int:
    """How deep a question is searched: beyond the largest cut-off, so that what was just missed can
    be seen. One question alone is searched as all of them are, for the number of candidates that a
    hybrid search fuses depends on it.
    """
    return max(configuration.depth, max(cutoffs) + BEYOND)


Fill = Callable[[str, Callable[[], Engine]], Engine]


def fresh_engine(identity: str, make: Callable[[], Engine]) -> Engine:
    """Open an engine for this use alone; a dashboard keeps it by its identity instead."""
    return make()


def open_searcher(
    collection: Collection, name: str, corpus: Corpus, engine_for: Fill = fresh_engine
) -> Searcher:
    """Make a configuration searchable; embeds no chunk.

    Raises NotReady where what was indexed does not fit the corpus or the embedder or is not all
    there, EmbedderError where the embedder that was asked for is not to be had.
    """
    configuration = collection.configuration(name)
    embedder = make_embedder(configuration)
    digest = embedder.digest if embedder else None
    if reason := misfit(collection, name, corpus, digest):
        raise NotReady(reason, remedy=f"Index it: desk index {collection.name}")
    target = Target(collection, name, corpus, embedder)
    return Searcher(
        configuration=configuration,
        corpus=corpus,
        filters=collection.settings.filters,
        embedder=embedder,
        content=target.content,
        kind=target.kind,
        fill=lambda: engine_for(target.identity, target.open),
    )

"""One question asked of one configuration, and what further searches tell of its ranking."""

from __future__ import annotations

import time
from collections.abc import Collection as Some
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from app.core.errors import EngineError
from app.core.model import ChunkKey, Hit, Ranking
from app.engines.retrieval import Engine, Side, of_sides, search_one
from app.flows.searching import Answer, Fill, Searcher, fresh_engine, open_searcher
from app.flows.trying import View, with_configuration
from app.settings import DEEPEST, Configuration

#: Ranks an exact search reaches at first; most of what is sought stands there.
_FIRST = 1_000
_SIDES: tuple[Side, ...] = ("dense", "sparse")


@dataclass(frozen=True, slots=True)
class Exact:
    """An exact search over all eligible chunks, `reached` ranks deep.

    `ranking` are the hits by key as the configuration orders them; `sides` those of each side,
    which in a hybrid search are two.
    """

    ranking: Mapping[ChunkKey, Hit]
    sides: Mapping[Side, Mapping[ChunkKey, Hit]]
    reached: int


@dataclass
class OneSearch:
    """What came back, the uncut ranking, and the engine that can be asked further.

    `question` is None where the text is of no question of the collection; `asked` is the time it
    was asked at, in seconds since 1970.
    """

    view: View
    name: str
    searcher: Searcher
    question: str | None
    text: str
    depth: int
    answer: Answer
    asked: float
    _exact: Exact | None = field(default=None, init=False, repr=False)
    _held: dict[ChunkKey, frozenset[Side]] = field(default_factory=dict, init=False, repr=False)
    _looked_for: set[ChunkKey] = field(default_factory=set, init=False, repr=False)
    _unchecked: EngineError | None = field(default=None, init=False, repr=False)

    @property
    def ranking(self) -> Ranking:
        """The uncut ranking, or the reason why there is none."""
        return self.answer.ranking

    @property
    def configuration(self) -> Configuration:
        """The settings that were used."""
        return self.searcher.configuration

    @property
    def engine(self) -> Engine:
        """What was asked."""
        return self.searcher.engine

    @cached_property
    def description(self) -> dict[str, Any]:
        """What searched, as it says itself, asked once; raises EngineError where it does not."""
        return {**self.engine.description(), **self.searcher.kind}

    def checks(
        self, sought: Some[ChunkKey]
    ) -> tuple[Mapping[ChunkKey, frozenset[Side]], Exact] | None:
        """By which sides each chunk sought can be found, and where it ranks; asked once.

        None where another program searches, which cannot be asked. Raises EngineError, and the same
        one again: whoever waited for a time-out does not wait for it with every look at the page.
        """
        if self._unchecked is not None:
            raise self._unchecked
        try:
            new = [key for key in sought if key not in self._looked_for]
            held = self.engine.held(new) if new else {}
            exact = self.exact(sought)
        except EngineError as error:
            self._unchecked = error
            raise
        if held is None or exact is None:
            return None
        self._looked_for.update(new)
        self._held.update(held)
        return self._held, exact

    def exact(self, sought: Some[ChunkKey]) -> Exact | None:
        """Ranks in an exact search, deep enough for the chunks sought unless that is too deep.

        None where another program searches, which cannot be told to. Raises EngineError.
        """
        if self.configuration.mode == "external":
            return None
        most = min(DEEPEST, len(self.view.corpus.eligible))
        if self._exact is None:
            self._exact = self._search(min(_FIRST, most))
        found = self._exact
        missing = any(key not in side for side in found.sides.values() for key in sought)
        if missing and found.reached < most:
            self._exact = found = self._search(most)
        return found

    def _search(self, depth: int) -> Exact:
        search = self.searcher.search(self.depth, exact=True)
        embedded = self.answer.embedded
        vector = None if embedded is None else embedded.vectors[0]
        hits = {
            side: search_one(
                self.engine, replace(search, mode=side, depth=depth), self.text, vector
            )
            for side in (_SIDES if search.mode == "hybrid" else [_side(search.mode)])
        }
        # As the engine itself puts them together, but all that can be fused.
        ranking = of_sides(replace(search, depth=2 * search.candidates), [*hits.values()])
        return Exact(
            {hit.key: hit for hit in ranking},
            {side: {hit.key: hit for hit in found} for side, found in hits.items()},
            depth,
        )


def _side(mode: str) -> Side:
    return "sparse" if mode == "sparse" else "dense"


def ask(
    view: View,
    name: str,
    configuration: Configuration,
    text: str,
    depth: int,
    *,
    question: str | None = None,
    engine_for: Fill = fresh_engine,
) -> OneSearch:
    """Search with a configuration, as it is or changed for this run, under the view's filter.

    Raises NotReady where the index does not fit, EngineError where the engine cannot be opened,
    EmbedderError where the embedder is not to be had. A search that fails is an outcome.
    """
    loaded = view.loaded
    collection = with_configuration(loaded.collection, name, configuration)
    searcher = open_searcher(collection, name, loaded.corpus, engine_for)
    if view.filtered:
        # What is indexed does not depend on the filter: only what is asked for does.
        searcher = replace(searcher, corpus=view.corpus, filters=view.filters)
    searcher.engine  # noqa: B018 - filled before the clock of the search runs
    answer = searcher.rank(question or "", text, depth)
    return OneSearch(view, name, searcher, question, text, depth, answer, time.time())

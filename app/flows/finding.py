"""Find evidence no system returned: search the corpus, and learn what is there but not in which
order it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.core.errors import DeskError
from app.core.model import ChunkKey
from app.core.queue import Draw
from app.flows.filling import Target
from app.flows.loading import Loaded
from app.flows.searching import Fill, Searcher, fresh_engine, open_searcher
from app.settings import Configuration

#: Chunks taken from each way of searching.
_EACH = 12
#: What the full-text search is called where the collection has none of its own.
_FULL_TEXT = "full-text"


@dataclass(frozen=True, slots=True)
class Found:
    """Chunks in an order that says nothing, each text once; and what could not be searched."""

    keys: tuple[ChunkKey, ...]
    failures: tuple[str, ...]


def find_evidence(
    loaded: Loaded, reviewer: str, question: str, words: str, engine_for: Fill = fresh_engine
) -> Found:
    """Search the eligible chunks by meaning and by words.

    What fails is told and keeps nothing else from being found.
    """
    texts: dict[str, ChunkKey] = {}
    failures: list[str] = []
    try:
        searchers = list(_searchers(loaded, engine_for, failures))
        for searcher in searchers:
            ranking = searcher.rank(question, words, _EACH).ranking
            if ranking.failure is not None:
                failures.append(ranking.failure)
            for hit in ranking.hits[:_EACH]:
                chunk = loaded.corpus.eligible[hit.key]
                texts.setdefault(chunk.text_hash, hit.key)
    except DeskError as error:
        failures += [str(problem) for problem in error.problems]
    draw = Draw(loaded.collection.settings.queue.seed)
    order = draw.shuffled(reviewer, f"{question}\n{words}", texts)
    return Found(tuple(texts[text] for text in order), tuple(dict.fromkeys(failures)))


def _searchers(loaded: Loaded, engine_for: Fill, failures: list[str]) -> Iterator[Searcher]:
    """A search by meaning and one by words, as far as the collection can be searched so."""
    settings, collection = loaded.collection.settings, loaded.collection
    modes = {name: one.mode for name, one in settings.configurations.items()}

    def first(*wanted: str) -> str | None:
        return next((n for mode in wanted for n, m in modes.items() if m == mode), None)

    names = [first("dense", "hybrid"), first("sparse")]
    if names == [None, None]:
        names = [first("external")]
    for name in names:
        if name is None:
            continue
        try:
            yield open_searcher(collection, name, loaded.corpus, engine_for)
        except DeskError as error:
            failures += [str(problem) for problem in error.problems]
    if first("sparse") is None and settings.qdrant_url is None:
        yield _by_words(loaded, engine_for)


def _by_words(loaded: Loaded, engine_for: Fill) -> Searcher:
    """A full-text search where the collection has no configuration for one."""
    plain, settings = Configuration(mode="sparse"), loaded.collection.settings
    known = {**settings.configurations, _FULL_TEXT: plain}
    collection = replace(
        loaded.collection, settings=settings.model_copy(update={"configurations": known})
    )
    target = Target(collection, _FULL_TEXT, loaded.corpus, None)
    return Searcher(
        configuration=plain,
        corpus=loaded.corpus,
        filters=settings.filters,
        embedder=None,
        content=target.content,
        kind=target.kind,
        fill=lambda: engine_for(target.identity, target.open),
    )

"""Where evidence went: for every relevant chunk that is not within K, the cause, by real checks."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.corpus import is_eligible
from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey, Hit
from app.core.text import canonical
from app.engines.retrieval import Side
from app.flows.one_search import Exact, OneSearch
from app.flows.scored import GradedHit
from app.flows.wording import count

Cause = Literal[
    "no longer in the corpus",
    "not eligible",
    "not in the index",
    "duplicate text of a hit",
    "cut by the threshold",
    "lost by the approximate index",
    "ranked deeper",
    "no word in common",
    "not returned",
    "not checked",
]
_SIDE_WORDS: Mapping[Side, str] = {"dense": "dense", "sparse": "lexical"}


@dataclass(frozen=True, slots=True)
class Lost:
    """A relevant chunk that is not within K, and why.

    `rank` and `score` are those of the search before a threshold cut it, `exact_rank` that of an
    exact search over all eligible chunks; each None where the chunk is not there. `words` says the
    cause with its figures.
    """

    key: ChunkKey
    grade: int
    cause: Cause
    words: str
    rank: int | None = None
    exact_rank: int | None = None
    score: float | None = None


def lost_evidence(search: OneSearch, kept: Sequence[GradedHit], k: int) -> tuple[Lost, ...]:
    """Every relevant chunk of the question that is not among the first K kept hits, with its cause.

    Those nearest to K come first. None where the search failed: then nothing is known.
    """
    if search.question is None or search.ranking.failure is not None:
        return ()
    within = {one.hit.key for one in kept[:k]}
    labels = search.view.loaded.labels
    # Also those that only another filter of this run keeps out.
    sought = [key for key in labels.relevant(search.question) if key not in within]
    found = _Search(search, kept, k).causes(sought) if sought else ()
    return tuple(sorted(found, key=_nearest))


def _nearest(one: Lost) -> tuple[int, ChunkKey]:
    ranks = (one.rank, one.exact_rank)
    return min((rank for rank in ranks if rank is not None), default=10**9), one.key


class _Search:
    """The checks of one search; further searches are made only where one is needed."""

    def __init__(self, search: OneSearch, kept: Sequence[GradedHit], k: int) -> None:
        self._search, self._k = search, k
        self._corpus = search.view.corpus
        self._hits = {hit.key: hit for hit in search.ranking.hits}
        self._places = {one.hit.key: one.hit.rank for one in kept}
        self._last = kept[k - 1].hit if len(kept) >= k else None
        self._twins: dict[str, Hit] = {}
        for one in reversed(kept[:k]):
            self._twins[self._corpus.chunks[one.hit.key].text_hash] = one.hit

    def causes(self, sought: Sequence[ChunkKey]) -> Iterator[Lost]:
        labels = self._search.view.loaded.labels.by_question[self._search.question or ""]
        open_ones: list[tuple[ChunkKey, int]] = []
        for key in sought:
            grade = labels[key].grade or 0
            told = self._at_hand(key, grade)
            if told is not None:
                yield told
            else:
                open_ones.append((key, grade))
        if not open_ones:
            return
        keys = [key for key, _ in open_ones]
        try:
            checks = self._search.checks(keys)
        except EngineError as error:
            for key, grade in open_ones:
                hit = self._hits.get(key)
                rank, score = (hit.rank, hit.score) if hit else (None, None)
                yield Lost(key, grade, "not checked", f"not checked: {error}", rank, score=score)
            return
        for key, grade in open_ones:
            hit = self._hits.get(key)
            yield (
                self._outside(key, grade, hit)
                if checks is None
                else self._asked(key, grade, *checks)
            )

    def _at_hand(self, key: ChunkKey, grade: int) -> Lost | None:
        """What the catalogue and the ranking tell, without another search."""
        chunk = self._corpus.chunks.get(key)
        if chunk is None:
            return Lost(key, grade, "no longer in the corpus", "no longer in the corpus")
        if not chunk.eligible:
            reasons = "; ".join(self._kept_out(chunk))
            return Lost(key, grade, "not eligible", f"not eligible: {reasons}")
        if (twin := self._twins.get(chunk.text_hash)) is not None:
            words = f"duplicate text of the hit at rank {twin.rank}, {twin.key.short()}"
            hit = self._hits.get(key)
            rank, score = (hit.rank, hit.score) if hit else (None, None)
            return Lost(key, grade, "duplicate text of a hit", words, rank, score=score)
        return None

    def _kept_out(self, chunk: Chunk) -> Iterator[str]:
        """The fields of the filter that a chunk does not meet."""
        for name, allowed in self._search.view.filters.items():
            value = chunk.fields.get(name)
            if not is_eligible(chunk.fields, {name: allowed}):
                has = "is missing" if value is None else f"is {canonical(value)}"
                wanted = " or ".join(canonical(one) for one in allowed)
                yield f"{name} {has}, the filter wants {wanted}"

    def _asked(
        self, key: ChunkKey, grade: int, held: Mapping[ChunkKey, frozenset[Side]], exact: Exact
    ) -> Lost:
        hit, k = self._hits.get(key), self._k
        rank = hit.rank if hit else None
        sides = held.get(key)
        if sides is None or not any(side in sides for side in exact.sides):
            return self._unheld(key, grade, sides, exact)
        there = exact.ranking.get(key)
        exact_rank = there.rank if there else None
        score = hit.score if hit else there.score if there else None

        def told(cause: Cause, words: str) -> Lost:
            return Lost(key, grade, cause, words, rank, exact_rank, score)

        threshold = self._search.configuration.threshold
        low = threshold is not None and score is not None and score < threshold
        uncut = rank or exact_rank
        if low and uncut is not None and min(uncut, exact_rank or uncut) <= k:
            return told("cut by the threshold", self._cut(score or 0.0, uncut))
        if exact_rank is not None and exact_rank <= k and (rank is None or rank > k):
            where = f"rank {rank}" if rank else f"not among the first {self._search.depth}"
            return told(
                "lost by the approximate index",
                f"lost by the approximate index: rank {exact_rank} in an exact search, {where} in "
                "this one",
            )
        if "dense" not in exact.sides and key not in exact.sides["sparse"]:
            return self._unfound(key, grade, exact)
        return told("ranked deeper", self._deeper(key, exact, sides, score, low=low))

    def _unheld(self, key: ChunkKey, grade: int, sides: Some[Side] | None, exact: Exact) -> Lost:
        """The engine does not hold the chunk, or holds nothing to find it by."""
        if sides is not None and "dense" not in exact.sides:
            words = "no word in common with the question: the chunk has no word that is searched"
            return Lost(key, grade, "no word in common", words)
        collection = self._search.view.loaded.collection
        what = "the index is behind the corpus" if sides is None else "it is there without a vector"
        again = f"desk {'sync' if collection.settings.foreign else 'index'} {collection.name}"
        return Lost(key, grade, "not in the index", f"not in the index: {what}. Run {again}")

    def _cut(self, score: float, rank: int) -> str:
        threshold = self._search.configuration.threshold
        return (
            f"cut by the threshold: score {score:.4g}, threshold {threshold:g}; rank {rank} "
            "without it"
        )

    def _outside(self, key: ChunkKey, grade: int, hit: Hit | None) -> Lost:
        """Of another program's search only its answer is known."""
        threshold = self._search.configuration.threshold
        if hit is None:
            returned = count(len(self._search.ranking.hits), "hit")
            words = (
                f"not returned: not among the {returned} of the program, which does not say how "
                "deep it ranks the chunk"
                if self._search.ranking.hits
                else "not returned: nothing came back"
            )
            return Lost(key, grade, "not returned", words)
        if threshold is not None and hit.score < threshold:
            words = self._cut(hit.score, hit.rank)
            return Lost(key, grade, "cut by the threshold", words, hit.rank, score=hit.score)
        place = self._places.get(key, hit.rank)
        words = f"ranked deeper by the program: rank {place}, score {hit.score:.4g}"
        return Lost(key, grade, "ranked deeper", words, place, score=hit.score)

    def _unfound(self, key: ChunkKey, grade: int, exact: Exact) -> Lost:
        """Lexical search alone, and the chunk is not in it."""
        if exact.reached < len(self._corpus.eligible) and len(exact.ranking) >= exact.reached:
            words = f"ranked deeper: beyond rank {exact.reached:,} in an exact search"
            return Lost(key, grade, "ranked deeper", words)
        words = "no word in common with the question: lexical search returns only chunks that do"
        return Lost(key, grade, "no word in common", words)

    def _deeper(
        self, key: ChunkKey, exact: Exact, held: Some[Side], score: float | None, *, low: bool
    ) -> str:
        """The rank in an exact search, and what is missing to K."""
        there, eligible = exact.ranking.get(key), len(self._corpus.eligible)
        if there is not None:
            words = f"ranked deeper: rank {there.rank:,} of {eligible:,} in an exact search"
        else:
            words = f"ranked deeper: beyond rank {exact.reached:,} of {eligible:,}"
        if len(exact.sides) > 1:
            places = "; ".join(
                f"{_SIDE_WORDS[side]}: {self._side_words(key, side, exact, held)}"
                for side in exact.sides
            )
            if there is None:
                most = self._search.searcher.search(self._search.depth).candidates
                words = f"ranked deeper: within the first {most:,} of neither side"
            return f"{words} ({places})"
        if score is not None and self._last is not None:
            words += f"; score {score:.4g}, rank {self._k} has {self._last.score:.4g}"
        if low:
            words += f", and below the threshold {self._search.configuration.threshold:g}"
        return words

    def _side_words(self, key: ChunkKey, side: Side, exact: Exact, held: Some[Side]) -> str:
        hits = exact.sides[side]
        if side not in held:
            return "not in the index"
        if (hit := hits.get(key)) is not None:
            return f"rank {hit.rank:,}"
        if len(hits) >= exact.reached and exact.reached < len(self._corpus.eligible):
            return f"beyond rank {exact.reached:,}"
        return "no word in common" if side == "sparse" else "not found"

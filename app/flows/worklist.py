"""What one reviewer is asked to judge: question by question, or the items of a link."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from app.core.coverage import Pair
from app.core.model import ChunkKey
from app.core.queue import Draw
from app.flows.ground import Ground
from app.flows.labeling import Item
from app.flows.loading import Loaded
from app.flows.own import Own
from app.flows.pooling import Work
from app.flows.turn import Linked

#: `needed`: pairs that lack a judgment. `all`: every pair the reviewer has not judged.
Scope = Literal["needed", "all"]


#: The class of what is open of a question, the reviewer's own lot for it, and its name.
_Place = tuple[int, bytes, str]


@dataclass(frozen=True, slots=True)
class Page:
    """One question for one reviewer: what is to be judged now, what was put off, and the first
    class of what is to be judged, None where nothing is.
    """

    open: frozenset[str]
    later: frozenset[str]
    work: Work | None

    @property
    def left(self) -> int:
        """Pairs the reviewer is asked for."""
        return len(self.open) + len(self.later)


class Worklist:
    """A reviewer's questions in order, kept up as judgments come in."""

    def __init__(self, ground: Ground, own: Own, scope: Scope) -> None:
        """Nothing is worked out before it is asked for."""
        self._ground = ground
        self._own = own
        self._scope = scope
        self._pages: dict[str, Page] = {}
        self._places: dict[str, bytes] = {}
        self._shuffled: dict[str, tuple[frozenset[str], list[str]]] = {}
        self._order: list[_Place] | None = None
        self._left: int | None = None

    def touch(self, question: str) -> None:
        """Something about a question has changed."""
        before = self._pages.pop(question, None)
        if before is None or question not in self._ground.pool.pairs:
            return
        now = self.page(question)
        if self._left is not None:
            self._left += now.left - before.left
        if self._order is not None and now.work is not before.work:
            del self._order[bisect_left(self._order, self._place(question, before))]
            insort(self._order, self._place(question, now))

    def page(self, question: str) -> Page:
        """One question as it is now."""
        found = self._pages.get(question)
        if found is None:
            found = self._pages[question] = self._page(question)
        return found

    def open(self, question: str) -> list[str]:
        """What is to be judged of a question, in the reviewer's own order."""
        texts = self.page(question).open
        kept = self._shuffled.get(question)
        if kept is None or not texts <= kept[0]:
            every = texts | (kept[0] if kept else frozenset())
            order = self._ground.draw.shuffled(self._own.reviewer, question, every)
            kept = self._shuffled[question] = every, order
        return [text for text in kept[1] if text in texts]

    @property
    def order(self) -> Iterator[str]:
        """The questions by class of what is open, each class in an order of the reviewer's own."""
        if self._order is None:
            names = self._ground.pool.pairs
            self._order = sorted(self._place(name, self.page(name)) for name in names)
        return (name for _, _, name in self._order)

    def next(
        self,
        question: str | None,
        passed: Collection[Pair] = (),
        free: Callable[[Pair], bool] = lambda pair: True,
    ) -> Pair | None:
        """What is to be judged next: the rest of a question first, what was put off last.

        `passed` comes after everything else of its kind; what is not `free` does not come.
        """
        names = chain([] if question is None else [question], self.order)
        rest: list[Pair] = []
        for name in names:
            if self.page(name).work is None:
                if name != question:
                    break  # those behind it have nothing open either
                continue
            for text in self.open(name):
                pair = (name, text)
                if not free(pair):
                    continue
                if pair not in passed:
                    return pair
                rest.append(pair)
        later = [(q, t) for q, t in self._own.later if t in self.page(q).later]
        later.sort(key=lambda pair: pair in passed)
        return next((pair for pair in [*rest, *later] if free(pair)), None)

    @property
    def left(self) -> int:
        """Pairs the reviewer is asked for in all, those put off included."""
        if self._left is None:
            self._left = sum(self.page(name).left for name in self._ground.pool.pairs)
        return self._left

    def _place(self, question: str, page: Page) -> _Place:
        """Where a question stands in the order, as long as its page is this one."""
        lot = self._places.get(question)
        if lot is None:
            lot = self._places[question] = self._ground.draw.place(self._own.reviewer, question)
        return page.work or len(Work) + 1, lot, question

    def _page(self, question: str) -> Page:
        plot, own = self._ground.plot(question), self._own
        texts = plot.needs if self._scope == "needed" else plot.texts
        mine = [text for text in texts if (question, text) not in own.fresh]
        later = frozenset(text for text in mine if (question, text) in own.later)
        waiting = frozenset(mine) - later
        works = (plot.needs.get(text, Work.DEEPER) for text in waiting)
        return Page(waiting, later, min(works, default=None))


@dataclass(frozen=True, slots=True)
class Listed:
    """Chunks of one question that a link asks for, judged by others or not; in no order."""

    question: str
    keys: frozenset[ChunkKey]

    def order(self, loaded: Loaded, draw: Draw, reviewer: str) -> dict[str, ChunkKey]:
        """A chunk for each text of those that can be judged, in the reviewer's own order: another
        one could tell of ranks.
        """
        eligible = loaded.corpus.eligible
        if self.question not in loaded.questions:
            return {}
        there = [key for key in sorted(self.keys, reverse=True) if key in eligible]
        texts = {eligible[key].text_hash: key for key in there}
        return {text: texts[text] for text in draw.shuffled(reviewer, self.question, texts)}

    def next(
        self, order: dict[str, ChunkKey], own: Own, passed: Collection[Pair]
    ) -> ChunkKey | None:
        """The first of `order` that the reviewer has not judged; what was passed comes behind the
        others, and last what was put off.
        """
        put_off = {pair: number for number, pair in enumerate(own.later, start=1)}

        def place(pair: Pair) -> tuple[bool, bool, int]:
            return pair in put_off, pair in passed, put_off.get(pair, 0)

        pairs = [(self.question, text) for text in order]
        left = sorted((pair for pair in pairs if pair not in own.fresh), key=place)
        return order[left[0][1]] if left else None

    def progress(self, order: dict[str, ChunkKey], own: Own, item: Item | None) -> Linked:
        """How far the reviewer is, with this item on screen."""
        texts = list(order)
        here = item is not None and item.question == self.question and item.text_hash in order
        return Linked(
            place=texts.index(item.text_hash) + 1 if item is not None and here else None,
            done=sum((self.question, text) in own.fresh for text in texts),
            total=len(texts),
        )


def listed(
    loaded: Loaded, question: str, keys: Collection[ChunkKey]
) -> tuple[Listed | None, str | None]:
    """What can be judged of the items a link names, None where nothing can; and what is passed
    over, in a sentence, or None.
    """
    chunks, eligible = loaded.corpus.chunks, loaded.corpus.eligible
    there = [key for key in keys if key in eligible]
    texts = {eligible[key].text_hash for key in there}
    reasons = [
        (sum(key not in chunks for key in keys), "not in the corpus"),
        (sum(key in chunks and key not in eligible for key in keys), "kept out by the filter"),
        (len(there) - len(texts), "there already, by its text"),
    ]
    if not keys:
        return None, "The link names no items to judge."
    left = ", ".join(f"{many:,} {words}" for many, words in reasons if many)
    many = f"{len(keys):,} item{'' if len(keys) == 1 else 's'} of the link"
    if not there:
        return None, f"None of the {many} can be judged: {left}."
    told = f"Passed over of the {many}: {left}." if left else None
    return Listed(question, frozenset(there)), told

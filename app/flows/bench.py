"""Where reviewers work: what is on screen for each of them, kept up as judgments come in.

One bench serves all sessions of a process. It knows who has judged what, and of a reviewer's own
judgments all; of ranks, scores, configurations and what others said it knows nothing.
"""

from __future__ import annotations

from collections.abc import Collection as Group
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import get_args

from app.core.coverage import Coverage, Pair
from app.core.events import Event
from app.core.following import Follower
from app.core.judgments import Judgment
from app.core.model import ChunkKey
from app.core.queue import Draw, missing
from app.flows import labeling
from app.flows.archive import keep_soon
from app.flows.claims import Claims
from app.flows.counting import progress_of, strip_of
from app.flows.ground import Ground
from app.flows.labeling import Item, Said, Saved
from app.flows.loading import Loaded
from app.flows.own import Own
from app.flows.pooling import Pool, Work
from app.flows.renewing import Renewed, Stale, confirm
from app.flows.stale_list import StaleList
from app.flows.turn import Turn
from app.flows.worklist import Listed, Scope, Worklist

#: Reviewers whose work is kept at hand.
MOST_REVIEWERS = 60


@dataclass(frozen=True, slots=True)
class Wish:
    """What a session asks for: an item by link, or the next one.

    `question` is begun with; where it is `pinned`, somebody asked for it, and all its pairs come,
    needed or not. `first` are texts by question that come before all others as far as they are
    needed: they can decide a comparison. `passed` are pairs moved past in this session without a
    judgment. `holds`: what is on screen is not given to others meanwhile. `items` come alone.
    """

    question: str | None = None
    pinned: bool = False
    key: ChunkKey | None = None
    scope: Scope = "needed"
    passed: Group[Pair] = ()
    first: Mapping[str, Group[str]] | None = None
    holds: bool = True
    items: Listed | None = None


class Bench:
    """The work on one collection, against one corpus and one set of questions. Safe for threads."""

    def __init__(self, loaded: Loaded, pool: Pool, claims: Claims) -> None:
        """`claims` is handed on from bench to bench, so that what is on screen stays known."""
        settings = loaded.collection.settings.queue
        self.loaded = loaded
        self._claims = claims
        self._seconds = settings.seconds
        self._pool = pool
        self._draw = Draw(settings.seed, settings.overlap, settings.audit)
        self._follower: Follower[Judgment] = Follower(loaded.collection.ledger)
        self._lock = RLock()
        self._owns: dict[str, Own] = {}
        self._lists: dict[tuple[str, Scope], Worklist] = {}
        self._stale: dict[str, StaleList] = {}
        self._begin()
        self.refresh()

    def _begin(self) -> None:
        loaded = self.loaded
        pin = loaded.collection.guidelines_pin()
        coverage = Coverage(loaded.questions, loaded.corpus, pin, self._claims.begun)
        self._ground = Ground(self._pool, coverage, self._draw)
        self._events: Follower[Event] = Follower(loaded.collection.events)
        self._lists.clear()

    def refresh(self) -> None:
        """Take in what was added to the ledger, by this process or another."""
        with self._lock:
            added = self._follower.poll()
            if added.anew:
                self._begin()
            self.refused, self.notices = added.refused, added.notices
            self._touch(self._ground.coverage.take(added.events))
            if retired := self._ground.coverage.retire(self._events.poll()):
                self._touch(retired)
                self._stale.clear()

    def renew(self, pool: Pool) -> None:
        """Go on with another pool: something was run, or the settings of the queue changed."""
        with self._lock:
            self._pool = pool
            self._ground = Ground(pool, self._ground.coverage, self._draw)
            self._lists.clear()

    @property
    def pool(self) -> Pool:
        """The pairs that are to be judged, without what was judged outside of it."""
        return self._pool

    def own(self, reviewer: str) -> Own:
        """A reviewer's own judgments as they are now."""
        with self._lock:
            own = self._owns.pop(reviewer, None) or Own(self.loaded, reviewer)
            self._owns[reviewer] = own  # the last one asked for stands last
            if len(self._owns) > MOST_REVIEWERS:
                self._forget(next(iter(self._owns)))
            touched = own.refresh()
            for (name, _), worklist in self._lists.items():
                if name == reviewer:
                    for question in touched:
                        worklist.touch(question)
            return own

    def stale(self, reviewer: str) -> list[Stale]:
        """A reviewer's judgments that are to be confirmed; adjudications where they may decide."""
        with self._lock:
            own = self.own(reviewer)
            if reviewer not in self._stale:
                self._stale[reviewer] = StaleList(self.loaded, own)
            return self._stale[reviewer].now()

    def confirm(self, reviewer: str, items: Sequence[Stale], grade: int | None = None) -> Renewed:
        """Give stale judgments again. Raises as `renewing.confirm` does."""
        with self._lock:
            renewed = confirm(self.loaded, reviewer, items, grade)
            self.refresh()
            self.own(reviewer)
            return renewed

    def turn(self, reviewer: str, wish: Wish) -> Turn:
        """What a reviewer has on screen now."""
        with self._lock:
            self.refresh()
            own = self.own(reviewer)
            worklist = self._worklist(reviewer, wish.scope, own)
            unreturned, items = self._unreturned(wish), wish.items
            order = items.order(self.loaded, self._draw, reviewer) if items else {}
            item = None if unreturned else self._asked(wish)
            if items and item is None:
                key = items.next(order, own, wish.passed)
                item = labeling.item(self.loaded, items.question, key) if key else None
            elif item is None and not unreturned:
                item = self._next(reviewer, worklist, wish)
            stale = self.stale(reviewer)
            self._claims.hold(reviewer, item.pair if item and wish.holds else None)
            question = item.question if item else wish.question
            asked = self.loaded.questions.get(wish.question or "") if wish.pinned else None
            other = asked is not None and item is not None and item.question != wish.question
            return Turn(
                item=item,
                own=own.fresh.get(item.pair) if item else None,
                stale=next((s for s in stale if item and _speaks_of(s, item)), None),
                stale_in_all=len(stale),
                put_off=item is not None and item.pair in own.later,
                question=question,
                progress=progress_of(self._ground, worklist, own, question, self._seconds),
                strip=tuple(strip_of(own)),
                deciding=None if wish.first is None else self._undecided(wish.first),
                unreturned=unreturned,
                elsewhere=asked.text if asked is not None and other else None,
                blocked=item is None and worklist.left > 0,
                linked=items.progress(order, own, item) if items else None,
            )

    def say(
        self,
        reviewer: str,
        shown: Item,
        said: Said,
        reopened: str | None = None,
        stale: str | None = None,
        first: Mapping[str, Group[str]] | None = None,
        blind: bool = True,
    ) -> tuple[Saved, Work | None]:
        """Save a judgment of what was on screen; also tells why the item was asked for.

        `reopened` is the judgment it replaces, `stale` one of before a change; `first` as in the
        wish, `blind` as in `labeling.say`. Raises as `labeling.say` does.
        """
        own = self.own(reviewer)
        with self._lock:
            decides = shown.text_hash in (first or {}).get(shown.question, ())
            why = Work.DECIDING if decides else self._ground.work(shown.pair)
            saved = labeling.say(
                self.loaded, own, shown, said, reopened=reopened, stale=stale, blind=blind
            )
            keep_soon(self.loaded, [self.loaded.corpus.chunks[shown.key]])
            self._claims.hold(reviewer, None)
            self.refresh()
            self.own(reviewer)
        return saved, why

    def undo(self, reviewer: str, event: str | None = None) -> Saved:
        """Take back a judgment, the reviewer's newest unless named. Raises as `labeling.undo`."""
        with self._lock:
            own = self.own(reviewer)
            last = own.last
            saved = labeling.undo(self.loaded, own, event or (last.event if last else ""))
            self.refresh()
            self.own(reviewer)
            return saved

    def _touch(self, questions: Iterable[str]) -> None:
        for question in questions:
            self._ground.touch(question)
            for worklist in self._lists.values():
                worklist.touch(question)

    def _forget(self, reviewer: str) -> None:
        """Names are typed, and every link may bring a new one: the longest unused goes."""
        del self._owns[reviewer]
        self._stale.pop(reviewer, None)
        for scope in get_args(Scope):
            self._lists.pop((reviewer, scope), None)

    def _worklist(self, reviewer: str, scope: Scope, own: Own) -> Worklist:
        found = self._lists.get((reviewer, scope))
        if found is None:
            found = self._lists[reviewer, scope] = Worklist(self._ground, own, scope)
        return found

    def _asked(self, wish: Wish) -> Item | None:
        """The item a link names, judged or not; None where it names none that is there."""
        if wish.key is None or wish.question is None:
            return None
        if (
            wish.question not in self.loaded.questions
            or wish.key not in self.loaded.corpus.eligible
        ):
            return None
        return labeling.item(self.loaded, wish.question, wish.key)

    def _unreturned(self, wish: Wish) -> bool:
        """Whether somebody asked for a question that has no pair to judge at all."""
        known = wish.question in self.loaded.questions
        named = wish.key is not None and wish.key in self.loaded.corpus.eligible
        return bool(
            wish.pinned and known and not named and wish.question and not wish.items
            and not self._ground.plot(wish.question).texts
        )  # fmt: skip

    def _next(self, reviewer: str, worklist: Worklist, wish: Wish) -> Item | None:
        def free(pair: Pair) -> bool:
            others = self._claims.others(reviewer, pair)
            if not others or wish.scope == "all":
                return True
            standing = self._ground.coverage.of(pair)
            return missing(standing, self._ground.needed(pair)) > others

        pair: Pair | None = None
        if wish.pinned and wish.question in self.loaded.questions and wish.question:
            every = self._worklist(reviewer, "all", self.own(reviewer)).open(wish.question)
            pairs = ((wish.question, text) for text in every)
            pair = next((one for one in pairs if one not in wish.passed), None)
        if pair is None and wish.first:
            waiting = self._deciding(worklist, wish)
            pair = next((one for one in waiting if one not in wish.passed and free(one)), None)
        pair = pair or worklist.next(wish.question, wish.passed, free)
        if pair is None:
            return None
        return labeling.item(self.loaded, pair[0], self.loaded.corpus.by_hash[pair[1]][0])

    def _deciding(self, worklist: Worklist, wish: Wish) -> Iterator[Pair]:
        """What is still to be judged of the pairs that come first, question by question."""
        first = wish.first or {}
        here = [wish.question] if wish.question and wish.question in first else []
        for name in dict.fromkeys([*here, *worklist.order]):
            wanted = first.get(name)
            if wanted and worklist.page(name).open:
                yield from ((name, text) for text in worklist.open(name) if text in wanted)

    def _undecided(self, first: Mapping[str, Group[str]]) -> int:
        """How many pairs of a comparison lack a judgment, by whomever."""
        known = (name for name in first if name in self._pool.pairs)
        return sum(len(self._ground.plot(name).needs.keys() & first[name]) for name in known)


def _speaks_of(stale: Stale, item: Item) -> bool:
    """Whether a stale judgment was of what is on screen, as it was."""
    return (
        stale.event.question == item.question
        and stale.chunk.text_hash == item.text_hash
        and not stale.event.adjudication
    )

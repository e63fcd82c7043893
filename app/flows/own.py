"""One reviewer's own judgments, kept up event by event from their own file alone."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.carrying import Quoted
from app.core.corpus import Corpus
from app.core.coverage import Pair
from app.core.following import Follower, Position
from app.core.grades import is_fresh, text_judged
from app.core.heads import Heads
from app.core.judgments import Judgment, file_name
from app.core.questions import Question
from app.flows.loading import Loaded

#: The question, what was said of it, and whether as an adjudication.
_Subject = tuple[str, object, bool]


class Own:
    """What a reviewer has said that is in force. Nobody else's file is read.

    `fresh` are grades and `cannot judge` by question and text, `later` what was put off, in the
    order it was; both only where neither text nor question has changed since, or the evidence still
    stands. `stale` are the ids of the others, `stale_decisions` those of adjudications, which are
    nothing else here. `events` are all events by id, in the file's order.
    """

    def __init__(self, loaded: Loaded, reviewer: str) -> None:
        """Read the file for the first time."""
        self.reviewer = reviewer
        self._corpus: Corpus = loaded.corpus
        self._questions: Mapping[str, Question] = loaded.questions
        self._guidelines = loaded.collection.guidelines_pin()
        self._ledger, self._name = loaded.collection.ledger, file_name(reviewer)
        self._follower: Follower[Judgment] = Follower(self._ledger, self._name)
        self._quoted = Quoted(loaded.corpus)
        self._reset()
        self.refresh()

    def _reset(self) -> None:
        self._heads: Heads[_Subject, Judgment] = Heads()
        self._told: dict[_Subject, tuple[Judgment, tuple[Pair, ...]]] = {}
        self._of: dict[Pair, dict[_Subject, Judgment]] = {}
        self.events: dict[str, Judgment] = {}
        self.fresh: dict[Pair, Judgment] = {}
        self.later: dict[Pair, Judgment] = {}
        self.stale: set[str] = set()
        self.stale_decisions: set[str] = set()
        self._judged: dict[str, int] = {}

    def refresh(self) -> set[str]:
        """Read what was added to the file; returns the questions it is about.

        Raises InvalidInput where a line of the file cannot be read.
        """
        added = self._follower.poll()
        if added.refused:
            self._ledger.read(self._name)
        touched: set[str] = set()
        if added.anew:
            touched = {question for question, _ in (*self.fresh, *self.later)}
            self._reset()
        for position, event in added.events:
            touched |= self._take(position, event)
        return touched

    def judged(self, question: str) -> int:
        """How many texts the reviewer has judged for a question."""
        return self._judged.get(question, 0)

    def in_force(self, event: Judgment) -> bool:
        """Whether an event is the last word on its subject, and no withdrawal or adjudication."""
        if event.adjudication:
            return False
        head = self._heads.of(self._subject(event))
        return head is not None and head.event == event.event and head.kind != "withdraw"

    @property
    def last(self) -> Judgment | None:
        """The newest judgment in force that is not stale: what undo takes back next."""
        return next((one for one in reversed(self.events.values()) if self._stands(one)), None)

    def _stands(self, event: Judgment) -> bool:
        told = self._told.get(self._subject(event))
        return told is not None and told[0].event == event.event and bool(told[1])

    def _take(self, position: Position, event: Judgment) -> set[str]:
        self.events[event.event] = event
        if event.author != self.reviewer:
            return set()
        changed = self._heads.add(self._subject(event), position, event, event)
        for one in changed:
            self._tell(one)
        return {question for question, _, _ in changed}

    def _subject(self, event: Judgment) -> _Subject:
        return event.question, text_judged(event, self._corpus), event.adjudication

    def _tell(self, subject: _Subject) -> None:
        """Bring what is told of a subject up to its head."""
        before = self._told.pop(subject, None)
        if before is not None:
            self.stale.discard(before[0].event)
            self.stale_decisions.discard(before[0].event)
            for pair in before[1]:
                self._of[pair].pop(subject)
                self._settle(pair)
        event = self._heads.of(subject)
        if event is None or event.kind == "withdraw" or subject[0] not in self._questions:
            return
        pairs = self._pairs(event, subject[1])
        if not pairs and event.kind != "later":
            (self.stale_decisions if event.adjudication else self.stale).add(event.event)
        if event.adjudication:
            pairs = ()  # no judgment of a reviewer's own work
        self._told[subject] = event, pairs
        for pair in pairs:
            self._of.setdefault(pair, {})[subject] = event
            self._settle(pair)

    def _pairs(self, event: Judgment, about: object) -> tuple[Pair, ...]:
        """What a judgment counts for now; nothing where it is stale."""
        question = event.question
        if not is_fresh(event, self._questions[question], self._guidelines):
            return ()
        if isinstance(about, str) and about in self._corpus.by_hash:
            return ((question, about),)
        landing = self._quoted.landing(event)
        return tuple((question, text) for text in landing.texts) if landing else ()

    def _settle(self, pair: Pair) -> None:
        """What was said of a text itself wins over what its evidence carried there."""
        said = self._of.get(pair, {})
        event = said.get((*pair, False)) or next(iter(said.values()), None)
        if self.fresh.pop(pair, None) is not None:
            self._judged[pair[0]] -= 1
        self.later.pop(pair, None)
        if event is None:
            return
        if event.kind == "later":
            self.later[pair] = event
        else:
            self.fresh[pair] = event
            self._judged[pair[0]] = self._judged.get(pair[0], 0) + 1

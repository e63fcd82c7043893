"""Which (question, text) has been judged by whom, and nothing of what was said.

This is all that grading may know of other reviewers: a queue needs it to tell what still needs a
judgment. No grade, reason, note or evidence is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.core.carrying import Quoted
from app.core.corpus import Corpus
from app.core.events import Event, Restoration
from app.core.following import Added, Position
from app.core.grades import is_fresh, text_judged
from app.core.heads import Heads
from app.core.judgments import Judgment, Retirement
from app.core.questions import Question

#: A question and the hash of a text.
Pair = tuple[str, str]
_Subject = tuple[str, str, object, bool]
#: What a judgment does for a pair it speaks of.
Does = Literal["graded", "unable", "decided", "stale"]


@dataclass
class Standing:
    """Who has judged one pair: graded it blind, or could not; `decided` by an adjudication.

    `stale` are those who judged it before it, or its question, was changed.
    """

    said: dict[_Subject, Does] = field(default_factory=dict)

    def _who(self, does: Does) -> set[str]:
        if does not in self.said.values():
            return set()  # asked of every pair of a question at each press
        return {subject[0] for subject, what in self.said.items() if what == does}

    @property
    def graders(self) -> set[str]:
        """Who graded it."""
        return self._who("graded")

    @property
    def unable(self) -> set[str]:
        """Who could not judge it."""
        return self._who("unable")

    @property
    def decided(self) -> set[str]:
        """Who adjudicated it."""
        return self._who("decided")

    @property
    def stale(self) -> set[str]:
        """Whose judgment has to be given again."""
        return self._who("stale")

    @property
    def empty(self) -> bool:
        """Whether nobody has said anything that is in force."""
        return not self.said


_NOBODY = Standing()


class Coverage:
    """Kept up event by event, against one corpus and one set of questions.

    `begun` are the questions whose first grade came in after the first events were taken.
    """

    def __init__(
        self,
        questions: Mapping[str, Question],
        corpus: Corpus,
        guidelines: str | None,
        begun: set[str] | None = None,
    ) -> None:
        """`guidelines` is the version labels must have been given under, None for any.

        `begun` is handed on from a coverage before, and kept up in place.
        """
        self._questions = questions
        self._corpus = corpus
        self._guidelines = guidelines
        self._quoted = Quoted(corpus)
        self._heads: Heads[_Subject, tuple[tuple[Pair, ...], Does]] = Heads()
        self._told: dict[_Subject, tuple[tuple[Pair, ...], Does]] = {}
        self.by_question: dict[str, dict[str, Standing]] = {}
        self._graded: dict[str, int] = {}
        self.begun = set() if begun is None else begun
        self._first = True
        self._retiring: dict[str, tuple[str, object]] = {}
        self._brought_back: set[str] = set()
        self._retired: set[tuple[str, object]] = set()

    def take(self, events: Iterable[tuple[Position, Judgment]]) -> set[str]:
        """Take events in; returns the questions about which something may have changed.

        The first call brings all that was there before.
        """
        touched: set[str] = set()
        graded: dict[str, bool] = {}
        for position, event in events:
            if event.question not in self._questions:
                continue
            about = text_judged(event, self._corpus)
            subject = (event.author, event.question, about, event.adjudication)
            for changed in self._heads.add(subject, position, event, self._says(event, about)):
                touched.add(changed[1])
                graded.setdefault(changed[1], self.is_graded(changed[1]))
                self._tell(changed)
        if not self._first:
            self.begun |= {name for name, before in graded.items() if not before}
        self.begun -= {name for name in self.begun if not self.is_graded(name)}
        self._first = False
        return touched

    def retire(self, added: Added[Event]) -> set[str]:
        """Take in what was retired or brought back, of all events; returns the questions it is
        about.

        Who retired a pair, and why, is not kept.
        """
        if not added.anew and not added.events:
            return set()
        if added.anew:
            self._retiring.clear()
            self._brought_back.clear()
        for _, event in added.events:
            if isinstance(event, Retirement):
                self._retiring[event.event] = event.question, event.about
            elif isinstance(event, Restoration):
                self._brought_back.update(event.restores)
        before = self._retired
        self._retired = {
            about for name, about in self._retiring.items() if name not in self._brought_back
        }
        return {question for question, _ in before ^ self._retired if question in self._questions}

    def is_retired(self, pair: Pair) -> bool:
        """Whether a pair counts no longer, so that it needs no judgment.

        Retired by text; or by the ids of all its chunks, where nobody could judge it: ids are given
        again, and a grade says that the text has one of its own.
        """
        if not self._retired or pair in self._retired:
            return bool(self._retired)
        question, text = pair
        keys = self._corpus.by_hash.get(text, ())
        if not keys or not all((question, key) in self._retired for key in keys):
            return False
        said = set(self.of(pair).said.values())
        return "unable" in said and said.isdisjoint(("graded", "decided"))

    def of(self, pair: Pair) -> Standing:
        """Who has judged a pair."""
        return self.by_question.get(pair[0], {}).get(pair[1], _NOBODY)

    def is_graded(self, question: str) -> bool:
        """Whether anybody has graded a chunk for the question as it now reads."""
        return self._graded.get(question, 0) > 0

    def _says(self, event: Judgment, about: object) -> tuple[tuple[Pair, ...], Does]:
        """The pairs a judgment speaks of now, and what it does there."""
        # A grade that was not given blind spares nobody a blind one.
        if event.kind in ("later", "withdraw") or not (event.blind or event.adjudication):
            return (), "stale"
        question, texts = event.question, self._corpus.by_hash
        fresh = is_fresh(event, self._questions[question], self._guidelines)
        if isinstance(about, str) and about in texts:
            return ((question, about),), self._does(event) if fresh else "stale"
        landing = self._quoted.landing(event) if fresh else None
        if landing is not None:
            return tuple((question, text) for text in landing.texts), self._does(event)
        chunk = self._corpus.chunks.get(event.key)
        if chunk is not None and chunk.eligible:
            return ((question, chunk.text_hash),), "stale"
        return (), "stale"

    @staticmethod
    def _does(event: Judgment) -> Does:
        if event.adjudication:
            return "decided"
        if event.kind == "cannot-judge":
            return "unable"
        return "graded"

    def _tell(self, subject: _Subject) -> None:
        """Bring what is told of a subject up to its head."""
        question = subject[1]
        pages = self.by_question.setdefault(question, {})
        for _, text in self._told.pop(subject, ((), "stale"))[0]:
            standing = pages[text]
            self._count(question, standing.said.pop(subject), -1)
            if standing.empty:
                del pages[text]
        pairs, does = self._heads.of(subject) or ((), "stale")
        if pairs:
            self._told[subject] = pairs, does
        for _, text in pairs:
            pages.setdefault(text, Standing()).said[subject] = does
            self._count(question, does, 1)

    def _count(self, question: str, does: Does, by: int) -> None:
        if does in ("graded", "decided"):
            self._graded[question] = self._graded.get(question, 0) + by

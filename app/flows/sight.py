"""What others' words would tell a viewer of the texts there are, and which texts they judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from app.core.carrying import Quoted
from app.core.coverage import Pair
from app.core.events import Example
from app.core.grades import is_fresh, live, text_judged
from app.core.judgments import Judgment, Retirement, file_name
from app.core.text import text_hash
from app.flows.loading import Loaded

#: What may be said of a question and a text.
Words = Judgment | Retirement | Example


class Sight:
    """Of which (question, text hash) something said of one tells."""

    def __init__(self, loaded: Loaded) -> None:
        """Quotes are sought only for texts that are no longer here."""
        self._loaded = loaded
        self._quoted = Quoted(loaded.corpus)

    def told(self, viewer: str, said: Iterable[Words]) -> set[Pair]:
        """The pairs of which others than the viewer say something in what is shown.

        The pair it was said of, and where that text is no longer here what stands in its place.
        """
        found: set[Pair] = set()
        for one in said:
            if one.author != viewer and _says_something(one):
                found |= {(one.question, text) for text in self._texts(one)}
        return found

    def open(self, said: Iterable[Words]) -> set[Pair]:
        """The pairs that can be judged now and of which something in what was said tells."""
        here = self._loaded.corpus.by_hash
        return {(one.question, text) for one in said for text in self._texts(one) if text in here}

    def judged(self, viewer: str, questions: Collection[str]) -> set[Pair]:
        """The pairs of some questions that the viewer has judged, by judgments that are not stale.

        Raises InvalidInput where a line of the viewer's ledger cannot be read.
        """
        collection, corpus = self._loaded.collection, self._loaded.corpus
        pin = collection.guidelines_pin()
        events = collection.ledger.read(file_name(viewer)).events
        found: set[Pair] = set()
        for placed in live((p for p in events if p.event.question in questions), corpus):
            event = placed.event
            question = self._loaded.questions.get(event.question)
            if event.author != viewer or event.kind == "later" or question is None:
                continue
            if is_fresh(event, question, pin):
                found |= {(event.question, text) for text in self._counts_for(event)}
        return found

    def _counts_for(self, event: Judgment) -> tuple[str, ...]:
        """The texts a judgment counts for now: its own, or those that hold its evidence."""
        about = text_judged(event, self._loaded.corpus)
        if isinstance(about, str) and about in self._loaded.corpus.by_hash:
            return (about,)
        landing = self._quoted.landing(event)
        return landing.texts if landing else ()

    def _texts(self, said: Words) -> set[str]:
        corpus = self._loaded.corpus
        if isinstance(said, Judgment):
            about = text_judged(said, corpus)
        else:
            about = text_hash(said.text) if isinstance(said, Example) else said.text_hash
        found = {about} if isinstance(about, str) else set()
        if about not in corpus.by_hash:
            if isinstance(said, Judgment):
                found.update(self._counts_for(said))
            # What was said of its old text tells of the text that stands under its id now.
            if (chunk := corpus.eligible.get(said.key)) is not None:
                found.add(chunk.text_hash)
        return found


def _says_something(said: Words) -> bool:
    """Not that somebody put a pair off or took something back, without a word."""
    if isinstance(said, Judgment):
        return said.kind in ("grade", "cannot-judge") or said.note is not None
    return True

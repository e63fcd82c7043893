"""A collection with everything that is read from files, checked before any search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.core.corpus import Corpus
from app.core.errors import DeskError, InvalidInput, Problem
from app.core.labels import Labels
from app.core.questions import Question
from app.workspace import Collection


@dataclass(frozen=True)
class Loaded:
    """A collection as its files say at one moment.

    Labels are resolved when they are first asked for: a fault in one reviewer's file keeps nobody
    from indexing or from grading.
    """

    collection: Collection
    corpus: Corpus
    questions: dict[str, Question]

    @cached_property
    def labels(self) -> Labels:
        """The labels; raises InvalidInput with every one that is refused."""
        return self.collection.labels(self.corpus, self.questions)

    @property
    def origin(self) -> str | None:
        """Where the eligible set comes from, where that is not the source texts themselves."""
        if not self.collection.settings.foreign:
            return None
        sync = self.collection.sync()
        return (
            f"{self.collection.name} has the chunks of the collection {sync.collection} at "
            f"{sync.host} as of its last sync, {sync.synced[:16].replace('T', ' ')} UTC."
        )


def load(collection: Collection) -> Loaded:
    """Read corpus and questions.

    Raises InvalidInput with the problems of both, and of lines of the ledger, so that one run shows
    what to mend.
    """
    problems: list[Problem] = []
    corpus: Corpus | None = None
    questions: dict[str, Question] | None = None
    try:
        corpus = collection.corpus()
    except DeskError as error:
        problems += error.problems
    try:
        questions = collection.questions()
    except DeskError as error:
        problems += error.problems
    if corpus is None or questions is None:
        # Labels can still be read line by line, though not held against the corpus.
        for ledger in (collection.ledger, collection.events):
            try:
                ledger.read()
            except DeskError as error:
                problems += error.problems
        raise InvalidInput.of(dict.fromkeys(problems))
    return Loaded(collection, corpus, questions)


def require_questions(loaded: Loaded) -> None:
    """Raise InvalidInput where there is nothing to ask, or nothing that may be found."""
    require_eligible(loaded)
    if not loaded.questions:
        raise InvalidInput(
            "there are no questions",
            place=f"{loaded.collection.labels_place}/questions.jsonl",
            remedy='Add one a line: {"format":1,"id":"q1","category":"general","text":"..."}',
        )


def question_asking(loaded: Loaded, text: str) -> Question | None:
    """The question of the collection that asks just this, if there is one."""
    return next((one for one in loaded.questions.values() if one.text == text), None)


def load_asked(collection: Collection, what: str) -> Loaded:
    """Read corpus and questions for something that needs the questions to be there.

    Raises InvalidInput as `load` does and as `require_asked`.
    """
    loaded = load(collection)
    require_asked(loaded, what)
    return loaded


def require_asked(loaded: Loaded, what: str) -> None:
    """Raise InvalidInput where there is no question `what` could belong to."""
    if not loaded.questions:
        raise InvalidInput(
            f"there are no questions {what} could belong to",
            place=f"{loaded.collection.labels_place}/questions.jsonl",
            remedy=f"Import them first: desk import {loaded.collection.name} questions FILE",
        )


def require_eligible(loaded: Loaded) -> None:
    """Raise InvalidInput where no chunk passes the filter."""
    if not loaded.corpus.eligible:
        raise InvalidInput(
            f"none of the {len(loaded.corpus.chunks)} chunks passes the filter",
            place=f"data/{loaded.collection.name}/collection.toml",
            remedy="Correct [eligible], or the fields in the source texts",
        )

"""Questions of a collection that ask almost what another one asks."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.questions import Question
from app.flows.loading import Loaded
from app.flows.near import near_questions

#: Any name does: it is compared with others, and they are not compared with it.
_NEW = "new"


@dataclass(frozen=True, slots=True)
class Alike:
    """A question that reads nearly as another text; `retired` where it is not asked now."""

    question: Question
    retired: bool


def alike(loaded: Loaded, text: str) -> Alike | None:
    """The question, retired ones included, that is nearest to a text; None where none is near."""
    asked = loaded.collection.asked()
    known = {**asked.questions, **asked.retired}
    found = _nearest(text, known)
    return None if found is None else Alike(found, found.id in asked.retired)


def answered_alike(loaded: Loaded, question: Question) -> Question | None:
    """The nearest other question that is near and has relevant evidence; None where none is.

    Raises InvalidInput where labels are refused: which questions have evidence is then not known.
    """
    kinds = loaded.labels.kinds
    known = {
        name: one
        for name, one in loaded.questions.items()
        if kinds[name] == "answerable" and name != question.id
    }
    return _nearest(question.text, known)


def _nearest(text: str, known: dict[str, Question]) -> Question | None:
    if not text.strip():
        return None
    texts = {name: one.text for name, one in known.items()}
    found = near_questions({_NEW: text}, texts)
    return known[found[0].other] if found else None

"""Which chunk a reviewer judges next. Knows nothing of ranks, scores or other reviewers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from app.core.corpus import Corpus
from app.core.grades import is_fresh, live, text_judged
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.model import ChunkKey
from app.core.questions import Question


def shuffled(reviewer: str, question: str, keys: Iterable[ChunkKey]) -> list[ChunkKey]:
    """Keys in an order that depends on reviewer and question alone and tells nothing of them."""

    def place(key: ChunkKey) -> str:
        return hashlib.sha256(f"{reviewer}\n{question}\n{key}".encode()).hexdigest()

    return sorted(keys, key=place)


def own_judgments(
    judgments: Iterable[Placed[Judgment]],
    reviewer: str,
    questions: Mapping[str, Question],
    corpus: Corpus,
    guidelines: str | None,
) -> dict[tuple[str, str], Judgment]:
    """A reviewer's judgments in force that are not stale, by question and text hash.

    `guidelines` is the version labels must have been given under, None where it does not matter.
    """
    found: dict[tuple[str, str], Judgment] = {}
    for placed in live((p for p in judgments if p.event.author == reviewer), corpus):
        event = placed.event
        question, about = questions.get(event.question), text_judged(event, corpus)
        if question is None or not isinstance(about, str) or event.kind == "later":
            continue
        if is_fresh(event, question, guidelines):
            found[event.question, about] = event
    return found


def open_items(
    reviewer: str, question: str, corpus: Corpus, own: Mapping[tuple[str, str], Judgment]
) -> list[ChunkKey]:
    """Eligible chunks the reviewer has not judged for a question, each text once, shuffled."""
    keys = [keys[0] for text, keys in corpus.by_hash.items() if (question, text) not in own]
    return shuffled(reviewer, question, keys)

"""The items behind a cell of two reviewers' matrix, and which of them a viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.grades import live, text_judged
from app.core.judgments import Judgment, file_name
from app.core.model import Chunk, ChunkKey
from app.flows.agreeing import Firsts
from app.flows.loading import Loaded


@dataclass(frozen=True, slots=True)
class Case:
    """One item two reviewers judged. `chunk` is None where its text is no longer here."""

    question: str
    about: object
    key: ChunkKey
    chunk: Chunk | None
    first: Judgment
    second: Judgment


def cases(
    loaded: Loaded,
    firsts: Firsts,
    reviewers: tuple[str, str],
    grades: tuple[int, int],
    category: str | None = None,
) -> list[Case]:
    """The items to which two reviewers gave these grades, in the order of the questions."""
    one, other = (firsts.reviewers.index(name) for name in reviewers)
    chosen = (firsts.table[:, one] == grades[0]) & (firsts.table[:, other] == grades[1])
    found = []
    for row in np.flatnonzero(chosen).tolist():
        if category not in (None, firsts.categories[row]):
            continue
        question, about, _ = firsts.items[row]
        first, second = firsts.given[row, one], firsts.given[row, other]
        keys = loaded.corpus.by_hash.get(about, ()) if isinstance(about, str) else ()
        key = first.key if first.key in keys or not keys else keys[0]
        chunk = loaded.corpus.chunks[key] if keys else None
        found.append(Case(question, about, key, chunk, first, second))
    return found


def unjudged_by(loaded: Loaded, viewer: str, found: Sequence[Case]) -> list[Case]:
    """The cases the viewer could still judge: others' grades of them would sway that judgment."""
    events = loaded.collection.ledger.read(file_name(viewer)).events
    own = {
        (one.event.question, text_judged(one.event, loaded.corpus))
        for one in live(events, loaded.corpus)
        if one.event.kind != "later"
    }
    return [
        case
        for case in found
        if isinstance(case.about, str)
        and case.about in loaded.corpus.by_hash
        and (case.question, case.about) not in own
    ]

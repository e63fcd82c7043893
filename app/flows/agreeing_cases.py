"""The items behind a cell of two reviewers' matrix, and which of them a viewer may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.core.judgments import Judgment
from app.core.model import Chunk, ChunkKey
from app.flows.agreeing import Firsts
from app.flows.loading import Loaded
from app.flows.sight import Sight


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
    """The cases the viewer could still judge: others' grades of them would sway that judgment.

    Those with a stale judgment of the viewer's are among them, for it is to be given again.
    """
    sight = Sight(loaded)
    judged = sight.judged(viewer, {case.question for case in found})
    return [case for case in found if not sight.open((case.first, case.second)) <= judged]

"""How much hangs on a dispute: what the primary metric could gain or lose by its decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.metrics import NO_HIT, OPEN, Judged, score
from app.core.model import ChunkKey
from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.adjudicating import Dispute
from app.flows.loading import Loaded
from app.flows.means import METRIC_OF
from app.flows.scored import GradedHit
from app.flows.scoring import graded_hits
from app.settings import split_metric


@dataclass(frozen=True, slots=True)
class Effect:
    """The largest change of the primary metric of a dispute's question, 0 to 1, and where."""

    change: float
    configuration: str


def effects(loaded: Loaded, found: Sequence[Dispute]) -> Mapping[tuple[str, str], Effect]:
    """The effect of each dispute by its identity; none that has no effect, or no execution.

    It is the difference of the question's primary metric between the highest and the lowest
    possible grade of the pair, all else at its effective grade and open pairs as grade 0, in the
    newest execution of each configuration on the corpus as it is now; the largest of them. A
    question without a relevant chunk counts as 0. Raises StoreError where the store cannot be read.
    """
    workspace, name = loaded.collection.workspace, loaded.collection.name
    if not found or not workspace.store_path.exists():
        return {}
    store = Store.at(workspace.store_path)
    largest: dict[tuple[str, str], Effect] = {}
    for execution in _newest(store, loaded, name):
        changes = _changes(store, execution, loaded, found)
        for dispute, change in zip(found, changes, strict=True):
            known = largest.get(dispute.identity)
            if change > 0 and (known is None or change > known.change):
                largest[dispute.identity] = Effect(change, execution.configuration)
    return largest


def by_effect(found: Sequence[Dispute], known: Mapping[tuple[str, str], Effect]) -> list[Dispute]:
    """Widest first, then by effect, largest first; else in the order they come in."""

    def change(dispute: Dispute) -> float:
        effect = known.get(dispute.identity)
        return 0.0 if effect is None else effect.change

    return sorted(found, key=lambda dispute: (-dispute.width, -change(dispute)))


def _newest(store: Store, loaded: Loaded, name: str) -> list[Execution]:
    """The newest whole execution of each configuration on the corpus as it is now."""
    newest: dict[str, Execution] = {}
    for one in executions.listed(store, name):
        if one.status != "incomplete" and one.corpus_revision == loaded.corpus.revision:
            newest.setdefault(one.configuration, one)
    return list(newest.values())


def _changes(
    store: Store, execution: Execution, loaded: Loaded, found: Sequence[Dispute]
) -> list[float]:
    """Per dispute, how far its question's primary metric moves in one execution."""
    scoring = loaded.collection.settings.scoring
    metric, k = split_metric(scoring.primary)
    labels, highest = loaded.labels, loaded.labels.scoring.highest
    hashes = loaded.corpus.text_hashes
    asked = {dispute.question for dispute in found}
    depth = None if execution.cut_anywhere else k
    rankings, _ = executions.rankings(store, execution, depth)
    hits: dict[str, tuple[GradedHit, ...]] = {
        ranking.question: graded_hits(ranking, labels, hashes, execution.threshold)[:k]
        for ranking in rankings
        if ranking.question in asked and ranking.failure is None
    }
    known = {question: _used(loaded, question) for question in asked}
    # Two rows per dispute: at its lowest possible grade, and at its highest.
    grade = np.full((2 * len(found), k), NO_HIT, dtype=np.int8)
    used = np.zeros((2 * len(found), highest + 1), dtype=np.int64)
    for number, dispute in enumerate(found):
        for row, value in ((2 * number, dispute.low), (2 * number + 1, dispute.high)):
            used[row] = known[dispute.question]
            for key in dispute.keys:
                _regrade(used[row], labels.pairs[dispute.question, key].grade, value)
            for rank, hit in enumerate(hits.get(dispute.question, ())):
                grade[row, rank] = _grade(hit, dispute.keys, value)
    nothing = np.zeros(grade.shape, dtype=np.bool_)
    pairs = np.zeros((len(grade), highest + 1, highest + 1), dtype=np.int64)
    empty = np.zeros(len(grade), dtype=np.int64)
    judged = Judged(grade, grade, grade, nothing, nothing, pairs, used, empty)
    scores = score(judged, k, labels.scoring.threshold)
    values = np.nan_to_num(scores.metric(METRIC_OF[metric]))
    changes: list[float] = np.abs(values[1::2] - values[0::2]).tolist()
    return changes


def _used(loaded: Loaded, question: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many pairs of a question have each effective grade."""
    used = np.zeros(loaded.labels.scoring.highest + 1, dtype=np.int64)
    for label in loaded.labels.by_question[question].values():
        if label.grade is not None:
            used[label.grade] += 1
    return used


def _regrade(
    used: np.ndarray[tuple[int], np.dtype[np.int64]], before: int | None, value: int
) -> None:
    if before is not None:
        used[before] -= 1
    used[value] += 1


def _grade(hit: GradedHit, keys: tuple[ChunkKey, ...], value: int) -> int:
    if hit.hit.key in keys:
        return value
    return OPEN if hit.label.grade is None else hit.label.grade

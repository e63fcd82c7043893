"""Stored rankings joined with a stored label set, as arrays to score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from app.core.bounds import ties_across
from app.core.metrics import NO_HIT, OPEN, Floats, Ints, Judged
from app.core.model import ScoringSettings
from app.core.text import same_words
from app.engines.executions import Execution
from app.engines.store import Row, Store, Unit

#: Deeper than any ranking.
_EVERYTHING = 2**31 - 1
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Stored:
    """What is needed to score an execution.

    `questions` are its questions in order; `judged` and `raw` (the hits' scores, NaN where nothing
    was returned) have a row for each of those that are answerable and did not fail. `waiting` are
    questions with disputed or stale evidence, `acceptance` is what unsupported ones got back.
    """

    questions: tuple[Row, ...]
    judged: Judged
    raw: Floats
    waiting: frozenset[str]
    acceptance: Mapping[str, Row]


def read(
    store: Store,
    execution: Execution,
    label_set: int,
    scoring: ScoringSettings,
    complete_hashes: frozenset[str] = frozenset(),
    order: Mapping[str, Any] | None = None,
) -> Stored:
    """Read an execution's hits with their labels, down to the largest cut-off.

    `complete_hashes` are the text hashes complete labels speak of. Hits below the execution's
    threshold are left out; a group of equal scores across the largest cut-off is read to its end.
    """
    here: Row = {"execution": execution.id, "label": label_set}
    cut: Row = {"threshold": execution.threshold}
    with store.work() as unit:
        found = unit.rows("scored_questions", here)
        questions = [row for row in found if same_words(row["asked"], row["text"])]
        if order is not None:
            place_of = {name: number for number, name in enumerate(order)}
            questions.sort(key=lambda row: place_of.get(row["question"], len(place_of)))
        refs = [
            row["question_ref"]
            for row in questions
            if row["kind"] == "answerable" and row["failure"] is None
        ]
        place = _places(refs)
        depth = max(scoring.cutoffs) + 1
        read = _EVERYTHING if execution.cut_anywhere else depth
        hits = _hits(unit, {**here, **cut, "depth": read}, place)
        if execution.cut_anywhere:
            hits = _closed_up(hits)
        raw = _matrix(hits, hits["score"], len(refs), np.nan, np.float64)
        if not execution.ordered_by_rank and (ties_across(raw, depth - 1) >= 0).any():
            hits = _hits(unit, {**here, **cut, "depth": _EVERYTHING}, place)
            raw = _matrix(hits, hits["score"], len(refs), np.nan, np.float64)
        pairs = _on_rows(unit.arrays("scored_pairs", {"label": label_set}), place)
        corpus = _Chunks.of(unit, execution, scoring, complete_hashes)
        unlisted = corpus.unlisted(unit, label_set, place, pairs, len(refs))
        if execution.imported:
            # A hit without a text here is one more pair whose grade nobody knows.
            foreign = _on_rows(unit.arrays("scored_foreign", {**here, **cut}), place)
            np.add.at(unlisted, foreign["row"], foreign["hits"])
        waiting: frozenset[int] = frozenset()
        if any(row["kind"] not in ("answerable", "unsupported") for row in questions):
            asked = {"label": label_set, "threshold": scoring.threshold}
            waits = unit.rows("scored_waiting", asked)
            waiting = frozenset(row["question_ref"] for row in waits)
        acceptance: list[Row] = []
        if any(row["kind"] == "unsupported" for row in questions):
            acceptance = unit.rows("scored_acceptance", {**here, **cut})
    names = {row["question_ref"]: row["question"] for row in questions}
    return Stored(
        questions=tuple(questions),
        judged=_judged(hits, pairs, len(refs), scoring.highest, corpus, unlisted),
        raw=raw,
        waiting=frozenset(names[ref] for ref in waiting if ref in names),
        acceptance={row["question"]: row for row in acceptance},
    )


def _places(refs: list[int]) -> Ints:
    """The row of every question number, -1 for those without one."""
    place = np.full(max(refs, default=0) + 2, -1, dtype=np.int64)
    place[refs] = np.arange(len(refs))
    return place


def _on_rows(found: Arrays, place: Ints) -> dict[str, NDArray[Any]]:
    """Only what belongs to a row, with the row as `row`."""
    refs = found["question_ref"]
    rows = place[np.minimum(refs, len(place) - 1)]
    if (rows >= 0).all():
        return {**found, "row": rows}
    return {name: column[rows >= 0] for name, column in {**found, "row": rows}.items()}


def _hits(unit: Unit, parameters: Row, place: Ints) -> dict[str, NDArray[Any]]:
    return _on_rows(unit.arrays("scored_hits", parameters), place)


def _closed_up(hits: Arrays) -> dict[str, NDArray[Any]]:
    """The same with ranks that leave no gap where hits were cut."""
    order = np.lexsort((hits["rank"], hits["row"]))
    rows = hits["row"][order]
    ranks = np.empty_like(hits["rank"])
    ranks[order] = np.arange(len(rows)) - np.searchsorted(rows, rows) + 1
    return {**hits, "rank": ranks}


def _matrix(hits: Arrays, values: NDArray[Any], rows: int, fill: float, kind: Any) -> Any:
    """Values by question and rank, `fill` where nothing was returned."""
    matrix = np.full((rows, int(hits["rank"].max(initial=0))), fill, dtype=kind)
    matrix[hits["row"], hits["rank"] - 1] = values
    return matrix


@dataclass(frozen=True)
class _Chunks:
    """The chunks of the corpus: how many have a grade only if listed, and which others have one.

    `covered` says by chunk number whether complete labels speak of it, None where they speak of
    nothing; `others` are the numbers of the chunks they do not speak of.
    """

    uncovered: int
    covered: NDArray[np.bool_] | None = None
    others: NDArray[Any] | None = None

    @classmethod
    def of(
        cls, unit: Unit, execution: Execution, scoring: ScoringSettings, complete: frozenset[str]
    ) -> _Chunks:
        if scoring.completeness != "complete":
            return cls(execution.eligible)
        found = unit.arrays("corpus_refs", {"execution": execution.id})
        refs = found["chunk_ref"]
        inside = np.array([text_hash in complete for text_hash in found["text_hash"]], np.bool_)
        covered = np.zeros(int(refs.max(initial=0)) + 2, dtype=np.bool_)
        covered[refs[inside]] = True
        return cls(int((~inside).sum()), covered, refs[~inside])

    def unlisted(self, unit: Unit, label_set: int, place: Ints, pairs: Arrays, rows: int) -> Ints:
        """Per row, how many chunks of the corpus nobody judged and no completeness covers."""
        total = np.full(rows, self.uncovered, dtype=np.int64)
        if self.covered is None:
            np.subtract.at(total, pairs["row"], pairs["present"])
        elif self.others is not None and len(self.others):
            table = pa.table({"chunk_ref": self.others})
            found = _on_rows(unit.arrays("scored_listed", {"label": label_set}, table), place)
            np.subtract.at(total, found["row"], found["pairs"])
        return total


def _flag(flags: NDArray[np.bool_], refs: NDArray[Any]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = flags[np.minimum(refs, len(flags) - 1)]
    return found


def _judged(
    hits: Arrays, pairs: Arrays, rows: int, highest: int, corpus: _Chunks, unlisted: Ints
) -> Judged:
    listed = hits["low"] >= 0
    implicit = np.zeros_like(listed)
    if corpus.covered is not None:
        implicit = ~listed & _flag(corpus.covered, hits["chunk_ref"])
    grade = np.where(listed, hits["grade"], np.where(implicit, 0, OPEN))
    low = np.where(listed, hits["low"], 0)
    high = np.where(listed, hits["high"], np.where(implicit, 0, highest))
    counts = np.zeros((rows, highest + 1, highest + 1), dtype=np.int64)
    np.add.at(counts, (pairs["row"], pairs["low"], pairs["high"]), pairs["pairs"])
    used = np.zeros((rows, highest + 1), dtype=np.int64)
    graded = pairs["grade"] >= 0
    np.add.at(used, (pairs["row"][graded], pairs["grade"][graded]), pairs["pairs"][graded])
    return Judged(
        grade=_matrix(hits, grade, rows, NO_HIT, np.int8),
        low=_matrix(hits, low, rows, NO_HIT, np.int8),
        high=_matrix(hits, high, rows, NO_HIT, np.int8),
        settled=_matrix(hits, hits["settled"] | implicit, rows, 0, np.bool_),
        listed=_matrix(hits, listed, rows, 0, np.bool_),
        pairs=counts,
        used=used,
        unlisted=unlisted,
    )

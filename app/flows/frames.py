"""DataFrames of scores and labels, and rows of DataFrames that are handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from app.core.errors import InvalidInput
from app.core.labels import Labels
from app.core.metrics import METRICS
from app.flows.means import MEAN_NAMES, Mean
from app.flows.scored import Scored

Named = Iterable[tuple[str, str | None, Any]]


def means(found: Iterable[tuple[str, str | None, Iterable[Mean]]]) -> pd.DataFrame:
    """One row per configuration, K and category."""
    rows = [
        {
            **_owner(name, execution),
            "k": mean.k,
            "category": mean.category,
            "scored": mean.scored,
            "answerable": mean.answerable,
            "failed": mean.failed,
            **{reason.replace(" ", "_"): number for reason, number in mean.counts.items()},
            **mean.values,
            "judged": mean.judged,
            "provisional": mean.provisional,
            **{f"{m}_as_0": value for m, value in mean.as_zero.items()},
            **{f"{m}_lower": ends and ends[0] for m, ends in mean.known_bounds.items()},
            **{f"{m}_upper": ends and ends[1] for m, ends in mean.known_bounds.items()},
        }
        for name, execution, group in found
        for mean in group
    ]
    numbers = [*MEAN_NAMES.values(), "judged"]
    numbers += [f"{m}_{end}" for m in MEAN_NAMES.values() for end in ("as_0", "lower", "upper")]
    return numeric(pd.DataFrame(rows), numbers)


def questions(found: Iterable[tuple[str, str | None, Scored]]) -> pd.DataFrame:
    """One row per configuration, question and K."""
    rows = [
        {
            **_owner(name, execution),
            "question": one.question,
            "category": one.category,
            "k": one.k,
            "outcome": one.outcome,
            "reason": one.reason,
            **{metric: one.values.get(metric) for metric in METRICS},
            "judged": one.judged,
            "relevant": one.relevant,
            "provisional": one.provisional,
            "tied": one.tied,
            **{f"{m}_as_0": one.as_zero.get(m) for m in METRICS},
            **{f"{m}_lower": one.known_bounds.get(m, (None, None))[0] for m in METRICS},
            **{f"{m}_upper": one.known_bounds.get(m, (None, None))[1] for m in METRICS},
        }
        for name, execution, scored in found
        for one in scored.questions
    ]
    numbers = [*METRICS, "judged", "relevant"]
    numbers += [f"{m}_{end}" for m in METRICS for end in ("as_0", "lower", "upper")]
    return numeric(pd.DataFrame(rows), numbers)


def hits(found: Iterable[tuple[str, str | None, Scored]]) -> pd.DataFrame:
    """One row per hit within the largest K."""
    rows = [
        {
            **_owner(name, execution),
            "question": asked.question,
            "rank": graded.hit.rank,
            "document": graded.hit.key.document,
            "version": graded.hit.key.version,
            "chunk": graded.hit.key.chunk,
            "score": graded.hit.score,
            "grade": graded.label.grade,
            "state": graded.label.state,
        }
        for name, execution, scored in found
        for asked in scored.asked
        if asked.outcome != "failed"
        for graded in scored.evidence(asked.question)[: max(scored.numbers, default=0)]
    ]
    columns = ("question", "rank", "document", "version", "chunk", "score", "grade", "state")
    return numeric(pd.DataFrame(rows or None, columns=None if rows else columns), ["grade"])


def labels(found: Labels) -> pd.DataFrame:
    """One row per listed pair."""
    columns = ["question", "document", "version", "chunk", "state", "grade", "low", "high",
               "departed"]  # fmt: skip
    rows = [
        (question, key.document, key.version, key.chunk, label.state, label.grade, label.low,
         label.high, label.departed)
        for (question, key), label in sorted(found.pairs.items(), key=lambda item: item[0])
    ]  # fmt: skip
    return numeric(pd.DataFrame(rows, columns=columns), ["grade"])


def _owner(name: str, execution: str | None) -> dict[str, Any]:
    owner: dict[str, Any] = {"configuration": name}
    return owner if execution is None else {**owner, "execution": execution}


def numeric(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Numbers as float64, so that what does not exist is NaN and never a text or an object."""
    return frame.astype({name: "float64" for name in names if name in frame})


def run_rows(run: Any) -> list[tuple[str, str, int | None, float | None]]:
    """Rows of a run in a DataFrame or a mapping; raises InvalidInput for anything else."""
    if isinstance(run, pd.DataFrame):
        _require(run, ("question", "chunk"))
        ranks = run["rank"] if "rank" in run else [None] * len(run)
        scores = run["score"] if "score" in run else [None] * len(run)
        return [
            (str(q), str(c), None if r is None else int(r), None if s is None else float(s))
            for q, c, r, s in zip(run["question"], run["chunk"], ranks, scores, strict=True)
        ]
    if not isinstance(run, Mapping):
        raise InvalidInput(
            f"a run is a file, a DataFrame or a mapping, not {type(run).__name__}",
            remedy="Give questions with their chunks in order",
        )
    found: list[tuple[str, str, int | None, float | None]] = []
    for question, chunks in run.items():
        if isinstance(chunks, Mapping):
            found += [(str(question), str(c), None, float(s)) for c, s in chunks.items()]
        else:
            found += [(str(question), str(c), n, None) for n, c in enumerate(chunks, start=1)]
    return found


def qrels(found: Any) -> dict[str, dict[str, int]]:
    """Grades by question and chunk of a DataFrame or a mapping; raises InvalidInput."""
    if isinstance(found, pd.DataFrame):
        _require(found, ("question", "chunk", "grade"))
        grades: dict[str, dict[str, int]] = {}
        columns = (found[name] for name in ("question", "chunk", "grade"))
        for question, chunk, grade in zip(*columns, strict=True):
            grades.setdefault(str(question), {})[str(chunk)] = _grade(grade)
        return grades
    return {
        str(question): {str(chunk): _grade(grade) for chunk, grade in judged.items()}
        for question, judged in found.items()
    }


def _grade(value: Any) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise InvalidInput(f"the grade {value!r} is no whole number", remedy="Correct it")
    return int(value)


def _require(frame: pd.DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in frame:
            raise InvalidInput(
                f"the DataFrame has no column {name}",
                remedy=f"Its columns: {', '.join(map(str, frame.columns))}",
            )

"""DataFrames of scores and labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from app.core.labels import Labels
from app.core.metrics import METRICS
from app.flows import contract
from app.flows.means import MEAN_NAMES, Mean
from app.flows.scored import Scored

#: What a mean holds more than one number under; columns of their own stand for it.
_NESTED = {"bounds", "known_bounds", "unjudged_as_0", "attainable"}


def means(found: Iterable[tuple[str, str | None, Iterable[Mean]]]) -> pd.DataFrame:
    """One row per configuration, K and category."""
    rows = [
        {
            **_owner(name, execution),
            **{name: value for name, value in contract.mean(mean).items() if name not in _NESTED},
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

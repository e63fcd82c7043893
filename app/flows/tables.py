"""Rows for tables on screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.flows.comparing import TIE, Case, Comparison
from app.flows.listing import Listed
from app.flows.means import METRIC_OF
from app.flows.scored import QuestionScore
from app.flows.wording import METRIC_WORDS, signed, value_or_range, with_bounds


def execution_rows(found: Sequence[Listed]) -> list[dict[str, Any]]:
    """One row per execution, newest first, with its last stored score."""
    return [
        {
            "execution": one.execution.id,
            "configuration": one.execution.configuration,
            "status": one.execution.status,
            "finished (UTC)": one.execution.finished[:19].replace("T", " "),
            "eligible chunks": one.execution.eligible,
            "last scored": one.headline,
            "who": str(one.execution.provenance.get("user", "-")),
        }
        for one in found
    ]


def mean_rows(found: Comparison, k: int) -> list[list[str]]:
    """Every metric at K, over all questions and by category."""
    return [
        [f"{METRIC_WORDS[d.metric]}@{k}" + (f", {d.category}" if d.category else ""), str(d.n),
         *map(value_or_range, found.values(k, d.metric, d.category),
              found.ends(k, d.metric, d.category)), signed(d.delta), str(d.wins), str(d.losses),
         str(d.ties), str(d.undecided or "")]
        for d in found.deltas
        if d.k == k and d.n
    ]  # fmt: skip


def case_rows(found: Comparison, metric: str, k: int) -> list[dict[str, Any]]:
    """One row per question of either execution at K: losses, then gains, then what is the same."""
    name = METRIC_OF[metric]

    def loss(row: Mapping[str, Any]) -> tuple[int, float]:
        delta = row["delta"]
        if delta is None:
            return 3, 0.0
        if abs(delta) <= TIE:
            return 2, 0.0
        return (0, delta) if delta < 0 else (1, -delta)

    rows = [
        {
            "question": case.question,
            "category": case.category,
            "baseline": _value(case.baseline, name),
            "candidate": _value(case.candidate, name),
            "delta": case.deltas[metric],
            "outcome": case.baseline.outcome
            if case.baseline.outcome == case.candidate.outcome
            else f"{case.baseline.outcome} / {case.candidate.outcome}",
        }
        for case in found.cases
        if case.k == k
    ]
    return sorted(rows, key=loss)


def case_words(case: Case, metric: str) -> str:
    """Both values of a case and their difference, in words."""
    name = METRIC_OF[metric]
    sides = [
        score.outcome
        if score.outcome != "scored"
        else with_bounds(score.values[name], score.known_bounds[name])
        for score in (case.baseline, case.candidate)
    ]
    delta = case.deltas[metric]
    return f"{sides[0]} baseline, {sides[1]} candidate" + (f", {signed(delta)}" if delta else "")


def _value(score: QuestionScore, metric: str) -> str:
    if score.outcome != "scored":
        return "-"
    return value_or_range(score.values[metric], score.known_bounds[metric])

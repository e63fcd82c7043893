"""Rows for tables on screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.executions import Execution
from app.flows.comparing import Comparison
from app.flows.report import METRIC_WORDS, number, signed


def execution_rows(
    found: Sequence[Execution], means: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """One row per execution, newest first, with its last stored nDCG at the largest K."""
    rows = []
    for one in found:
        last = next(iter(reversed(means.get(one.id, []))), None)
        rows.append(
            {
                "execution": one.id,
                "configuration": one.configuration,
                "status": one.status,
                "finished (UTC)": one.finished[:19].replace("T", " "),
                "eligible chunks": one.eligible,
                "last scored": "-"
                if last is None
                else f"nDCG@{last['k']} {number(last['ndcg'])}, n {last['scored']}",
                "who": str(one.provenance.get("user", "-")),
            }
        )
    return rows


def mean_rows(found: Comparison, k: int) -> list[list[str]]:
    """Every metric at K, over all questions and by category."""
    return [
        [f"{METRIC_WORDS[d.metric]}@{k}" + (f", {d.category}" if d.category else ""), str(d.n),
         number(d.baseline), number(d.candidate), signed(d.delta), str(d.wins), str(d.losses),
         str(d.ties)]
        for d in found.deltas
        if d.k == k and d.n
    ]  # fmt: skip


def case_rows(found: Comparison, metric: str, k: int) -> list[dict[str, Any]]:
    """One row per question of either execution at K, the largest loss first."""
    name = "rr" if metric == "mrr" else metric

    def loss(row: Mapping[str, Any]) -> tuple[bool, float]:
        return row["delta"] is None, row["delta"] or 0.0

    rows = [
        {
            "question": case.question,
            "category": case.category,
            "baseline": case.baseline.values.get(name),
            "candidate": case.candidate.values.get(name),
            "delta": case.deltas[metric],
            "outcome": case.baseline.outcome
            if case.baseline.outcome == case.candidate.outcome
            else f"{case.baseline.outcome} / {case.candidate.outcome}",
        }
        for case in found.cases
        if case.k == k
    ]
    return sorted(rows, key=loss)

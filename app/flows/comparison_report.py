"""Executions and comparisons as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.flows.comparing import Comparison
from app.flows.listing import Listed
from app.flows.wording import METRIC_WORDS, signed, table
from app.settings import split_metric


def execution_table(found: Sequence[Listed]) -> str:
    """The answer of `desk executions`, newest first."""
    rows = [
        [one.execution.id, one.execution.collection, one.execution.configuration,
         one.execution.status, f"{one.execution.finished[:19]}Z", str(one.execution.eligible),
         one.headline, str(one.execution.provenance.get("user", "-"))]
        for one in found
    ]  # fmt: skip
    header = ["execution", "collection", "configuration", "status", "finished", "eligible",
              "last scored", "who"]  # fmt: skip
    return table(header, rows, frozenset({5}))


def _shown(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 44 else f"{text[:43]}…"


def comparison_text(found: Comparison, primary: str) -> str:
    """The answer of `desk compare`: contract, means with deltas, cases that lost."""
    before, after = found.baseline.execution, found.candidate.execution
    parts = [
        f"{before.collection}: {before.id} ({before.configuration}) against "
        f"{after.id} ({after.configuration}), delta = candidate - baseline"
    ]
    if found.differs:
        lines = [f"  {name}: {_shown(a)} -> {_shown(b)}" for name, a, b in found.differs]
        parts.append("\n".join(["Set differently:", *lines]))
    else:
        parts.append("Set differently: nothing")
    if not any(d.n for d in found.deltas):
        parts.append("Nothing to compare yet: no question is scored in both.")
        return "\n\n".join(parts)
    rows = [
        [
            f"{METRIC_WORDS[d.metric]}@{d.k}", str(d.n), *found.mean(d.k, d.metric),
            signed(d.delta), str(d.wins), str(d.losses), str(d.ties), str(d.undecided or ""),
        ]
        for d in found.deltas
        if d.category is None
    ]  # fmt: skip
    header = ["metric", "n", "baseline", "candidate", "delta", "better", "worse", "same", "open"]
    parts.append(table(header, rows, frozenset(range(1, 9))))
    metric, k = split_metric(primary)
    lost = sorted(
        ((d, c) for c in found.cases if c.k == k and (d := c.deltas[metric]) is not None and d < 0),
        key=lambda pair: pair[0],
    )
    if lost:
        lines = [f"Worse at {METRIC_WORDS[metric]}@{k}:"]
        lines += [f"  {signed(delta)}  {case.question} ({case.category})" for delta, case in lost]
        parts.append("\n".join(lines))
    for side, only in (("baseline", found.only_baseline), ("candidate", found.only_candidate)):
        if only:
            parts.append(f"Only in the {side}: {', '.join(only)}")
    return "\n\n".join(parts)

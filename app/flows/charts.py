"""Chart specifications. Drawn by the pages and, later, by reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from app.flows.comparing import Comparison
from app.flows.wording import METRIC_WORDS

#: Baseline and candidate: told apart in light, in dark and by red-green blindness.
COLOURS = ("#8a94a0", "#1f77b4")


def category_rows(comparison: Comparison, metric: str, k: int) -> list[dict[str, Any]]:
    """One row per category and side: means with n; sides without a number are left out."""
    rows: list[dict[str, Any]] = []
    for delta in comparison.deltas:
        if (delta.k, delta.metric) != (k, metric) or delta.category is None or not delta.n:
            continue
        for side, value in (("baseline", delta.baseline), ("candidate", delta.candidate)):
            if value is not None:
                label = f"{delta.category} (n {delta.n})"
                rows.append({"category": label, "side": side, "value": value, "n": delta.n})
    return rows


def left_out(comparison: Comparison, metric: str, k: int) -> list[str]:
    """Categories with scored questions that have no number on one side, because provisional."""
    return [
        delta.category
        for delta in comparison.deltas
        if (delta.k, delta.metric) == (k, metric) and delta.category and delta.undecided
    ]


def category_chart(rows: Sequence[dict[str, Any]], metric: str, k: int) -> alt.Chart:
    """Bars per category, baseline above candidate; the axis runs from 0 to 1."""
    name = f"{METRIC_WORDS[metric]}@{k}"
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X(
                "value:Q",
                title=f"mean {name}",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f"),
            ),
            y=alt.Y("category:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            yOffset=alt.YOffset("side:N", sort=["baseline", "candidate"]),
            color=alt.Color(
                "side:N",
                title=None,
                scale=alt.Scale(domain=["baseline", "candidate"], range=list(COLOURS)),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=[
                alt.Tooltip("category:N"),
                alt.Tooltip("side:N"),
                alt.Tooltip("value:Q", title=name, format=".3f"),
                alt.Tooltip("n:Q", title="questions"),
            ],
        )
    )
    sized: alt.Chart = chart.properties(height=alt.Step(18), width="container")
    return sized

"""Chart specifications. Drawn by the pages and, later, by reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from app.flows.comparing import Comparison
from app.flows.wording import METRIC_WORDS, value_or_range

#: Baseline and candidate: told apart in light, in dark and by red-green blindness.
COLOURS = ("#8a94a0", "#1f77b4")


def category_rows(comparison: Comparison, metric: str, k: int) -> list[dict[str, Any]]:
    """One row per category and side, with n: `value` to `most` is what open chunks may add.

    `value` is the mean, and so is `most`, where nothing is open.
    """
    rows: list[dict[str, Any]] = []
    for delta in comparison.deltas:
        if (delta.k, delta.metric) != (k, metric) or delta.category is None or not delta.n:
            continue
        ends = comparison.ends(k, metric, delta.category)
        means = comparison.values(k, metric, delta.category)
        for side, mean, open_ends in zip(("baseline", "candidate"), means, ends, strict=True):
            low, high = (mean, mean) if mean is not None else open_ends or (0.0, 0.0)
            rows.append(
                {
                    "category": f"{delta.category} (n {delta.n})",
                    "side": side,
                    "value": low,
                    "most": high,
                    "words": value_or_range(mean, open_ends),
                    "n": delta.n,
                }
            )
    return rows


def category_chart(rows: Sequence[dict[str, Any]], metric: str, k: int) -> alt.LayerChart:
    """Bars per category, baseline above candidate, pale where they may still grow; from 0 to 1."""
    name = f"{METRIC_WORDS[metric]}@{k}"
    scale = alt.Scale(domain=[0, 1])
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("category:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("side:N", sort=["baseline", "candidate"]),
        color=alt.Color(
            "side:N",
            title=None,
            scale=alt.Scale(domain=["baseline", "candidate"], range=list(COLOURS)),
            legend=alt.Legend(orient="top", symbolOpacity=1),
        ),
        tooltip=[
            alt.Tooltip("category:N"),
            alt.Tooltip("side:N"),
            alt.Tooltip("words:N", title=name),
            alt.Tooltip("n:Q", title="questions"),
        ],
    )
    sure = base.mark_bar(cornerRadiusEnd=2).encode(
        x=alt.X("value:Q", title=f"mean {name}", scale=scale, axis=ticks)
    )
    may_be = base.mark_bar(opacity=0.3).encode(
        x=alt.X("value:Q", title=f"mean {name}", scale=scale, axis=ticks), x2="most:Q"
    )
    chart: alt.LayerChart = alt.LayerChart(
        layer=[sure, may_be], height=alt.Step(18), width="container"
    )
    return chart

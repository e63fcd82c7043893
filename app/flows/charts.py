"""Chart specifications. Drawn by the pages and, later, by reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from app.core.resampling import LEAST_ITEMS, Figure
from app.flows.agreeing import Agreement, OneReviewer
from app.flows.agreement_report import TOO_FEW, interval_words
from app.flows.comparing import Comparison
from app.flows.wording import METRIC_WORDS, number, signed, value_or_range

#: Row of the heatmap that stands for everybody else.
ALL_OTHERS = "all others"
#: Cells from a kappa of 0 to one of 1; text on pale ones, and on deep ones from this kappa on.
SHADES, TEXTS, DEEP = ("#eef3f8", "#1f5f99"), ("#000000", "#ffffff"), 0.82
_GREY = "#c9ced4"
#: From this number of reviewers on the heatmap takes the width there is.
MANY = 8

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


def heatmap_rows(found: Agreement) -> list[dict[str, Any]]:
    """One row per cell of reviewers by reviewers, in both orders, and one for all others.

    A figure on fewer than 10 items is left out, its n is kept. `shaded` cells have a value.
    """
    cells = [(ALL_OTHERS, one.name, one.with_others) for one in found.reviewers]
    for one in found.between:
        figure = one.kappas["quadratic"]
        cells += [(one.first, one.second, figure), (one.second, one.first, figure)]
    few = [(row, column, _enough(figure)) for row, column, figure in cells]
    return [
        {
            "row": row,
            "column": column,
            "shade": 0.0 if figure.value is None else max(figure.value, 0.0),
            "shaded": figure.value is not None,
            "deep": (figure.value or 0.0) > DEEP,
            "words": f"{_value_words(figure)}\nn {figure.n:,}",
            "kappa": interval_words(figure),
            "n": figure.n,
        }
        for row, column, figure in few
    ]


def _enough(figure: Figure) -> Figure:
    return figure if figure.n >= LEAST_ITEMS else Figure(None, figure.n, undefined=TOO_FEW)


def _value_words(figure: Figure) -> str:
    if figure.value is not None:
        return number(figure.value)
    return "too few" if figure.undefined == TOO_FEW else "not defined"


def agreement_heatmap(found: Agreement) -> alt.LayerChart:
    """Quadratic kappa of every two reviewers with n, best first; above it each with all others."""
    names = [one.name for one in found.reviewers]
    base = alt.Chart(alt.InlineData(values=heatmap_rows(found))).encode(
        x=alt.X(
            "column:N",
            sort=names,
            title=None,
            axis=alt.Axis(
                orient="top",
                labelAngle=0 if len(names) < MANY else -40,
                labelLimit=120,
                labelOverlap=False,
                labelFlush=False,
            ),
        ),
        y=alt.Y("row:N", sort=[ALL_OTHERS, *names], title=None, axis=alt.Axis(labelLimit=180)),
        tooltip=[
            alt.Tooltip("row:N", title="reviewer"),
            alt.Tooltip("column:N", title="and"),
            alt.Tooltip("kappa:N", title="quadratic kappa"),
            alt.Tooltip("n:Q", title="items both judged"),
        ],
    )
    shade = alt.Color(
        "shade:Q",
        scale=alt.Scale(domain=[0, 1], range=list(SHADES), clamp=True, interpolate="rgb"),
        legend=None,
    )
    cells = (
        base.mark_rect(stroke="#8a94a0", strokeWidth=0.5)
        .encode(color=alt.condition("datum.shaded", shade, alt.value(_GREY)))
        .add_params(alt.selection_point(name="cell", fields=["row", "column"]))
    )
    words = base.mark_text(lineBreak="\n", fontSize=12, dy=-7).encode(
        text="words:N",
        color=alt.condition("datum.deep", alt.value(TEXTS[1]), alt.value(TEXTS[0])),
    )
    width: Any = alt.Step(124) if len(names) < MANY else "container"
    chart: alt.LayerChart = alt.LayerChart(layer=[cells, words], height=alt.Step(44), width=width)
    return chart


def bias_rows(reviewers: Sequence[OneReviewer]) -> list[dict[str, Any]]:
    """One row per reviewer whose bias is defined, in their order; `low` and `high` where known."""
    return [
        {
            "reviewer": f"{one.name} (n {one.bias.n:,})",
            "bias": one.bias.value,
            "low": one.bias.low,
            "high": one.bias.high,
            "side": _side(one.bias.value),
            "words": f"{signed(one.bias.value)}",
            "interval": interval_words(one.bias, signed),
        }
        for one in reviewers
        if one.bias.value is not None
    ]


def _side(bias: float) -> str:
    if bias == 0:
        return "neither"
    return "more generous" if bias > 0 else "stricter"


def bias_chart(rows: Sequence[dict[str, Any]]) -> alt.LayerChart:
    """A bar from 0 per reviewer, to the right where the more generous, with its interval."""
    ends = [abs(row[name]) for row in rows for name in ("bias", "low", "high") if row[name]]
    most = max([0.25, *ends]) * 1.1
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("reviewer:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        tooltip=[
            alt.Tooltip("reviewer:N"),
            alt.Tooltip("side:N"),
            alt.Tooltip("interval:N", title="difference in grades"),
        ],
    )
    scale = alt.Scale(domain=[-most, most], nice=False)
    axis = alt.Axis(format="+.2f", tickCount=5)
    title = "stricter than the others  \u2190  mean difference in grades  \u2192  more generous"
    bars = base.mark_bar(size=14).encode(
        x=alt.X("bias:Q", scale=scale, axis=axis, title=title),
        color=alt.Color(
            "side:N",
            scale=alt.Scale(domain=["stricter", "more generous"], range=["#1f77b4", "#c9791a"]),
            legend=None,
        ),
    )
    spread = base.mark_rule(strokeWidth=2, color="#8a94a0").encode(x="low:Q", x2="high:Q")
    zero = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(color="#8a94a0").encode(x="at:Q")
    chart: alt.LayerChart = alt.LayerChart(
        layer=[bars, spread, zero], height=alt.Step(30), width="container"
    )
    return chart

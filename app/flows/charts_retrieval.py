"""Charts of one question's retrieval: precision and recall over K, and score by rank.

One or two configurations, each in the colour it has in every other chart (see `charts.COLOURS`).
Nothing is told by colour alone: metrics differ by dash and label, grades by shape and fill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from app.core.diagnosis import CurvePoint
from app.core.grades import PairLabel
from app.core.model import GRADE_WORDS
from app.flows.charts import COLOURS
from app.flows.scored import GradedHit
from app.flows.wording import number

Rows = list[dict[str, Any]]

_GREY, _BLUE, _AMBER, _VIOLET = "#8a94a0", "#1f77b4", "#c9791a", "#8a6fc4"
_NONE = "transparent"
#: How a hit is drawn by what is known of it: shape, fill, outline, dash of the outline.
LOOKS: Mapping[str, tuple[str, str, str, tuple[int, int]]] = {
    "2": ("circle", _BLUE, _BLUE, (1, 0)),
    "1": ("circle", _NONE, _BLUE, (1, 0)),
    "0": ("square", _GREY, _GREY, (1, 0)),
    "unjudged": ("circle", _NONE, _GREY, (2, 2)),
    "disputed": ("diamond", _NONE, _AMBER, (1, 0)),
    "stale": ("triangle-up", _NONE, _VIOLET, (1, 0)),
}
_DASHES = {"Precision": [1, 0], "Recall": [6, 4]}
#: Of a chart, and of the legend of grades below it, in pixels.
_HEIGHT, _LEGEND = 260, 110


@dataclass(frozen=True, slots=True)
class ScoredSide:
    """One configuration's ranking of a question, uncut.

    `kind` names the scale of its scores: sides of different kinds are never drawn on one axis.
    `threshold` cuts hits with a lower score; None where none is set.
    """

    name: str
    hits: tuple[GradedHit, ...]
    kind: str
    threshold: float | None = None


def curve_rows(curves: Mapping[str, Sequence[CurvePoint]]) -> Rows:
    """One row per configuration, metric and K: value and the attainable one, 0.0 to 1.0.

    `label` names the line at its end and is blank elsewhere.
    """
    rows: Rows = []
    several = len(curves) > 1
    for name, points in curves.items():
        for metric in _DASHES:
            ends = f"{name}: {metric}" if several else metric
            for point in points:
                of = metric.lower()
                value, most = getattr(point, of), getattr(point, f"attainable_{of}")
                rows.append(
                    {
                        "configuration": name,
                        "metric": metric,
                        "k": point.k,
                        "value": value,
                        "attainable": most,
                        "words": f"{metric}@{point.k} {number(value)} of {number(most)} attainable",
                        "label": ends if point is points[-1] else "",
                    }
                )
    return rows


def curve_chart(rows: Sequence[dict[str, Any]], k: int) -> alt.LayerChart:
    """Precision solid and recall dashed over K, the attainable ones thin; a rule at the cutoff."""
    names = list(dict.fromkeys(row["configuration"] for row in rows))
    depth = max((row["k"] for row in rows), default=1)
    x = alt.X("k:Q", title="K", scale=_ranks(depth), axis=_whole(depth))
    unit = alt.Scale(domain=[0, 1])
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(x=x)
    dash = alt.StrokeDash(
        "metric:N",
        title=None,
        scale=alt.Scale(domain=list(_DASHES), range=list(_DASHES.values())),
        legend=alt.Legend(orient="top", symbolType="stroke", symbolSize=500),
    )
    title = "Precision@K, Recall@K"
    y = alt.Y("value:Q", title=title, scale=unit, axis=axis)
    colour = _configurations(names)
    lines = base.mark_line(point=True, strokeWidth=2).encode(
        y=y,
        color=colour,
        strokeDash=dash,
        tooltip=[alt.Tooltip("configuration:N"), alt.Tooltip("words:N", title="value")],
    )
    # What is attainable is a matter of the question: the same for every configuration.
    once = [row for row in rows if row["configuration"] in names[:1]]
    most = (
        alt.Chart(alt.InlineData(values=once))
        .mark_line(strokeWidth=1, opacity=0.6, color=_GREY)
        .encode(
            x=x,
            y=alt.Y("attainable:Q", title=title, scale=unit, axis=axis),
            strokeDash=dash,
        )
    )
    # Where both lines end together, one name stands above them and the other below.
    ends = [
        base.transform_filter(alt.datum.metric == metric)
        .mark_text(align="right", dy=dy, dx=2)
        .encode(y=y, text="label:N", color=colour)
        for metric, dy in zip(_DASHES, (14, -9), strict=True)
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=[most, lines, *ends, *_cutoff(k, "k", x)], height=_HEIGHT, width="container"
    )
    return chart


def look_of(label: PairLabel) -> str:
    """The key of LOOKS for what is known of a hit."""
    if label.grade is not None:
        return str(min(label.grade, 2))
    return label.state if label.state in ("disputed", "stale") else "unjudged"


def score_rows(side: ScoredSide, scale: Mapping[int, str] = GRADE_WORDS) -> Rows:
    """One row per hit: rank, score as the engine gave it, chunk and what is known of it.

    `scale` is what the grades mean. `kept`: the threshold does not cut it. `label` names the
    configuration at the end of its line and is blank elsewhere.
    """
    return [
        {
            "configuration": side.name,
            "rank": one.hit.rank,
            "score": one.hit.score,
            "chunk": one.hit.key.short(),
            "look": look_of(one.label),
            "words": _words(one.label, scale),
            "kept": side.threshold is None or one.hit.score >= side.threshold,
            "label": side.name if one is side.hits[-1] else "",
        }
        for one in side.hits
    ]


def score_charts(
    sides: Sequence[ScoredSide], k: int, scale: Mapping[int, str] = GRADE_WORDS
) -> tuple[alt.LayerChart, ...]:
    """Score by rank, each hit drawn by its grade, with thresholds and cutoff as rules.

    One chart where all scores are on one scale, else one per side, each with a y axis of its own
    and all with the same ranks. (A facet could not take the width of the page.)
    """
    names = [side.name for side in sides]
    depth = max((one.hit.rank for side in sides for one in side.hits), default=1)
    together = len({side.kind for side in sides}) == 1
    groups = [list(sides)] if together else [[side] for side in sides]
    return tuple(_panel(group, names, depth, k, scale) for group in groups)


def _panel(
    sides: Sequence[ScoredSide], names: list[str], depth: int, k: int, scale: Mapping[int, str]
) -> alt.LayerChart:
    rows = [row for side in sides for row in score_rows(side, scale)]
    owner = "" if len(sides) > 1 or len(names) == 1 else f" of {sides[0].name}"
    title = f"score{owner}"
    x = alt.X("rank:Q", title="rank", scale=_ranks(depth), axis=_whole(depth))
    y = alt.Y("score:Q", title=title, scale=alt.Scale(zero=False))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=2).encode(color=_configurations(names))
    marks = base.mark_point(size=110, strokeWidth=2, opacity=1).encode(
        shape=_by_look("shape", 0),
        fill=_by_look("fill", 1),
        stroke=_by_look("stroke", 2),
        strokeDash=_by_look("strokeDash", 3),
        tooltip=[
            alt.Tooltip("configuration:N"),
            alt.Tooltip("rank:Q"),
            alt.Tooltip("score:Q"),
            alt.Tooltip("chunk:N"),
            alt.Tooltip("words:N", title="grade"),
        ],
    )
    cuts = [
        {"at": one.threshold, "configuration": one.name, "words": f"threshold {one.threshold:g}"}
        for one in sides
        if one.threshold is not None
    ]
    ends = base.mark_text(align="right", dx=-12, dy=-12).encode(
        text="label:N", color=_configurations(names)
    )
    layers: list[Any] = [lines, marks, ends, *_cutoff(k, "rank", x)]
    if cuts:
        cut = alt.Chart(alt.InlineData(values=cuts)).encode(
            y=alt.Y("at:Q", title=title, scale=alt.Scale(zero=False)),
            color=_configurations(names),
            tooltip=[alt.Tooltip("configuration:N"), alt.Tooltip("words:N", title="cut")],
        )
        layers += [
            cut.mark_rule(strokeDash=[8, 4], strokeWidth=1.5),
            cut.mark_text(align="right", dy=-7).encode(x=alt.value("width"), text="words:N"),
        ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers, height=_HEIGHT + _LEGEND, width="container"
    )
    return chart


def _by_look(channel: str, part: int) -> Any:
    channels = {
        "shape": alt.Shape, "fill": alt.Fill, "stroke": alt.Stroke, "strokeDash": alt.StrokeDash
    }  # fmt: skip
    return channels[channel](
        "look:N",
        title="grade",
        scale=alt.Scale(domain=list(LOOKS), range=[look[part] for look in LOOKS.values()]),
        legend=alt.Legend(orient="bottom", columns=3),
    )


def _configurations(names: Sequence[str]) -> alt.Color:
    """Baseline and candidate; one alone is the candidate."""
    colours = list(COLOURS if len(names) > 1 else COLOURS[1:])
    legend = alt.Legend(orient="top") if len(names) > 1 else None
    return alt.Color(
        "configuration:N",
        title=None,
        scale=alt.Scale(domain=list(names), range=colours[: len(names)]),
        legend=legend,
    )


def _cutoff(k: int, field: str, x: alt.X) -> list[alt.Chart]:
    at = alt.Chart(alt.InlineData(values=[{field: k, "words": f"K = {k}"}])).encode(x=x)
    return [
        at.mark_rule(color=_GREY, strokeDash=[2, 3]),
        at.mark_text(color=_GREY, align="left", dx=4).encode(y=alt.value(8), text="words:N"),
    ]


def _ranks(depth: int) -> alt.Scale:
    # One rank alone would be a domain of no width.
    return alt.Scale(domain=[1, max(depth, 2)], nice=False)


def _whole(depth: int) -> alt.Axis:
    return alt.Axis(format="d", tickMinStep=1, tickCount=min(depth, 20), grid=False)


def _words(label: PairLabel, scale: Mapping[int, str]) -> str:
    if label.state == "disputed":
        return f"disputed: {label.low} to {label.high}"
    if label.grade is None:
        return {"stale": "stale: judge again", "cannot-judge": "cannot be judged"}.get(
            label.state, "unjudged"
        )
    words = f"{label.grade} {scale.get(label.grade, '')}".rstrip()
    if label.state == "implicit":
        return "0 not listed (labels are complete)"
    if label.state == "retired":
        return "retired"
    return f"{words} ({label.low} or {label.high})" if label.state == "unsettled" else words

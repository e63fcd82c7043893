"""Charts of one question's retrieval: rows without a browser, specifications as Vega-Lite."""

import json

import pytest

from app.core.diagnosis import curves
from app.core.grades import PairLabel, pair_label
from app.core.model import ChunkKey, Hit
from app.flows.charts import COLOURS
from app.flows.charts_retrieval import (
    LOOKS,
    ScoredSide,
    curve_chart,
    curve_rows,
    look_of,
    score_charts,
    score_rows,
)
from app.flows.scored import GradedHit

LABELS = {
    "2": pair_label("judged", 2, 2, 2),
    "1": pair_label("unsettled", 1, 1, 2),
    "0": pair_label("implicit", 0, 0, 0),
    "unjudged": pair_label("cannot-judge", None, 0, 2),
    "disputed": pair_label("disputed", None, 0, 2),
    "stale": pair_label("stale", None, 0, 2),
}


ALL = tuple(LABELS.values())


def side(name="new", kind="cosine", threshold=None, labels=ALL):
    hits = tuple(
        GradedHit(Hit(rank, ChunkKey("doc", "v1", f"c{rank}"), 1 - rank / 10), label)
        for rank, label in enumerate(labels, start=1)
    )
    return ScoredSide(name, hits, kind, threshold)


def texts(chart):
    """The specification as JSON; raises where it is no valid Vega-Lite."""
    return json.dumps(chart.to_dict())


def data(chart, layer):
    """The rows of a layer; Altair names the data and keeps it at the top."""
    return chart["datasets"][chart["layer"][layer]["data"]["name"]]


# --- Precision and recall over K -------------------------------------------

POINTS = curves([0, 2, None, 1], [0, 2, 1, 1], 4, 1)


def test_a_row_per_metric_and_k_with_its_label_at_the_end():
    rows = curve_rows({"old": POINTS, "new": POINTS})
    assert len(rows) == 2 * 2 * 4
    assert rows[1] == {
        "configuration": "old", "metric": "Precision", "k": 2, "value": 0.5, "attainable": 1.0,
        "words": "Precision@2 0.500 of 1.000 attainable", "label": "",
    }  # fmt: skip
    recall = [row for row in rows if row["metric"] == "Recall"]
    assert [row["value"] for row in recall[:4]] == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3])
    assert [row["label"] for row in recall[:4]] == ["", "", "", "old: Recall"]
    assert curve_rows({"old": POINTS})[-1]["label"] == "Recall"


@pytest.mark.parametrize(("names", "colours"), [(["a"], COLOURS[1:]), (["a", "b"], COLOURS)])
def test_a_configuration_has_the_colour_of_other_charts(names, colours):
    chart = curve_chart(curve_rows(dict.fromkeys(names, POINTS)), 3).to_dict()
    lines = chart["layer"][1]["encoding"]
    assert lines["color"]["scale"] == {"domain": names, "range": list(colours)}
    assert lines["y"]["scale"]["domain"] == [0, 1]
    assert lines["strokeDash"]["scale"]["domain"] == ["Precision", "Recall"]
    assert len(data(chart, 0)) == 8  # what is attainable stands there once
    assert '"words": "K = 3"' in json.dumps(chart)


def test_one_k_and_none_make_a_chart_too():
    assert texts(curve_chart(curve_rows({"a": POINTS[:1]}), 1))
    assert texts(curve_chart([], 3))


# --- Score by rank ---------------------------------------------------------


def test_every_state_of_a_hit_has_a_look_of_its_own():
    assert [look_of(label) for label in LABELS.values()] == list(LOOKS)
    assert look_of(PairLabel("unjudged", None, 0, 2)) == "unjudged"
    assert look_of(PairLabel("retired", 0, 0, 0)) == "0"
    without_colour = {
        (shape, fill == "transparent", dash) for shape, fill, _, dash in LOOKS.values()
    }
    assert len(without_colour) == len(LOOKS)


def test_a_row_per_hit_with_what_is_known_in_words():
    rows = score_rows(side(threshold=0.75), {0: "no", 1: "some", 2: "all"})
    assert rows[0] == {
        "configuration": "new", "rank": 1, "score": 0.9, "chunk": "doc c1", "look": "2",
        "words": "2 all", "kept": True, "label": "",
    }  # fmt: skip
    assert [row["words"] for row in rows[1:]] == [
        "1 some (1 or 2)", "0 not listed (labels are complete)", "cannot be judged",
        "disputed: 0 to 2", "stale: judge again",
    ]  # fmt: skip
    assert rows[-1]["label"] == "new"
    assert [row["kept"] for row in rows] == [True, True, False, False, False, False]
    known = [PairLabel("unjudged", None, 0, 2), PairLabel("retired", 0, 0, 0)]
    assert [row["words"] for row in score_rows(side(labels=known))] == ["unjudged", "retired"]


def test_one_scale_is_one_chart_with_both_thresholds():
    (chart,) = score_charts([side("old", threshold=0.5), side("new", threshold=0.7)], 3)
    words = texts(chart)
    assert '"threshold 0.5"' in words
    assert '"threshold 0.7"' in words
    assert '"K = 3"' in words
    marks = chart.to_dict()["layer"][1]["encoding"]
    assert {marks[one]["field"] for one in ("shape", "fill", "stroke", "strokeDash")} == {"look"}


def test_scales_that_differ_are_charts_with_an_axis_each():
    found = score_charts([side("old", "cosine", 0.5), side("new", "RRF", labels=[LABELS["2"]])], 3)
    old, new = [chart.to_dict() for chart in found]
    assert [one["layer"][0]["encoding"]["y"]["title"] for one in (old, new)] == [
        "score of old", "score of new",
    ]  # fmt: skip
    for one, name in ((old, "old"), (new, "new")):
        lines = one["layer"][0]
        assert {row["configuration"] for row in data(one, 0)} == {name}
        assert lines["encoding"]["x"]["scale"]["domain"] == [1, 6]
        assert lines["encoding"]["color"]["scale"]["range"] == list(COLOURS)
    assert "threshold" not in texts(found[1])


def test_no_hits_make_a_chart_and_no_sides_none():
    (chart,) = score_charts([side(labels=[])], 3)
    assert texts(chart)
    assert score_charts([], 3) == ()

"""Below the scores: curves, scores by rank, the same ranking elsewhere, times, and origin."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.core.diagnosis import curves
from app.core.elsewhere import elsewhere
from app.core.errors import EngineError
from app.flows.charts_retrieval import ScoredSide, curve_chart, curve_rows, score_charts
from app.flows.inspecting import Inspection
from app.flows.one_search import OneSearch
from app.flows.origin import origin_rows
from app.flows.scored import GradedHit
from app.flows.wording import number
from app.ui import state, text


def times(name: str, search: OneSearch, found: Inspection | None) -> str:
    """How long each part took."""
    ranking = search.ranking
    parts = [] if search.searcher.embedder is None else [f"embedded in {_ms(ranking.embed_ms)}"]
    parts.append(f"searched in {_ms(ranking.search_ms)}")
    if found is not None:
        parts.append(f"scored in {_ms(found.score_ms)}")
    return f"{name}: {', '.join(parts)}"


def _ms(value: float) -> str:
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def draw(
    names: Sequence[str], searches: Sequence[OneSearch], found: Sequence[Inspection], k: int
) -> None:
    """What helps to understand a ranking, folded until it is asked for."""
    scored = all(one.score is not None and one.score.outcome == "scored" for one in found)
    threshold = searches[0].view.labels.scoring.threshold
    # Drawn only while they are open: two charts take longer than all the rest of the page.
    if scored:
        folded = st.expander("Precision and recall over K", key="curves", bind="query-params")
        if folded.open:
            with folded:
                points = {
                    name: curves(one.grades, one.pair_grades, max(len(one.kept), k), threshold)
                    for name, one in zip(names, found, strict=True)
                }
                st.altair_chart(
                    curve_chart(curve_rows(points), k),
                    alt="Precision and recall over K, with what is attainable",
                )
    if any(one.ranking.hits for one in found):
        folded = st.expander("Scores by rank", key="scores", bind="query-params")
        if folded.open:
            with folded:
                _scores(names, searches, found, k)
    if scored:
        folded = st.expander("The same ranking elsewhere", key="elsewhere", bind="query-params")
        if folded.open:
            with folded:
                for name, one in zip(names, found, strict=True):
                    _elsewhere(name if len(names) > 1 else "", one, k, threshold)
    folded = st.expander("What was run", key="origin", bind="query-params")
    if folded.open:
        with folded:
            _origin(names, searches)


def _scores(
    names: Sequence[str], searches: Sequence[OneSearch], found: Sequence[Inspection], k: int
) -> None:
    sides = [
        ScoredSide(name, _uncut(one), search.configuration.mode, search.configuration.threshold)
        for name, search, one in zip(names, searches, found, strict=True)
    ]
    scale = searches[0].view.loaded.collection.settings.grade_words
    for chart in score_charts(sides, k, scale):
        st.altair_chart(chart, alt="Score of every hit by rank")


def _uncut(found: Inspection) -> tuple[GradedHit, ...]:
    return tuple(one.graded for one in found.evidence)


def _elsewhere(name: str, found: Inspection, k: int, threshold: int) -> None:
    if name:
        text.caption(name)
    items = "".join(
        f"<li><strong>{text.escape(one.name)} {number(one.value)}</strong>, here "
        f"{text.escape(one.our_name)} {number(one.ours)}. "
        f"{text.escape('. '.join([*([', '.join(one.tools)] if one.tools else []), one.differs]))}"
        "</li>"
        for one in elsewhere(found.grades, found.pair_grades, k, threshold)
    )
    st.html(f'<ul class="desk-lost">{items}</ul>')


def _origin(names: Sequence[str], searches: Sequence[OneSearch]) -> None:
    """One column per configuration."""
    try:
        found = [dict(origin_rows(search)) for search in searches]
    except EngineError as error:
        text.notice(" ".join(state.sentences(error)))
        return
    rows = [
        [name, *(one.get(name, "-") for one in found)]
        for name in dict.fromkeys(name for one in found for name in one)
    ]
    text.table(["", *names], rows, words=frozenset(range(1, len(found) + 1)))

"""Below the scores: curves, scores by rank, the same ranking elsewhere, times, and origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from app.core.diagnosis import curves
from app.core.elsewhere import Elsewhere, elsewhere
from app.core.errors import EngineError
from app.flows.charts_retrieval import ScoredSide, curve_chart, curve_rows, score_charts
from app.flows.inspecting import Inspection
from app.flows.one_search import OneSearch
from app.flows.origin import origin_rows
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
    panels: list[tuple[bool, str, str, Callable[[], None]]] = [
        (scored, "Precision and recall over K", "curves",
         lambda: _curves(names, found, k, threshold)),
        (any(one.ranking.hits for one in found), "Scores by rank", "scores",
         lambda: _scores(names, searches, found, k)),
        (scored, "The same ranking elsewhere", "elsewhere",
         lambda: _elsewhere(names, found, k, threshold)),
        (True, "What was run", "origin", lambda: _origin(names, searches)),
    ]  # fmt: skip
    for there, words, key, show in panels:
        if not there:
            continue
        folded = st.expander(words, key=key, bind="query-params")
        # Drawn only while it is open: two charts take longer than all the rest of the page.
        if folded.open:
            with folded:
                show()


def _curves(names: Sequence[str], found: Sequence[Inspection], k: int, threshold: int) -> None:
    points = {
        name: curves(one.grades, one.pair_grades, max(len(one.kept), k), threshold)
        for name, one in zip(names, found, strict=True)
    }
    st.altair_chart(
        curve_chart(curve_rows(points), k),
        alt="Precision and recall over K, with what is attainable",
    )


def _scores(
    names: Sequence[str], searches: Sequence[OneSearch], found: Sequence[Inspection], k: int
) -> None:
    sides = [
        ScoredSide(
            name,
            tuple(shown.graded for shown in one.evidence),
            search.configuration.mode,
            search.configuration.threshold,
        )
        for name, search, one in zip(names, searches, found, strict=True)
    ]
    scale = searches[0].view.loaded.collection.settings.grade_words
    for chart in score_charts(sides, k, scale):
        st.altair_chart(chart, alt="Score of every hit by rank")


def _elsewhere(names: Sequence[str], found: Sequence[Inspection], k: int, threshold: int) -> None:
    for name, one in zip(names, found, strict=True):
        if len(names) > 1:
            text.caption(name)
        rows = elsewhere(one.grades, one.pair_grades, k, threshold)
        st.html(f'<ul class="desk-lost">{"".join(map(_definition, rows))}</ul>')


def _definition(one: Elsewhere) -> str:
    who = [", ".join(one.tools)] if one.tools else []
    return (
        f"<li><strong>{text.escape(one.name)} {number(one.value)}</strong>, here "
        f"{text.escape(one.our_name)} {number(one.ours)}. "
        f"{text.escape('. '.join([*who, one.differs]))}</li>"
    )


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

"""One question as one or two configurations answer it: evidence, scores, and what was lost."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.core.diagnosis import ndcg_shares
from app.core.errors import EngineError, NotReady
from app.flows.evidence_marks import evidence_of
from app.flows.inspecting import Inspection, inspect
from app.flows.moves import moves
from app.flows.one_search import OneSearch
from app.flows.score_rows import ScoreRow, facts_of, score_rows
from app.ui import state, text
from app.ui.retrieve import evidence, figures, grading, keeping, scores
from app.ui.retrieve.picking import Wanted, forget
from app.ui.retrieve.quotes import Marks
from app.ui.retrieve.searches import Failed, search

#: Characters of a question that are shown as a heading.
_HEADING = 300


@dataclass(frozen=True, slots=True)
class Side:
    """A configuration on screen: what it found, or why nothing could be asked."""

    name: str
    search: OneSearch | None
    found: Inspection | None
    problem: str | None


def draw(wanted: Wanted) -> None:
    """The question, then one configuration with its scores beside it, or two side by side."""
    loaded, view = wanted.view.loaded, wanted.view
    asked = loaded.questions.get(wanted.question or "")
    shown = wanted.text if len(wanted.text) <= _HEADING else f"{wanted.text[:_HEADING]}…"
    text.heading(shown, asked.need if asked else None)
    if asked is not None and asked.facts:
        facts = "".join(
            f"<li>{text.escape(one.id)}: {text.escape(one.text)}</li>" for one in asked.facts
        )
        st.html(f'<ul class="desk-facts">{facts}</ul>')
    sides = [_side(wanted, number) for number in range(len(wanted.configurations))]
    kind = next((one.found.kind for one in sides if one.found is not None), None)
    said = []
    if asked is not None:
        said = [f"question {asked.id}", kind or "", f"category {asked.category}", asked.split]
        said += [f"tags {', '.join(asked.tags)}"] if asked.tags else []
    lines = [" · ".join(filter(None, said)) or "typed here, not in the collection"]
    lines += [
        figures.times(one.name, one.search, one.found) for one in sides if one.search is not None
    ]
    st.html("".join(map(text.notice_of, lines)))
    if loaded.origin is not None:
        text.notice(loaded.origin)
    if view.filtered:
        text.notice(
            f"Another filter for this run: {len(view.corpus.eligible):,} chunks are eligible, "
            f"{len(loaded.corpus.eligible):,} under the collection's own. Relevant chunks that it "
            "keeps out are not counted, so these scores cannot be compared with an execution's."
        )
    keeping.draw(wanted)
    grading.told()
    marks: Marks = {}
    if wanted.question is not None:
        marks = evidence_of(loaded, wanted.question)
        there = [one.found for one in sides if one.found is not None]
        grading.mark_seen(
            loaded,
            wanted.question,
            [one for found in there for one in found.evidence],
            [one for found in there for one in found.lost],
        )
    if len(sides) == 1:
        _one(wanted, sides[0], marks)
    else:
        _two(wanted, sides, marks)


def _side(wanted: Wanted, number: int) -> Side:
    name, configuration = wanted.configurations[number]
    shown = name
    if number == 0 and wanted.changes.any:
        shown = f"{name}, changed"
    elif number == 1 and name == wanted.configurations[0][0] and not wanted.changes.any:
        shown = f"{name}, again"
    try:
        found = search(wanted, name, configuration)
    except (NotReady, EngineError) as error:
        return Side(shown, None, None, " ".join(state.sentences(error)))
    if isinstance(found, Failed):
        return Side(shown, None, None, " ".join(state.sentences(found.error)))
    inspection = inspect(found, wanted.k, whole=wanted.whole)
    problem = None
    if inspection.ranking.failure is not None:
        problem = f"The search failed: {inspection.ranking.failure}"
    return Side(shown, found, inspection, problem)


def _rows(wanted: Wanted, found: Inspection, marks: Marks) -> list[ScoreRow]:
    loaded = wanted.view.loaded
    question = loaded.questions.get(wanted.question or "")
    threshold = wanted.view.labels.scoring.threshold
    facts = None
    if question is not None and question.facts:
        facts = facts_of(found, question, marks, wanted.k, threshold)
    return score_rows(found, facts, threshold)


def _one(wanted: Wanted, side: Side, marks: Marks) -> None:
    if side.problem is not None:
        _problem(side.problem, 0)
    if side.found is None or side.search is None:
        return
    if side.problem is not None:
        scores.draw(side.found, [], wanted.k, _mode(side))
        return
    main, beside = st.columns([3, 2], gap="large")
    with main:
        text.section("Evidence")
        _evidence(wanted, side, None, marks)
    with beside:
        scores.draw(side.found, _rows(wanted, side.found, marks), wanted.k, _mode(side))
        _lost(wanted, side, marks)
        figures.draw([side.name], [side.search], [side.found], wanted.k)


def _two(wanted: Wanted, sides: list[Side], marks: Marks) -> None:
    for number, one in enumerate(sides):
        if one.problem is not None:
            _problem(f"{one.name}: {one.problem}", number)
    there = [one for one in sides if one.problem is None]
    found = [one.found for one in there if one.found is not None]
    names = [one.name for one in there]
    rows = [_rows(wanted, one, marks) for one in found]
    if len(found) > 1:
        scores.draw_both(names, found, rows, wanted.k, [_mode(one) for one in there])
    elif found:
        scores.draw(found[0], rows[0], wanted.k, _mode(there[0]))
    for column, one in zip(st.columns(len(sides), gap="medium"), sides, strict=True):
        with column:
            text.section(one.name)
            if one.problem is None:
                _lost(wanted, one, marks)
                _evidence(wanted, one, next((o for o in there if o is not one), None), marks)
            else:
                text.notice("There is nothing to show: see above.")
    searches = [one.search for one in there if one.search is not None]
    if found:
        figures.draw(names, searches, found, wanted.k)


def _problem(sentence: str, side: int) -> None:
    text.problem(sentence)
    st.button("Try again", key=f"again-{side}", on_click=forget)


def _mode(side: Side) -> str:
    return side.search.configuration.mode if side.search is not None else ""


def _lost(wanted: Wanted, side: Side, marks: Marks) -> None:
    found = side.found
    if found is None or wanted.question is None or found.ranking.failure is not None:
        return
    if found.score is not None and (found.score.outcome == "scored" or found.lost):
        scores.lost(found.lost, wanted.view, wanted.question, marks)


def _evidence(wanted: Wanted, side: Side, other: Side | None, marks: Marks) -> None:
    found, loaded = side.found, wanted.view.loaded
    if found is None:
        return
    place = None
    if wanted.question is not None:
        place = grading.Place(loaded, wanted.question, side.name)
        grading.link_to_label(place, found.open_within(wanted.k))
    highest = wanted.view.labels.scoring.highest
    scored = found.score is not None and found.score.outcome == "scored"
    shares = ndcg_shares(found.grades, found.pair_grades, wanted.k, highest) if scored else ()
    moved = {}
    if other is not None and other.found is not None and other.problem is None:
        moved = moves(found.kept, other.found.kept, other.name)
    eligible = loaded.corpus.eligible
    foreign = {one.chunk.key for one in found.evidence if one.chunk.key not in eligible}
    with st.container(gap="xxsmall"):
        evidence.draw(
            found,
            evidence.Beside(marks, moved, shares, foreign),
            wanted.k,
            side.search.configuration.threshold if side.search else None,
            place,
            loaded.collection.settings.grade_words,
        )

"""Two reviewers: their matrix of grades, and the items behind a cell of it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote

import streamlit as st

from app.flows import agreement_report as report
from app.flows.agreeing import Agreement, Between, Firsts
from app.flows.agreeing_cases import Case, cases, unjudged_by
from app.flows.loading import Loaded
from app.flows.roles import sees_unjudged
from app.flows.sight import Sight
from app.flows.wording import count, number
from app.ui import seen, state, text
from app.ui.label import beside
from app.ui.label.said import link, said

_ON_A_PAGE = 20
#: Characters of a chunk that are shown at once.
_SHOWN = 600


def pair_id(first: str, second: str) -> str:
    """Two reviewers as one word of the URL: `a,b`."""
    return ",".join(quote(name, safe=" @+") for name in (first, second))


def names_of(pair: str) -> tuple[str, str]:
    """The two reviewers of such a word."""
    first, _, second = pair.partition(",")
    return unquote(first), unquote(second)


def show(loaded: Loaded, reviewer: str, firsts: Firsts, found: Agreement) -> None:
    """The matrix of the two reviewers picked, and the items of the cell picked."""
    text.section("Two reviewers")
    pairs = {pair_id(one.first, one.second): one for one in found.between}
    for one in found.between:
        pairs.setdefault(pair_id(one.second, one.first), one)
    usual = max(found.between, key=lambda one: one.n)
    words = {name: f"{' and '.join(names_of(name))}, n {one.n:,}" for name, one in pairs.items()}
    chosen = state.pick("Pair", list(pairs), "pair", pair_id(usual.first, usual.second), words)
    between, names = pairs[chosen], names_of(chosen)
    if st.session_state.setdefault("cell-of", chosen) != chosen:
        # Other two disagree elsewhere most.
        st.session_state["cell-of"] = chosen
        state.forget_pick("cell")
    if not between.n:
        st.text(f"{names[0]} and {names[1]} graded no item both, so there is no figure.")
        return
    matrix = between.matrix if names == (between.first, between.second) else between.matrix.T
    st.text(_figures(between))
    text.notice("How often the two gave which grades, equal ones on the diagonal. Pick a number.")
    cell = _pick_cell(names, matrix.tolist())
    grades = (int(cell[0]), int(cell[2]))
    behind = cases(loaded, firsts, names, grades, found.category)
    _items(loaded, reviewer, names, grades, behind)


def _figures(one: Between) -> str:
    kappas = ", ".join(f"{name} {number(figure.value)}" for name, figure in one.kappas.items())
    return (
        f"Cohen's kappa {kappas}; quadratic {report.interval_words(one.kappas['quadratic'])}. "
        f"Equal grades {report.interval_words(one.percent)}. Relevant to both {one.both:,}, to "
        f"either {one.either:,}: overlap {report.interval_words(one.overlap)}. n {one.n:,}."
    )


def _pick_cell(names: tuple[str, str], matrix: list[list[int]]) -> str:
    """A cell of the matrix, as `row-column`; first the most frequent disagreement."""
    grades = range(len(matrix))
    options = [f"{row}-{column}" for row in grades for column in grades]
    apart = [(matrix[r][c], abs(r - c), f"{r}-{c}") for r in grades for c in grades if r != c]
    words = {
        f"{r}-{c}": f"{names[0]} {r}, {names[1]} {c}: {count(matrix[r][c], 'item')}"
        for r in grades
        for c in grades
    }

    def control(_: str, options: list[str], key: str, shown: Callable[[str], str]) -> str:
        chosen: str = st.session_state[key]
        with st.container(width=720):
            head = st.columns(len(matrix) + 1, vertical_alignment="center")
            for grade, column in zip(grades, head[1:], strict=True):
                with column:
                    text.caption(f"{names[1]}: {grade}")
            for row in grades:
                columns = st.columns(len(matrix) + 1, vertical_alignment="center")
                with columns[0]:
                    text.caption(f"{names[0]}: {row}")
                for grade, place in zip(grades, columns[1:], strict=True):
                    option = f"{row}-{grade}"
                    place.button(
                        f"{matrix[row][grade]:,}",
                        key=f"cell-{pair_id(*names)}-{option}",
                        help=text.plain_label(shown(option)),
                        type="primary" if option == chosen else "secondary",
                        width="stretch",
                        on_click=_show_cell,
                        args=(option,),
                    )
        return chosen

    return state.pick("Cell", options, "cell", max(apart)[2], words, control)


def _show_cell(option: str) -> None:
    with state.acting():
        st.query_params["cell"] = option


def _items(
    loaded: Loaded,
    reviewer: str,
    names: tuple[str, str],
    grades: tuple[int, int],
    behind: list[Case],
) -> None:
    what = f"{names[0]} gave {grades[0]}, {names[1]} gave {grades[1]}"
    text.section(f"{what}: {count(len(behind), 'item')}")
    hidden = _hidden(loaded, reviewer, behind)
    kept = [case for case in behind if case not in hidden]
    if hidden:
        text.notice(
            f"{count(len(hidden), 'item')} not shown: you have not judged "
            f"{'it' if len(hidden) == 1 else 'them'} yet, or only before a change, and others' "
            "grades would sway yours."
        )
    if not behind:
        st.text("No item has these two grades. Pick another cell of the matrix.")
    page = 1
    if len(kept) > _ON_A_PAGE:
        pages = -(-len(kept) // _ON_A_PAGE)
        page = st.pagination(pages, key=f"items-{names}-{grades}")
    on_page = kept[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    given = [event for case in on_page for event in (case.first, case.second)]
    seen.mark(loaded.collection.name, reviewer, Sight(loaded).told(reviewer, given))
    for case in on_page:
        st.html(_item(loaded, reviewer, names, case))


def _hidden(loaded: Loaded, reviewer: str, behind: list[Case]) -> list[Case]:
    """The items not to be shown: those the viewer has still to judge."""
    unjudged = unjudged_by(loaded, reviewer, behind)
    sees = sees_unjudged(loaded.collection.workspace, reviewer)
    if sees is None and unjudged:
        sees = st.toggle(
            f"Show {count(len(unjudged), 'item')} you have not judged",
            key="show-unjudged",
            help="What you grade after that is no longer blind.",
        )
    return [] if sees else unjudged


def _item(loaded: Loaded, reviewer: str, names: tuple[str, str], case: Case) -> str:
    scale = loaded.collection.settings.grade_words
    question = loaded.questions[case.question]
    chunk, key = case.chunk, case.key
    where = (
        text.origin(chunk.title, chunk.section, key.short())
        if chunk
        else (f"{text.escape(key.short())}: its text is no longer here")
    )
    body = f'<div class="desk-chunk">{text.literal(chunk.text, _SHOWN)}</div>' if chunk else ""
    history = link("history", loaded.collection.name, reviewer, "history", case.question, key)
    judged = "".join(
        said(name, beside.with_facts(event, question), scale)
        for name, event in zip(names, (case.first, case.second), strict=True)
    )
    return (
        f'<section class="desk-hit"><p class="desk-said"><b>{text.escape(question.text)}</b> '
        f'<span class="desk-meta">{text.escape(case.question)} · {history}</span></p>'
        f'<p class="desk-meta">{where}</p>{body}{judged}</section>'
    )

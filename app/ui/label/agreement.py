"""How far reviewers agree, and the items behind every figure."""

from __future__ import annotations

import streamlit as st

from app.core.resampling import LEAST_ITEMS
from app.flows import agreement_report as report
from app.flows import charts
from app.flows.agreeing import Agreement, Firsts
from app.flows.loading import Loaded
from app.ui import state, text
from app.ui.label import agreement_items, leaving, remembered

#: More reviewers than this are compared in the table alone.
_MOST_IN_HEATMAP = 20
_ALL, _BEGINNING = "*", "beginning"


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    leaving.leave_item(loaded.collection.name, reviewer)
    everything = remembered.first_judgments(loaded, None)
    with st.container(horizontal=True):
        category = _pick_category(everything)
        since = _pick_since(everything)
    firsts = everything if since is None else remembered.first_judgments(loaded, since)
    found = remembered.agreement(loaded, category, since)
    text.notice(
        "This view shows what others gave. It is meant for after grading: grade first, then read "
        "here where you differ and why."
    )
    _headline(firsts, found)
    if found.between:
        _pairs(found)
        _bias(found)
        _categories(found)
        agreement_items.show(loaded, reviewer, firsts, found)
    state.settle()


def _categories(found: Agreement) -> None:
    if found.categories:
        text.section("By category")
        rows = report.group_rows((found.whole, *found.categories))
        text.table([*report.GROUP_HEADER], rows)
        text.notice("Pick a category above to see its figures and items.")


def _pick_category(firsts: Firsts) -> str | None:
    names = list(dict.fromkeys(firsts.categories))
    words = {_ALL: "all categories"}
    chosen = state.pick("Category", [_ALL, *names], "category", words=words)
    return None if chosen == _ALL else chosen


def _pick_since(firsts: Firsts) -> str | None:
    words = {_BEGINNING: "the beginning"}
    chosen = state.pick("Judged since", [_BEGINNING, *firsts.days], "since", words=words)
    return None if chosen == _BEGINNING else chosen


def _headline(firsts: Firsts, found: Agreement) -> None:
    """What everybody understands first, then alpha with its interval."""
    alpha, plain = report.headline(found), report.same_grade(firsts, found.category)
    st.html(f'<h2 class="desk-headline">{text.escape(plain or alpha)}</h2>')
    if plain:
        st.html(f'<p class="desk-found">{text.escape(alpha)}</p>')
    for sentence in (*report.meaning(found), report.left_out_words(found)):
        if sentence:
            text.notice(sentence)


def _pairs(found: Agreement) -> None:
    text.section("Every two reviewers: quadratic kappa, n")
    if (sentence := report.stands_apart(found.reviewers)) is not None:
        st.text(sentence)
    if len(found.reviewers) <= _MOST_IN_HEATMAP:
        st.altair_chart(
            charts.agreement_heatmap(found),
            key="agreement-heatmap",
            on_select=_picked_cell,
            selection_mode="cell",
            width="stretch" if len(found.reviewers) >= charts.MANY else "content",
            alt="Quadratic kappa of every two reviewers, those who agree most first; the numbers "
            "are in the table below",
        )
        text.notice(
            f"Deeper is closer; grey is too few (n below {LEAST_ITEMS}) or not defined. Select a "
            "cell to see the grades and items of the two below."
        )
    with st.expander("All kappas, equal grades and overlap, as a table"):
        text.table([*report.PAIR_HEADER], report.pair_rows(found.between))
        text.notice("Grades: rows are those of the first reviewer, columns of the second, from 0.")


def _picked_cell() -> None:
    """Show the two reviewers of the cell that was selected."""
    with state.acting():
        chosen = st.session_state["agreement-heatmap"]["selection"]["cell"]
        if chosen and chosen[0].get("row") != charts.ALL_OTHERS:
            one, other = chosen[0]["row"], chosen[0]["column"]
            st.query_params["pair"] = agreement_items.pair_id(one, other)


def _bias(found: Agreement) -> None:
    text.section("Bias: own grades minus the others' on the same items")
    rows = charts.bias_rows(found.reviewers)
    if rows:
        st.altair_chart(
            charts.bias_chart(rows),
            alt="Mean difference in grades of each reviewer to the others: "
            + ", ".join(f"{row['reviewer']} {row['words']} {row['side']}" for row in rows),
        )
    with st.expander("Each reviewer beside all others, as a table"):
        text.table([*report.REVIEWER_HEADER], report.reviewer_rows(found.reviewers))

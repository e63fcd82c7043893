"""What is asked on page Retrieve: a question, one or two configurations, K, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.core.errors import InvalidInput, StoreError
from app.flows.case_list import Case, cases, scorable
from app.flows.listing import Execution, list_executions
from app.flows.loading import Loaded, question_asking, require_questions
from app.flows.trying import Changes, View, changed, view_of
from app.settings import Configuration
from app.ui import state
from app.ui.retrieve import changing
from app.workspace import signature_of

#: Cut-offs to look at beside those of the collection.
_CUTOFFS = (1, 2, 3, 5, 10, 20)
_RANKS = {"": "to K + 5", "all": "all"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question to be asked of configurations by name, as they are or changed for this run.

    `question` is None where the text is of no question of the collection. `whole`: all ranks are
    to be shown.
    """

    view: View
    question: str | None
    text: str
    configurations: tuple[tuple[str, Configuration], ...]
    k: int
    whole: bool
    changes: Changes


def pick(within: Callable[[DeltaGenerator | None], Loaded]) -> Wanted:
    """The pickers, two lines of them; raises InvalidInput where what is changed cannot be.

    `within` draws the picker of the collection, in a place of its own unless given.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        loaded = within(st.container(width=175) if state.several() else None)
        require_questions(loaded)
        settings = loaded.collection.settings
        shown = _cases(loaded)
        names = list(settings.configurations)
        with st.container(width=150):
            first = state.pick("Configuration", names, "configuration")
        with st.container(width=140):
            words = {"": "nothing", **{name: name for name in names}}
            second = state.pick("Beside it", ["", *names], "beside", "", words)
        with st.container(width=80):
            cutoffs = sorted({*settings.scoring.cutoffs, *_CUTOFFS})
            k = state.pick_number("K", cutoffs, "k", settings.scoring.primary)
        with st.container(width=110):
            whole = state.pick("Ranks", list(_RANKS), "ranks", "", _RANKS) == "all"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name, typed = _question(shown)
        changes = changing.pick(loaded, first)
        st.button("Search again", key="search-again", on_click=forget)
    state.settle()
    view = view_of(loaded, changes.filters)
    configuration = settings.configurations[first]
    try:
        configuration = changed(configuration, changes, max(settings.scoring.cutoffs))
    except InvalidInput as error:
        changing.refused(error)
        changes = Changes(filters=changes.filters)
    changing.told()
    configured = [(first, configuration)]
    if second:
        configured.append((second, settings.configurations[second]))
    question = question_asking(loaded, typed) if typed else loaded.questions[name]
    return Wanted(
        view=view,
        question=question.id if question else None,
        text=question.text if question else typed,
        configurations=tuple(configured),
        k=k,
        whole=whole,
        changes=changes,
    )


def forget() -> None:
    """Ask once more, whatever is known of it; also for executions another process kept away."""
    for name in ("searches", "executions-listed"):
        st.session_state.pop(name, None)


def _cases(loaded: Loaded) -> list[Case]:
    """The questions to pick from, by category and in the order that was asked for."""
    categories = sorted({one.category for one in loaded.questions.values()})
    with st.container(width=130):
        words = {"": "all", **{name: name for name in categories}}
        category = state.pick("Category", ["", *categories], "category", "", words)
    found = _executions(loaded)
    with st.container(width=210):
        orders = {"": "as in the file"} | {
            name: f"worst first in {one.configuration}, {one.finished[:16].replace('T', ' ')}"
            for name, one in found.items()
        }
        order = state.pick("Order", list(orders), "execution", "", orders)
    shown = cases(loaded, category or None, found.get(order))
    if not shown:
        # It asked none of this category.
        shown = cases(loaded, category or None)
    _begin_with_worst(order, shown[0].question)
    return shown


def _executions(loaded: Loaded) -> dict[str, Execution]:
    """Those to order by, listed anew when the store has changed.

    Another process may hold the store, for long: the page goes on with what was listed before.
    """
    collection = loaded.collection
    path = collection.workspace.store_path
    now = (collection.name, signature_of([path, path.with_name(f"{path.name}.wal")]))
    before, listed = st.session_state.get("executions-listed", (None, []))
    if before != now:
        try:
            listed = [
                one.execution for one in list_executions(collection.workspace, collection.name)
            ]
        except StoreError as error:
            same = before is not None and before[0] == collection.name
            listed = listed if same else []
            st.session_state.setdefault("link-notices", []).extend(state.sentences(error))
        st.session_state["executions-listed"] = (now, listed)
    return {one.id: one for one in scorable(loaded, listed)}


def _question(shown: Sequence[Case]) -> tuple[str, str]:
    """The question picked, and one's own words, which win where there are any."""
    names = [one.question for one in shown]
    kept = st.session_state.get("kept-ask", st.query_params.get("ask", ""))
    typed = str(st.session_state.get("pick-ask", kept)).strip()
    with st.container(width=400):
        words = {one.question: one.words for one in shown}
        name = state.pick("Question", names, "question", None, words, _box(bool(typed)))
    with st.container(horizontal=True, width="content", gap="xsmall"):
        _step("Previous", names, name, -1, bool(typed))
        _step("Next", names, name, 1, bool(typed))
    with st.container(width=260):
        own = state.write(
            "Or your own question", "ask", max_chars=1_000, placeholder="type one, press Enter"
        )
    return name, own


def _begin_with_worst(order: str, worst: str) -> None:
    """Who asks for an order begins with its first question; a link names its own."""
    before = st.session_state.get("order-before")
    if before is not None and order and order != before:
        state.put("question", worst)
    st.session_state["order-before"] = order


def _step(label: str, names: list[str], name: str, by: int, away: bool) -> None:
    """To a question beside the one picked; `away`: another one is on screen."""
    there = names.index(name) + by
    inside = 0 <= there < len(names)
    st.button(
        label,
        key=f"step-{label.lower()}",
        type="tertiary",
        disabled=not inside or away,
        on_click=state.show_question,
        args=(names[there] if inside else name,),
    )


def _box(disabled: bool) -> Callable[[str, list[str], str, Callable[[str], str]], str]:
    def box(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
        why = "Empty the field beside it to pick one" if disabled else None
        return str(
            st.selectbox(label, options, key=key, format_func=words, disabled=disabled, help=why)
        )

    return box

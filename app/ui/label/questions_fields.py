"""The fields of a question as a form: drawn, and read again when a button is pressed."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from app.flows.drafts import Draft, categories, near_categories
from app.flows.loading import Loaded
from app.ui import text

#: The choice of a category that is not in use yet. No category is blank.
_NEW = ""
#: What is typed stays while another question, or another page, is looked at.
_KEPT: Literal["session"] = "session"
_SOURCES = ["expert", "log", "synthetic"]
_SPLITS = ["development", "held-out"]


def draw(loaded: Loaded, prefix: str, draft: Draft) -> None:
    """Draw the fields with what `draft` says. `prefix` begins their keys and names the question."""
    st.text_area("Question", draft.text, key=f"{prefix}-text", height=80, persist_state=_KEPT)
    st.text_area(
        "Information need",
        draft.need,
        key=f"{prefix}-need",
        height=80,
        placeholder="What a complete answer tells, in a sentence",
        persist_state=_KEPT,
    )
    _draw_facts(prefix, draft)
    left, middle, right = st.columns(3)
    with left:
        _draw_category(loaded, prefix, draft)
    with middle:
        st.selectbox(
            "Split", _SPLITS, _SPLITS.index(draft.split), key=f"{prefix}-split", persist_state=_KEPT
        )
    with right:
        st.selectbox(
            "Source", _SOURCES, _SOURCES.index(draft.source), key=f"{prefix}-source",
            persist_state=_KEPT,
        )  # fmt: skip
    st.text_input(
        "Tags", "; ".join(draft.tags), key=f"{prefix}-tags", placeholder="Between them a semicolon",
        persist_state=_KEPT,
    )  # fmt: skip


def read(prefix: str, before: Draft) -> Draft:
    """What the fields hold now; what was never drawn is as in `before`.

    In a callback this is what was typed last, also where the page has not run since.
    """
    values = st.session_state
    tags = values.get(f"{prefix}-tags", "; ".join(before.tags))
    chosen = values.get(f"{prefix}-category", before.category or None)
    return Draft(
        text=values.get(f"{prefix}-text", before.text) or "",
        category=(values.get(f"{prefix}-new-category") if chosen == _NEW else chosen) or "",
        need=values.get(f"{prefix}-need", before.need) or "",
        facts=tuple(
            (values.get(f"{prefix}-fact-{row}-id") or "", values.get(f"{prefix}-fact-{row}") or "")
            for row in _rows(prefix, before)
        ),
        # Tags that hold a semicolon cannot be told from two; untouched they stay.
        tags=before.tags
        if tags == "; ".join(before.tags)
        else tuple(one.strip() for one in (tags or "").split(";") if one.strip()),
        source=values.get(f"{prefix}-source", before.source),
        split=values.get(f"{prefix}-split", before.split),
        id=before.id,
    )


def is_new_category(prefix: str) -> bool:
    """Whether a category that is not in use yet was chosen as such."""
    return bool(st.session_state.get(f"{prefix}-category") == _NEW)


def _draw_category(loaded: Loaded, prefix: str, draft: Draft) -> None:
    names = categories(loaded)
    options = [*names, _NEW]
    at = names.index(draft.category) if draft.category in names else None
    chosen = st.selectbox(
        "Category",
        options,
        at,
        key=f"{prefix}-category",
        format_func=lambda name: name or "a new category",
        placeholder="Choose one",
        persist_state=_KEPT,
    )
    if chosen != _NEW:
        if chosen is None:
            _missing(prefix, "Choose a category.")
        return
    name = st.text_input("Name of the new category", key=f"{prefix}-new-category")
    if not (name or "").strip():
        _missing(prefix, "Name the new category.")
    near = near_categories(loaded, name) if name else []
    if near:
        text.notice(f"There is {' and '.join(near)} already. Choose it above if that is meant.")


def tried(prefix: str) -> None:
    """From now on say beside the fields what is missing."""
    st.session_state[f"{prefix}-tried"] = True


def _missing(prefix: str, sentence: str) -> None:
    if st.session_state.get(f"{prefix}-tried"):
        text.problem(sentence)


def _rows(prefix: str, draft: Draft) -> list[int]:
    """The numbers of the rows of facts on screen, in order."""
    known: list[int] | None = st.session_state.get(f"{prefix}-rows")
    return list(range(len(draft.facts))) if known is None else known


def _draw_facts(prefix: str, draft: Draft) -> None:
    rows = _rows(prefix, draft)
    st.session_state[f"{prefix}-rows"] = rows
    with st.container(gap="xsmall"):
        text.caption("Facts a complete answer must state, each with an id that evidence names")
        for row in rows:
            name, words = draft.facts[row] if row < len(draft.facts) else ("", "")
            left, middle, right = st.columns([1.3, 6, 1.3], vertical_alignment="center")
            with left:
                st.text_input(
                    "Id of the fact", name, key=f"{prefix}-fact-{row}-id", placeholder="id",
                    label_visibility="collapsed", persist_state=_KEPT,
                )  # fmt: skip
            with middle:
                st.text_input(
                    "Fact", words, key=f"{prefix}-fact-{row}", placeholder="What must be stated",
                    label_visibility="collapsed", persist_state=_KEPT,
                )  # fmt: skip
            with right:
                st.button(
                    "Remove", key=f"{prefix}-remove-{row}", type="tertiary",
                    on_click=_remove, args=(prefix, row),
                )  # fmt: skip
        st.button(
            "Add a fact", key=f"{prefix}-add-fact", type="tertiary", icon=":material/add:",
            on_click=_add, args=(prefix, len(draft.facts)),
        )  # fmt: skip


def _add(prefix: str, first: int) -> None:
    rows: list[int] = st.session_state[f"{prefix}-rows"]
    # A number is never given twice: what was typed into a removed row must not come back.
    following = max(st.session_state.get(f"{prefix}-last-row", first - 1), *rows, first - 1) + 1
    st.session_state[f"{prefix}-last-row"] = following
    st.session_state[f"{prefix}-rows"] = [*rows, following]


def _remove(prefix: str, row: int) -> None:
    rows: list[int] = st.session_state[f"{prefix}-rows"]
    st.session_state[f"{prefix}-rows"] = [one for one in rows if one != row]

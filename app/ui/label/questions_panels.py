"""What else is done with a question: marked as one the corpus holds no answer to, or retired."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.core.errors import DeskError, InvalidInput
from app.core.questions import Question
from app.flows import asking
from app.flows.alike import answered_alike
from app.flows.loading import Loaded
from app.ui import identity, state, text
from app.ui.label import finding
from app.ui.label.questions_saved import Place, acting, remember, status

_UNSUPPORTED, _RETIRE = "unsupported", "retire"
#: What is typed stays while a panel is shut, or another page looked at.
_KEPT: Literal["session"] = "session"


def unsupported(loaded: Loaded, reviewer: str, question: Question) -> None:
    """Mark it as one the corpus holds no answer to, or take that back.

    The panel stays as it was opened: what is refused is told inside.
    """
    place = Place(loaded.collection.name, reviewer, question.id, _UNSUPPORTED)
    marked = question.unsupported_as_of
    # (Another name for what is marked would be another panel, and that one shut.)
    panel = _panel("Unsupported", place)
    if panel is not None:
        with panel:
            if marked is not None:
                _marked(loaded, place, question)
            if marked == loaded.corpus.revision:
                status(place)
            else:
                _to_mark(loaded, place, question)


def _panel(words: str, place: Place) -> DeltaGenerator | None:
    """A panel that is open as it was left, also after a look at another page; None while shut."""
    key = _key(place)
    st.session_state.setdefault(key, st.session_state.get(f"{key}-open", False))
    panel = st.expander(words, key=key, on_change="rerun")
    st.session_state[f"{key}-open"] = panel.open
    return panel if panel.open else None


def _key(place: Place) -> str:
    return f"{place.part}-{place.collection}-{place.question}"


def _marked(loaded: Loaded, place: Place, question: Question) -> None:
    text.notice(
        "It was reviewed against this corpus revision, which holds no answer."
        if question.unsupported_as_of == loaded.corpus.revision
        else "It was reviewed against another corpus revision. Search again, then mark it for this "
        "one, or take the mark back."
    )
    st.button(
        "Take the mark back", key=f"{_key(place)}-back", on_click=_mark_supported,
        args=(place, question),
    )  # fmt: skip


def _to_mark(loaded: Loaded, place: Place, question: Question) -> None:
    try:
        reason = asking.why_not_unsupported(loaded, question)
    except DeskError:
        reason = "a label is refused, and it may be a relevant one"
    if reason is not None:
        status(place)
        text.notice(f"It cannot be marked unsupported: {reason}.")
        return
    text.notice(
        "An unsupported question is in no mean; what comes back for it is listed apart. Search "
        "the corpus in several wordings first: what you search for here is written down below."
    )
    _warn(loaded, question)
    finding.in_place(loaded, place.reviewer, question)
    key = _key(place)
    _take_in(f"{key}-searched", finding.searched(place.collection, question.id))
    st.text_area(
        "What the corpus was searched for, one a line; add what you searched elsewhere",
        key=f"{key}-searched", height=90, persist_state=_KEPT,
    )  # fmt: skip
    st.checkbox("I searched the corpus and found no answer", key=f"{key}-sure")
    # Where the button was when it was pressed: below it, the window's end could hide it.
    status(place)
    st.button(
        "Mark unsupported", key=f"{key}-mark", on_click=_mark_unsupported, args=(place, question)
    )


def _warn(loaded: Loaded, question: Question) -> None:
    other = answered_alike(loaded, question)
    if other is not None:
        text.problem(
            f"The question {other.id} reads nearly alike and has relevant evidence: “{other.text}” "
            "Look at that evidence before you mark this one."
        )


def _take_in(field: str, recorded: list[str]) -> None:
    """Add to a field what was searched for since it was drawn last; what was typed there stays."""
    known = st.session_state.get(f"{field}-known", 0)
    lines = (st.session_state.get(field) or "").splitlines()
    new = [words for words in recorded[known:] if words not in lines]
    if new:
        st.session_state[field] = "\n".join([*lines, *new])
    st.session_state[f"{field}-known"] = len(recorded)


def _mark_unsupported(place: Place, question: Question) -> None:
    key = _key(place)
    with acting(place):
        identity.confirm(place.reviewer)
        if not st.session_state.get(f"{key}-sure"):
            raise InvalidInput(
                "it is not confirmed that the corpus was searched", remedy="Tick the box, then mark"
            )
        words = (st.session_state.get(f"{key}-searched") or "").splitlines()
        loaded = state.load_collection(place.collection)
        done = asking.mark_unsupported(loaded, place.reviewer, question, words)
        remember(place, done, f"{question.id} is unsupported")


def _mark_supported(place: Place, question: Question) -> None:
    with acting(place):
        identity.confirm(place.reviewer)
        loaded = state.load_collection(place.collection)
        done = asking.mark_supported(loaded, place.reviewer, question)
        remember(place, done, f"{question.id} is no longer marked unsupported")


def retire(loaded: Loaded, reviewer: str, question: Question) -> None:
    """Take it out of what is asked, with a note why."""
    place = Place(loaded.collection.name, reviewer, question.id, _RETIRE)
    panel = _panel("Retire", place)
    if panel is not None:
        with panel:
            text.notice(
                "A retired question is not asked, not scored and not shown. Its labels stay, and "
                "count again when it is brought back."
            )
            field = f"{_key(place)}-why"
            st.text_input("Why it is retired", key=field, persist_state=_KEPT)
            status(place)
            st.button(
                "Retire the question", key=f"{_key(place)}-save", on_click=_retired,
                args=(place, question, field),
            )  # fmt: skip


def _retired(place: Place, question: Question, field: str) -> None:
    with acting(place):
        identity.confirm(place.reviewer)
        note = st.session_state.get(field) or ""
        loaded = state.load_collection(place.collection)
        done = asking.retire(loaded, place.reviewer, question, note)
        remember(place, done, f"{question.id} is retired")

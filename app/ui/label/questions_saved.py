"""What was saved last of questions in this session, or refused: told where it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from app.flows.asking import Changed
from app.ui import state, text


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is asked for: a question, none for new ones, and a part of the page."""

    collection: str
    reviewer: str
    question: str
    part: str = ""

    def holds(self, other: Place) -> bool:
        """Whether what was asked for at `other` is told here; no part stands for every part."""
        mine, theirs = ((one.collection, one.reviewer, one.question) for one in (self, other))
        return mine == theirs and self.part in ("", other.part)


@contextmanager
def acting(place: Place) -> Iterator[None]:
    """What goes wrong in a callback is told at a place by the run that follows it."""
    st.session_state["question-acted"] = place
    st.session_state.pop("last-question", None)
    with state.acting():
        yield


def remember(place: Place, done: Changed, words: str) -> None:
    """Keep what a callback saved, in words."""
    told = f"Saved {done.events[0].time[11:19]} UTC: {words}."
    st.session_state["last-question"] = (place, told, done.notice)


def status(place: Place) -> None:
    """What was saved last at a place, or what failed there."""
    acted = st.session_state.get("question-acted")
    if acted is not None and place.holds(acted):
        state.show_failures()
    where, told, notice = st.session_state.get("last-question", (None, "", None))
    if where is None or not place.holds(where):
        return
    text.saved(told)
    if notice:
        text.notice(notice)

"""What was saved last of questions in this session, told by the run that follows."""

from __future__ import annotations

import streamlit as st

from app.flows.asking import Changed
from app.flows.loading import Loaded
from app.ui import state, text


def remember(collection: str, reviewer: str, done: Changed, words: str) -> None:
    """Keep what a callback saved, in words."""
    told = f"Saved {done.events[0].time[11:19]} UTC: {words}."
    st.session_state["last-question"] = ((collection, reviewer), told, done.notice)


def status(loaded: Loaded, reviewer: str) -> None:
    """What was saved last, or what failed; drawn once, beside the buttons that save."""
    state.show_failures()
    here, told, notice = st.session_state.get("last-question", (None, "", None))
    if here != (loaded.collection.name, reviewer):
        return
    text.saved(told)
    if notice:
        text.notice(notice)

"""The frame around every page: configuration, style, navigation."""

from __future__ import annotations

from contextvars import ContextVar

import streamlit as st

from app.ui import identity, state
from app.ui.text import style

_inside: ContextVar[bool] = ContextVar("inside", default=False)


def run() -> None:
    """Draw the navigation and the page the URL names, for who may see it."""
    st.set_page_config(page_title="Relevance Desk", layout="wide")
    style()
    page = st.navigation(
        [
            st.Page("pages/label.py", title="Label", url_path="start", default=True),
            st.Page("pages/retrieve.py", title="Retrieve"),
            st.Page("pages/review.py", title="Review"),
            # The default page answers at the root alone; who types its name finds it all the same.
            st.Page("pages/label.py", title="Label", url_path="label", visibility="hidden"),
        ],
        position="top",
    )
    with state.guarded():
        identity.admit()
    token = _inside.set(True)
    try:
        page.run()
    finally:
        _inside.reset(token)


def enter(name: str) -> None:
    """First line of every page, with its name.

    Streamlit takes a folder `pages` for its older multipage convention until `st.navigation` has
    run once in the server. A link to a page that is the first thing a new server gets would run
    that page without its frame; then the frame is run from here.
    """
    if not _inside.get():
        run()
        st.stop()
    st.html(f'<h1 class="desk-hidden">{name}</h1>')

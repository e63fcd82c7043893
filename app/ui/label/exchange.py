"""Import and export, as the commands do it."""

from __future__ import annotations

import streamlit as st

from app.flows.loading import Loaded
from app.ui import identity, state, text
from app.ui.label import exchange_in, exchange_out, leaving
from app.ui.label.exchange_in import segments

_WAYS = {"in": "Import", "out": "Export"}


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    leaving.leave_item(loaded.collection.name, reviewer)
    with st.container(horizontal=True, gap="large"):
        way = state.pick("Way", list(_WAYS), "way", words=_WAYS, control=segments)
        kind = exchange_in.pick_kind() if way == "in" else None
    state.settle()
    if kind is None:
        exchange_out.show(loaded)
        return
    reason = identity.why_not_grade(reviewer)
    if reason is not None:
        text.notice(reason)
        text.notice("Who may not grade imports nothing; exports are open to all who may read.")
        return
    exchange_in.show(loaded, reviewer, kind)

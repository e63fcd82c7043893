"""When something was said, as the reviewer's clock and calendar show it."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from app.flows.item_history import moment


def when(time: str) -> str:
    """The time of an event with its day: `2026-11-30 14:03:22`; words as a line has them."""
    found = moment(time)
    if found is None:
        return time
    zone: tzinfo | None = None
    try:
        zone = ZoneInfo(st.context.timezone) if st.context.timezone else None
    except (ZoneInfoNotFoundError, ValueError):
        zone = None
    try:
        here = found.astimezone(zone or UTC)
    except OverflowError:
        return time
    return f"{here:%Y-%m-%d %H:%M:%S}" + ("" if zone else " UTC")

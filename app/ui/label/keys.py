"""The keyboard: one listener that sends each press with the item it was made for.

Streamlit's own shortcuts repeat while a key is held and fire on whatever came in the meantime. Here
a press is sent once per turn, with the id of the item whose text is in the page at that moment; one
that comes before the next item is there is refused where the reviewer sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.ui.static import static

_LISTENER = st.components.v2.component(
    "desk_keys", html='<p role="status"></p>', css=static("keys.css"), js=static("keys.js")
)


def listen(
    item: str,
    turn: int,
    mode: str,
    keys: Mapping[str, str],
    on_press: Callable[[], None],
    *,
    focus: str | None = None,
) -> None:
    """Listen for keys while an item is on screen.

    `keys` are the acts of this mode by key; `focus` is a selector of what is focused when this turn
    is drawn. A new item is shown from its top.
    """
    _LISTENER(
        key="keys",
        data={
            "item": item,
            "turn": turn,
            "mode": mode,
            "keys": dict(keys),
            "focus": focus,
        },
        on_press_change=on_press,
    )


def pressed() -> Mapping[str, Any] | None:
    """The press that caused this run; in the callback alone."""
    value = st.session_state.get("keys")
    found = value.get("press") if isinstance(value, Mapping) else getattr(value, "press", None)
    return found if isinstance(found, Mapping) else None

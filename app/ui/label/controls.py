"""The keyboard, the buttons, and what became of the last press: one component for all of them.

Streamlit's own shortcuts repeat while a key is held and fire on whatever came in the meantime, and
its buttons act on whatever the last run drew. Here a press, of a key or of a button, is sent once
per turn, with the id of the item whose text is in the page at that moment; one that comes before
the next item is there is refused where the reviewer sees it. One component also spares the browser
the making of a dozen elements for every item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import streamlit as st

from app.ui import state
from app.ui.static import static

_COMPONENT = st.components.v2.component(
    "desk_controls",
    html='<div class="row judging"></div><div class="row"><div class="row tools"></div>'
    '<div class="told"><p class="refused" role="alert"></p><p class="saved" role="status"></p>'
    '<p class="notice" role="status"></p><p class="unused" role="status"></p></div></div>',
    css=static("controls.css"),
    js=static("controls.js") + static("buttons.js"),
)


@dataclass(frozen=True, slots=True)
class Button:
    """A button and the key that does the same; without an act it is plain words.

    `once`: the second click of a double click does not count. `on`: whether what it shows
    is shown, or what it says was said; None for what is no switch. `title` is told by the mouse.
    """

    act: str
    key: str
    words: str
    kind: Literal["first", "second", "quiet", "switch"] = "quiet"
    once: bool = False
    on: bool | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What became of the last press: refused, saved (and why it was asked for), or worth a word."""

    refused: str | None = None
    saved: str | None = None
    why: str | None = None
    notice: str | None = None


def draw(
    who: str,
    item: str,
    turn: int,
    acts: int,
    mode: str,
    keys: Mapping[str, str],
    on_press: Callable[[], None],
    *,
    judging: Sequence[Button] = (),
    tools: Sequence[Button] = (),
    status: Status | None = None,
    field: str | None = None,
    focus: bool = False,
) -> None:
    """Draw two rows of buttons and listen for keys while an item is on screen.

    `who` sits there and has done so many `acts`, by which a press that was sent twice is known.
    `keys` are the acts of this mode by key; `field` is a selector of the field
    the mode is about, which has the `focus` once this turn is drawn. A new item is shown from its
    top.
    """
    _COMPONENT(
        key="controls",
        data={
            "who": who,
            "name": state.typed_name(),
            "item": item,
            "turn": turn,
            "acts": acts,
            "mode": mode,
            "keys": dict(keys),
            "judging": [asdict(button) for button in judging],
            "tools": [asdict(button) for button in tools],
            "status": asdict(status or Status()),
            "field": field,
            "focus": focus and field is not None,
        },
        on_press_change=on_press,
    )


def pressed() -> Mapping[str, Any] | None:
    """The press that caused this run; in the callback alone."""
    value = st.session_state.get("controls")
    found = value.get("press") if isinstance(value, Mapping) else getattr(value, "press", None)
    return found if isinstance(found, Mapping) else None

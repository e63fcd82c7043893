"""The buttons, each with its key, in one place whatever the text above them; and the keyboard."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app.flows.bench import Bench
from app.flows.labeling import Item, words_of
from app.flows.turn import Turn
from app.ui import state, text
from app.ui.label import actions, drafts, keys
from app.ui.label.session import Session

#: Keys that do the same whatever is on screen.
_ALWAYS = {"z": "undo", "ArrowLeft": "back"}
_ITEM = {
    "0": "grade-0",
    "1": "grade-1",
    "2": "grade-2",
    "x": "reason",
    "l": "later",
    "n": "note",
    "e": "evidence",
    "h": "words",
    "b": "around",
    "d": "document",
    "s": "search",
    "y": "still",
    "ArrowRight": "next",
}
_MODE_KEYS = {
    "reason": {
        **{key: f"reason-{key}" for key in actions.REASON_KEYS},
        "x": "reason",
        "Escape": "escape",
        "z": "undo",
    },
    "evidence": {**_ITEM, **_ALWAYS, "Escape": "escape"},
    "note": {**_ITEM, **_ALWAYS, "Escape": "escape"},
    # What is on screen then is a list: nothing there can be graded by a key.
    "search": {"s": "search", "z": "undo", "Escape": "escape"},
    "grade": {**_ITEM, **_ALWAYS, "Escape": "escape"},
}

#: What is focused when a mode begins.
_FOCUS = {
    "note": '[class*="st-key-note-"] textarea',
    "search": '[class*="st-key-search-"] input',
}


def draw(
    bench: Bench, session: Session, turn: Turn, name: str, reviewer: str, reason: str | None
) -> None:
    """The bar at the foot of the window; `reason` is why the reviewer may not grade."""
    item = turn.item
    here = item.id if item else ""
    with st.container(key="bar", gap="xxsmall"):
        state.show_failures()
        if reason is not None:
            text.notice(reason)
            return
        if item is not None:
            _fields(bench, session, item)
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                if session.mode == "reason":
                    _reasons(name, reviewer, here)
                elif session.mode == "search":
                    _button("Esc", "Back to the chunk", "escape", name, reviewer, here)
                else:
                    if turn.stale is not None:
                        words = f"Still {words_of(turn.stale.event).removeprefix('grade ')}"
                        _button("y", words, "still", name, reviewer, here)
                    _grades(bench, turn, name, reviewer, here)
                    _button("x", "Cannot judge", "reason", name, reviewer, here)
                    _button("l", "Later", "later", name, reviewer, here)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if item is not None and session.mode != "search":
                _tools(session, name, reviewer, here)
            elif item is None and session.trail:
                _button("←", "Back", "back", name, reviewer, here)
            if turn.strip:
                _button("z", "Undo", "undo", name, reviewer, here)
            _status(session)
        keys.listen(
            here,
            session.turn,
            session.mode,
            _MODE_KEYS[session.mode] if item is not None else _ALWAYS,
            partial(actions.press, name, reviewer),
            focus=_FOCUS.get(session.mode) if session.focus else None,
        )
    session.focus = False


def _fields(bench: Bench, session: Session, item: Item) -> None:
    """Evidence and note above the buttons, where neither is ever out of sight."""
    draft = session.draft(item)
    if session.mode == "evidence" or draft.sentences:
        drafts.evidence_fields(bench.loaded, item, draft)
    if session.mode == "note" or draft.note:
        drafts.note_field(draft)


def status_only(session: Session) -> None:
    """The bar where nothing is graded: what was saved or failed."""
    state.show_failures()
    with st.container(key="bar", gap="xxsmall"):
        _status(session)


def _grades(bench: Bench, turn: Turn, name: str, reviewer: str, here: str) -> None:
    for grade, words in bench.loaded.collection.settings.grade_words.items():
        given = turn.own is not None and turn.own.grade == grade
        st.button(
            f"**{grade}** {text.plain_label(words)}" + (" (yours)" if given else ""),
            key=f"grade-{grade}-{here}",
            on_click=actions.act,
            args=(name, reviewer, f"grade-{grade}", here),
        )


def _reasons(name: str, reviewer: str, here: str) -> None:
    st.text("Why?", width="content")
    for key, reason in actions.REASON_KEYS.items():
        _button(key, reason.capitalize(), f"reason-{key}", name, reviewer, here)
    _button("Esc", "Back", "escape", name, reviewer, here)


def _tools(session: Session, name: str, reviewer: str, here: str) -> None:
    """What judges nothing. The same elements for every item, which spares the browser their making;
    what they are pressed for is the item that is on screen then.
    """
    _button("←", "", "back", name, reviewer, here, stays=True)
    _button("→", "Pass", "next", name, reviewer, here, stays=True)
    key = f"tools-of-{name}"
    st.session_state[key] = actions.opened(session)
    st.pills(
        "What is shown with the chunk",
        list(actions.TOOLS),
        key=key,
        selection_mode="multi",
        format_func=actions.TOOLS.__getitem__,
        label_visibility="collapsed",
        on_change=actions.toggle,
        args=(name, reviewer, here, key),
    )
    _button("s", "Search", "search", name, reviewer, here, stays=True)


def _button(
    key: str, words: str, act: str, name: str, reviewer: str, here: str, *, stays: bool = False
) -> None:
    """A button of the item on screen; of all items, where it `stays`."""
    plain = act in ("reason", "later", "still") or act.startswith("reason-")
    st.button(
        f"**{key}** {words}".strip(),
        key=f"{act}-of-{name}" if stays else f"{act}-{here}",
        type="secondary" if plain else "tertiary",
        on_click=actions.act,
        args=(name, reviewer, act, here),
    )


def _status(session: Session) -> None:
    """What was saved or refused by the last act."""
    if session.refused is not None:
        text.problem(session.refused)
        session.refused = None
    if session.saved is not None:
        text.saved(session.saved, session.why)
    if session.notice is not None:
        text.notice(session.notice)

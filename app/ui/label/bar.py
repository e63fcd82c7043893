"""The bar at the foot of the window: fields, buttons with their keys, and what was saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from app.flows.bench import Bench
from app.flows.labeling import Item, words_of
from app.flows.turn import Turn
from app.ui import state, text
from app.ui.label import actions, controls, drafts
from app.ui.label.controls import Button
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
#: Acts of who may read but not grade.
_READING = ("back", "next", "words", "around", "document", "search", "escape")
#: What can be said with a grade, and what can be shown with a chunk: act, key and words.
_SAYING = (("note", "n", "Note"), ("evidence", "e", "Evidence"))
_SHOWING = (
    ("words", "h", "Words"),
    ("around", "b", "Before and after"),
    ("document", "d", "Document"),
)

#: The field that a mode is about.
_FIELD = {
    "note": '[class*="st-key-note-"] textarea',
    "search": '[class*="st-key-search-"] input',
}


def draw(
    bench: Bench, session: Session, turn: Turn, name: str, reviewer: str, reason: str | None
) -> None:
    """The bar at the foot of the window; `reason` is why the reviewer may not grade."""
    item = turn.item
    with st.container(key="bar", gap="xxsmall"):
        told = state.show_failures()
        may = reason is None
        if item is not None and may:
            _fields(bench, session, item)
        status = _status(session)
        if reason is not None and reason not in told:
            status = replace(status, notice=reason)
        controls.draw(
            reviewer,
            item.id if item else "",
            session.turn,
            session.acts,
            session.mode,
            _keys(session, item, may=may),
            partial(actions.press, name, reviewer),
            judging=[*_judging(bench, session, turn, may=may)] if item is not None else (),
            tools=[*_tools(session, turn, may=may)],
            status=status,
            field=_FIELD.get(session.mode),
            focus=session.focus,
        )
    session.focus = False


def _keys(session: Session, item: Item | None, *, may: bool) -> Mapping[str, str]:
    keys = _MODE_KEYS[session.mode] if item is not None else _ALWAYS
    return keys if may else {key: act for key, act in keys.items() if act in _READING}


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
        status = _status(session)
        if status.refused is not None:
            text.problem(status.refused)
        if status.saved is not None:
            text.saved(status.saved, status.why)
        if status.notice is not None:
            text.notice(status.notice)


def _judging(bench: Bench, session: Session, turn: Turn, *, may: bool) -> Iterator[Button]:
    """What judges the item on screen; in the mode `reason`, why it cannot be judged."""
    if session.mode == "search":
        yield Button("escape", "Esc", "Back to the chunk")
        return
    if not may:
        return
    if session.mode == "reason":
        yield Button("", "", "Why?")
        for key, why in actions.REASON_KEYS.items():
            yield Button(f"reason-{key}", key, why.capitalize(), "second", once=True)
        yield Button("escape", "Esc", "Back")
        return
    # The grades first and always alike: a hand that knows where they are must not meet another.
    for grade, meaning in bench.loaded.collection.settings.grade_words.items():
        given = turn.own is not None and turn.own.grade == grade
        yield Button(
            f"grade-{grade}", str(grade), meaning, "first", once=True,
            on=given if turn.own is not None else None, title="You gave this" if given else None,
        )  # fmt: skip
    yield Button("reason", "x", "Cannot judge", "second")
    yield Button("later", "l", "Later", "second", once=True)
    if turn.stale is not None:
        words = f"Still {words_of(turn.stale.event).removeprefix('grade ')}"
        yield Button("still", "y", words, "second", once=True)


def _tools(session: Session, turn: Turn, *, may: bool) -> Iterator[Button]:
    """What judges nothing. While a reason is asked for, other keys mean reasons."""
    if turn.item is not None and session.mode not in ("search", "reason"):
        yield Button("back", "←", "", title="Back to the one before")
        yield Button("next", "→", "Pass", title="On without a judgment")
        for act, key, words in (*(_SAYING if may else ()), *_SHOWING):
            on = session.mode == act or getattr(session, act, False) is True
            yield Button(act, key, words, "switch", on=on)
        yield Button("search", "s", "Search")
    elif turn.item is None and session.trail:
        yield Button("back", "←", "Back")
    if turn.strip and may:
        yield Button("undo", "z", "Undo", once=True)


def _status(session: Session) -> controls.Status:
    """What was saved or refused by the last act; what was refused is told once."""
    refused, session.refused = session.refused, None
    return controls.Status(refused, session.saved, session.why, session.notice)

"""Stale judgments: what has changed since, and one press to say that they still hold."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.core.worddiff import Part
from app.flows.bench import Bench
from app.flows.labeling import words_of
from app.flows.renewing import Group, Stale, groups
from app.ui import identity, state, text
from app.ui.label.session import Session, session_of

#: Groups shown at once, and items listed of one.
_GROUPS, _ITEMS = 20, 30
_WHY = {
    "text": "the chunk's text has changed",
    "question": "the question has changed",
    "guidelines": "the guidelines have changed",
    "re-chunked": "the document was cut anew",
}


def beside(stale: Stale) -> None:
    """Above an item: what its reviewer said before, and what has changed since."""
    why = " and ".join(_WHY[one] for one in stale.why)
    text.notice(f"You gave {words_of(stale.event)}; since then {why}.")
    _changes(stale)
    if stale.event.note:
        text.notice(f"Your note: {stale.event.note}")


def _changes(stale: Stale) -> None:
    if stale.unknown is not None:
        text.notice(stale.unknown)
    for name, parts in (("Text", stale.text_parts), ("Question", stale.question_parts)):
        if parts:
            st.html(
                f'<div class="desk-diff" dir="auto" role="group" aria-label="Change of the '
                f'{name.lower()}">{_diff(parts)}</div>'
            )


def _diff(parts: Sequence[Part]) -> str:
    """A word diff as HTML, with long unchanged stretches left out."""
    tags = {"removed": "del", "added": "ins"}
    found = []
    for number, part in enumerate(parts):
        if part.kind in tags:
            tag = tags[part.kind]
            found.append(f"<{tag}>{text.escape(part.text)}</{tag}>")
        else:
            ends = (number == 0, number == len(parts) - 1)
            found.append(text.escape(_shortened(part.text, *ends)))
    return "".join(found)


def _shortened(words: str, first: bool, last: bool, around: int = 90) -> str:
    if len(words) <= 3 * around:
        return words
    head = "" if first else words[:around].rpartition(" ")[0]
    tail = "" if last else words[-around:].partition(" ")[2]
    return f"{head} … {tail}"


def show(bench: Bench, name: str, reviewer: str) -> None:
    """All of a reviewer's stale judgments, by what changed; each change is confirmed once."""
    session = session_of(name, reviewer)
    found = groups(bench.stale(reviewer))
    count = sum(len(group.items) for group in found)
    text.heading(
        f"{count} of your judgments to confirm" if count != 1 else "One judgment to confirm",
        "They do not count until you say that they still hold, or judge again.",
    )
    st.button("Back to grading", key="renew-back", on_click=_close, args=(session,))
    reason = identity.why_not_grade(reviewer)
    for group in found[:_GROUPS]:
        _group(group, name, reviewer, session, reason)
    if len(found) > _GROUPS:
        text.notice(f"And {len(found) - _GROUPS} more changes.")


def _group(group: Group, name: str, reviewer: str, session: Session, reason: str | None) -> None:
    first, many = group.items[0], len(group.items)
    why = " and ".join(_WHY[one] for one in first.why)
    with st.container(border=True):
        text.section(f"{why[:1].upper()}{why[1:]}" + (f", alike in {many}" if many > 1 else ""))
        _changes(first)
        with st.container(horizontal=True):
            st.button(
                f"All {many} still hold" if many > 1 else f"Still {_said(first)}",
                key=f"renew-{group.change[:24]}",
                type="primary",
                disabled=reason is not None,
                help=reason,
                on_click=confirm,
                args=(name, reviewer, [one.event.event for one in group.items]),
            )
            st.button(
                "Look at them one by one" if many > 1 else "Judge it again",
                key=f"renew-look-{group.change[:24]}",
                on_click=_open,
                args=(session, first),
            )
        rows = "".join(
            f"<li>{text.escape(words_of(one.event))} · {text.escape(one.question.text)}"
            f'<br><span class="desk-meta">{text.escape(one.chunk.text[:140])}… '
            f"({text.escape(one.key.short())})</span></li>"
            for one in group.items[:_ITEMS]
        )
        more = f"<li>and {many - _ITEMS} more</li>" if many > _ITEMS else ""
        st.html(f'<ul class="desk-facts">{rows}{more}</ul>')


def _said(stale: Stale) -> str:
    return str(stale.event.grade) if stale.event.kind == "grade" else words_of(stale.event)


def confirm(name: str, reviewer: str, events: Sequence[str]) -> None:
    """Say that stale judgments still hold, as they were shown."""
    with state.acting():
        identity.confirm(reviewer)
        bench = state.bench(name)
        wanted = set(events)
        items = [one for one in bench.stale(reviewer) if one.event.event in wanted]
        renewed = bench.confirm(reviewer, items)
        session = session_of(name, reviewer)
        many = len(renewed.events)
        session.saved = f"Saved: {many} judgments still hold" if many > 1 else "Saved: still holds"
        session.notice = renewed.notice
        session.renewing = bool(bench.stale(reviewer))


def _open(session: Session, stale: Stale) -> None:
    session.renewing = False
    session.go((stale.event.question, stale.key))


def _close(session: Session) -> None:
    session.renewing = False

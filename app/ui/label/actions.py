"""What a key or a button does. Every act carries the id of the item it was meant for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from app.core.judgments import Reason
from app.core.model import HIGHEST_GRADE
from app.flows.bench import Bench
from app.flows.labeling import Item, Said, words_of
from app.ui import identity, state
from app.ui.label import drafts, keys
from app.ui.label.session import Mode, Session, session_of

REASONS: tuple[Reason, ...] = get_args(Reason)
#: Keys of the reasons, while they are asked for.
REASON_KEYS = dict(zip("amobl", REASONS, strict=True))


def press(collection: str, reviewer: str) -> None:
    """A key: does what it stands for, if its item is the one on screen."""
    found = keys.pressed()
    if found is not None:
        act(collection, reviewer, str(found.get("act")), str(found.get("item")), found.get("value"))


def act(collection: str, reviewer: str, name: str, item: str, value: object = None) -> None:
    """A key or a button of the item with this id."""
    session = session_of(collection, reviewer)
    session.refused = None
    with state.acting():
        shown = session.shown
        if name != "undo" and (shown.id if shown else "") != item:
            session.refused = "That was meant for another item than the one on screen: not used."
            return
        if shown is not None and name in _ON_ITEM:
            _ON_ITEM[name](_Act(session, collection, reviewer, shown, value))
        elif name in _ANYWHERE:
            _ANYWHERE[name](_Act(session, collection, reviewer, shown, value))


class _Act:
    """One act: the session, who acts, and the item it concerns, if any."""

    def __init__(
        self, session: Session, collection: str, reviewer: str, shown: Item | None, value: object
    ) -> None:
        self.session, self.collection, self.reviewer = session, collection, reviewer
        self.item, self.value = shown, value

    @property
    def bench(self) -> Bench:
        return state.bench(self.collection)

    @property
    def shown(self) -> Item:
        assert self.item is not None
        return self.item


def _say(act: _Act, said: Said) -> None:
    identity.confirm(act.reviewer)
    session = act.session
    before = session.stale.event.event if session.stale and said.kind != "later" else None
    saved, why = act.bench.say(
        act.reviewer, act.shown, said, session.reopened, before, session.deciding
    )
    session.saved = f"Saved {clock(saved.event.time)}: {said.words}"
    if why is not None:
        session.saved += f", asked for because {why.words}"
    session.notice = saved.notice
    session.mode = "grade"
    if said.kind != "later":
        drafts.forget(act.shown)
    session.advance()


def _grade(act: _Act, grade: int) -> None:
    drafts.take_note(act.shown)
    found = drafts.evidence_in(act.bench.loaded, act.shown)
    _say(act, Said("grade", grade, note=drafts.draft_of(act.shown).note, evidence=found))


def _reason(act: _Act, reason: Reason) -> None:
    drafts.take_note(act.shown)
    _say(act, Said("cannot-judge", reason=reason, note=drafts.draft_of(act.shown).note))


def _later(act: _Act) -> None:
    if act.session.reopened is not None:
        act.session.refused = "You have judged this one already: undo it to put it off."
        return
    _say(act, Said("later"))


def _still(act: _Act) -> None:
    """The judgment that was given before the change still holds."""
    session = act.session
    if session.stale is None:
        session.refused = "There is no earlier judgment of yours to confirm here."
        return
    identity.confirm(act.reviewer)
    renewed = act.bench.confirm(act.reviewer, [session.stale])
    event = renewed.events[0]
    session.saved = f"Saved {clock(event.time)}: still {words_of(event)}"
    session.notice = renewed.notice
    session.mode = "grade"
    drafts.forget(act.shown)
    session.advance()


def _undo(act: _Act) -> None:
    identity.confirm(act.reviewer)
    saved = act.bench.undo(act.reviewer)
    event, session = saved.event, act.session
    session.saved = f"Taken back {clock(event.time)}: {event.key.short()}"
    session.notice = saved.notice
    session.mode = "grade"
    if event.question in act.bench.loaded.questions:
        session.go((event.question, event.key))


def _next(act: _Act) -> None:
    session, item = act.session, act.shown
    if session.reopened is None:
        session.passed.add(item.pair)
    session.advance()


def _back(act: _Act) -> None:
    act.session.back()


def _toggle(name: str) -> Callable[[_Act], None]:
    def toggle(act: _Act) -> None:
        setattr(act.session, name, not getattr(act.session, name))

    return toggle


def _mode(name: Mode) -> Callable[[_Act], None]:
    def mode(act: _Act) -> None:
        act.session.mode = "grade" if act.session.mode == name else name

    return mode


def _escape(act: _Act) -> None:
    act.session.mode = "grade"


def _sentence(act: _Act) -> None:
    drafts.toggle_sentence(act.shown, act.value)


_ON_ITEM: dict[str, Callable[[_Act], None]] = {
    **{f"grade-{grade}": partial(_grade, grade=grade) for grade in range(HIGHEST_GRADE + 1)},
    **{f"reason-{key}": partial(_reason, reason=reason) for key, reason in REASON_KEYS.items()},
    "later": _later,
    "still": _still,
    "next": _next,
    "words": _toggle("words"),
    "around": _toggle("around"),
    "document": _toggle("document"),
    "reason": _mode("reason"),
    "note": _mode("note"),
    "evidence": _mode("evidence"),
    "search": _mode("search"),
    "sentence": _sentence,
}
_ANYWHERE: dict[str, Callable[[_Act], None]] = {"undo": _undo, "back": _back, "escape": _escape}


def clock(time: str) -> str:
    """The time of an event as the reviewer's clock shows it: `14:03:22`."""
    moment = datetime.fromisoformat(time)
    zone: tzinfo | None = None
    try:
        zone = ZoneInfo(st.context.timezone) if st.context.timezone else None
    except (ZoneInfoNotFoundError, ValueError):
        zone = None
    return f"{moment.astimezone(zone or UTC):%H:%M:%S}" + ("" if zone else " UTC")

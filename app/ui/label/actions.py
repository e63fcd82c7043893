"""What a key or a button does. Every act carries the id of the item it was meant for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import get_args

from app.core.judgments import Reason
from app.core.model import HIGHEST_GRADE
from app.flows.bench import Bench
from app.flows.labeling import Item, Said, item, words_of
from app.ui import identity, seen, state
from app.ui.label import controls, drafts
from app.ui.label.session import Mode, Place, Session, session_of
from app.ui.label.times import when

REASONS: tuple[Reason, ...] = get_args(Reason)
#: Keys of the reasons, while they are asked for.
REASON_KEYS = dict(zip("amobl", REASONS, strict=True))


def press(collection: str, reviewer: str) -> None:
    """A key: does what it stands for, if its item is the one on screen."""
    found = controls.pressed()
    if found is not None:
        name, of, acts = str(found.get("act")), str(found.get("item")), found.get("acts")
        act(collection, reviewer, name, of, acts, found.get("value"))


def act(
    collection: str, reviewer: str, name: str, of: str, acts: object, value: object = None
) -> None:
    """A key or a button of the item with this id, pressed after so many acts."""
    session = session_of(collection, reviewer)
    session.refused = None
    with state.acting():
        shown = session.shown
        if name != "undo" and (shown.id if shown else "") != of:
            session.refused = "That was meant for another item than the one on screen: not used."
            return
        if name == "undo" and acts != session.acts:
            # An undo is of no item: sent again, because the server was slow, it would be two.
            session.refused = "That was pressed before the last one was done: not used."
            return
        session.acts += 1
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

    @cached_property
    def bench(self) -> Bench:
        return state.bench(self.collection)

    @property
    def shown(self) -> Item:
        assert self.item is not None
        return self.item


def _onward(act: _Act) -> None:
    """On along the trail, past what a judgment need not lead to: judged, put off or passed."""
    session = act.session

    def done(place: Place) -> bool:
        question, key = place
        chunk, own = act.bench.loaded.corpus.chunks.get(key), act.bench.own(act.reviewer)
        pair = question, chunk.text_hash if chunk else ""
        return pair in own.fresh or pair in own.later or pair in session.passed

    session.advance(done)


def _say(act: _Act, said: Said) -> None:
    session = act.session
    session.forget_words()
    identity.confirm(act.reviewer)
    before = session.stale.event.event if session.stale and said.kind != "later" else None
    saved, why = act.bench.say(
        act.reviewer,
        act.shown,
        said,
        session.reopened,
        before,
        session.deciding,
        blind=not seen.has(act.collection, act.reviewer, act.shown.pair),
    )
    session.saved = f"Saved {clock(saved.event.time)}: {said.words}"
    session.why = f"Asked for because {why.words}." if why is not None else None
    session.notice = saved.notice
    session.mode = "grade"
    if said.kind != "later":
        session.drafts.pop(act.shown.id, None)
    if session.searching:
        session.mode = "search"  # back to what was found
    else:
        _onward(act)


def _grade(act: _Act, grade: int) -> None:
    draft = act.session.draft(act.shown)
    drafts.take_note(draft)
    found = drafts.evidence_in(act.bench.loaded, act.shown, draft)
    _say(act, Said("grade", grade, note=draft.note, evidence=found))


def _reason(act: _Act, reason: Reason) -> None:
    draft = act.session.draft(act.shown)
    drafts.take_note(draft)
    _say(act, Said("cannot-judge", reason=reason, note=draft.note))


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
    session.forget_words()
    identity.confirm(act.reviewer)
    renewed = act.bench.confirm(act.reviewer, [session.stale])
    event = renewed.events[0]
    session.saved = f"Saved {clock(event.time)}: still {words_of(event)}"
    session.notice = renewed.notice
    session.mode = "grade"
    session.drafts.pop(act.shown.id, None)
    _onward(act)


def _undo(act: _Act) -> None:
    session = act.session
    session.forget_words()
    identity.confirm(act.reviewer)
    saved = act.bench.undo(act.reviewer)
    event = saved.event
    undone = act.bench.own(act.reviewer).events.get(event.undoes or "")
    session.saved = f"Taken back {clock(event.time)}: {words_of(undone or event)}"
    session.searching = False
    session.notice = saved.notice
    session.mode = "grade"
    loaded = act.bench.loaded
    if event.question not in loaded.questions or event.key not in loaded.corpus.eligible:
        return
    session.go((event.question, event.key))
    if event.kind == "withdraw" and undone is not None:
        # Note and evidence are there again: it was the grade that was hasty.
        shown = item(loaded, event.question, event.key)
        session.drafts[shown.id] = drafts.draft_from(loaded, shown, undone, None)


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
        act.session.focus = act.session.mode == name
        act.session.searching = False

    return mode


def _escape(act: _Act) -> None:
    session = act.session
    if session.mode == "search" and session.reopened is not None:
        session.advance()  # what was found and graded is done with
    session.mode, session.searching = "grade", False
    session.around = session.document = False


def _sentence(act: _Act) -> None:
    drafts.toggle_sentence(act.shown, act.session.draft(act.shown), act.value)


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
    day, _, clock_time = when(time).partition(" ")
    return clock_time or day

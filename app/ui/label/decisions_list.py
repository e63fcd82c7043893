"""Decisions as they stand, under names, and those proposed for the guidelines."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.core.judgments import Judgment
from app.core.model import HIGHEST_GRADE
from app.flows.decisions import Decision, decisions, examples
from app.flows.loading import Loaded
from app.flows.roles import sees_unjudged
from app.flows.sight import Sight, Words
from app.flows.wording import count
from app.ui import seen, text
from app.ui.label import beside, deciding
from app.ui.label.said import link, said

_ON_A_PAGE = 20
_SHOWN = 600


def show(loaded: Loaded, reviewer: str, *, may: bool) -> None:
    """Every decision, newest first; then the proposed examples."""
    found = decisions(loaded)
    standing = {decision.event.event for decision in found}
    hidden = _to_be_judged(loaded, reviewer, found) if may else set()
    if not may:
        kept = _judged_by(loaded, reviewer, found)
        if n := len(found) - len(kept):
            text.notice(
                f"{count(n, 'decision')} not shown: you have not judged those pairs, or only "
                "before a change."
            )
        found = kept
    found = [decision for decision in found if decision.event.event not in hidden]
    shown = f", {len(hidden):,} not shown" if hidden else ""
    text.section(f"{count(len(found) + len(hidden), 'decision')}{shown}")
    if not found and not hidden:
        st.text("No pair has been decided yet. Disputed pairs are under the first heading above.")
    page = 1
    if len(found) > _ON_A_PAGE:
        page = st.pagination(-(-len(found) // _ON_A_PAGE), key="decisions-page")
    on_page = found[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    _mark(loaded, reviewer, [one for d in on_page for one in (d.event, *d.judgments)])
    for decision in on_page:
        st.html(_decision(loaded, reviewer, decision))
        if may:
            _actions(loaded, reviewer, decision)
    _examples(loaded, reviewer, standing, hidden)


def _judged_by(loaded: Loaded, reviewer: str, found: list[Decision]) -> list[Decision]:
    """Those the reviewer had a part in, unless they have still, or again, to judge the pair."""
    sight = Sight(loaded)
    judged = sight.judged(reviewer, {d.event.question for d in found})
    kept = []
    for decision in found:
        words = (decision.event, *decision.judgments)
        others = [one for one in words if one.author != reviewer]
        if len(others) < len(words) and sight.open(others) <= judged:
            kept.append(decision)
    return kept


def _to_be_judged(loaded: Loaded, reviewer: str, found: list[Decision]) -> set[str]:
    """The events of those not to be shown to who may adjudicate: others decided them, and the pair
    is still, or again, to be judged by the viewer, who is not named and has not asked for them.
    """
    if sees_unjudged(loaded.collection.workspace, reviewer):
        return set()
    sight = Sight(loaded)
    judged = sight.judged(reviewer, {d.event.question for d in found})
    hidden = {
        decision.event.event
        for decision in found
        if decision.event.author != reviewer
        and not sight.open((decision.event, *decision.judgments)) <= judged
    }
    if hidden and st.toggle(
        f"Show {count(len(hidden), 'decision')} on pairs you have not judged",
        key="show-unjudged-decisions",
        help="What you grade after that is no longer blind.",
    ):
        return set()
    return hidden


def _mark(loaded: Loaded, reviewer: str, words: Sequence[Words]) -> None:
    seen.mark(loaded.collection.name, reviewer, Sight(loaded).told(reviewer, words))


def _decision(loaded: Loaded, reviewer: str, decision: Decision) -> str:
    scale = loaded.collection.settings.grade_words
    event, chunk, key = decision.event, decision.chunk, decision.key
    question = loaded.questions.get(event.question)
    asked = question.text if question else "a question that is no longer here"
    history = link("history", loaded.collection.name, reviewer, "history", event.question, key)
    if isinstance(event, Judgment):
        what = said(f"Decided by {event.author}", beside.with_facts(event, question), scale)
    else:
        what = (
            f'<p class="desk-said"><span class="desk-said-by">Retired by '
            f"{text.escape(event.author)}</span>{text.escape(event.note)}</p>"
        )
    stale = "stale: text, question or guidelines have changed since · " if decision.stale else ""
    body = f'<div class="desk-chunk">{text.literal(chunk.text, _SHOWN)}</div>' if chunk else ""
    where = (
        text.origin(chunk.title, chunk.section, key.short())
        if chunk
        else (f"{text.escape(key.short())}: its text is no longer here")
    )
    return (
        f'<section class="desk-hit"><p class="desk-said"><b>{text.escape(asked)}</b> '
        f'<span class="desk-meta">{text.escape(event.question)} · {stale}'
        f"{text.escape(event.time[:16].replace('T', ' '))} UTC · {history}</span></p>"
        f'<p class="desk-meta">{where}</p>{body}{what}'
        + "".join(
            said(one.author, beside.with_facts(one, question), scale) for one in decision.judgments
        )
        + "</section>"
    )


def _actions(loaded: Loaded, reviewer: str, decision: Decision) -> None:
    event = decision.event
    key = f"undo-{event.event}"
    if not isinstance(event, Judgment):
        deciding.undo_button(loaded, reviewer, event, key)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if event.author == reviewer:
            deciding.undo_button(loaded, reviewer, event, key)
        if decision.example is not None:
            text.caption(f"Proposed as an example by {decision.example.author}")
        elif decision.chunk is not None and not decision.stale:
            deciding.propose_button(loaded, reviewer, decision, "list")


def _examples(loaded: Loaded, reviewer: str, standing: set[str], hidden: set[str]) -> None:
    """What was proposed, ready to be taken over by hand; that of `hidden` decisions is counted."""
    every = examples(loaded)
    proposed = [one for one in every if one.of not in hidden]
    text.section("Proposed examples")
    if n := len(every) - len(proposed):
        text.notice(f"{count(n, 'example')} not shown: you have not judged the pair.")
        if not proposed:
            return
    place = f"{loaded.collection.labels_place}/guidelines.md"
    if not proposed:
        st.text("None yet. A decision that settles more than its own pair is worth proposing.")
        return
    text.notice(f"To be taken over into {place} by hand, in your own words.")
    scale = loaded.collection.settings.grade_words
    rows, listed = [], proposed[:100]
    _mark(loaded, reviewer, listed)
    for one in listed:
        question = loaded.questions.get(one.question)
        words = " ".join(one.text.split())
        grade = min(int(one.grade), HIGHEST_GRADE)
        rows.append(
            [
                question.text if question else one.question,
                words[:300] + ("…" if len(words) > 300 else ""),
                f"{grade} {scale[grade]}" + ("" if one.of in standing else " (taken back since)"),
                one.note or "",
                one.author,
            ]
        )
    text.table(
        ["question", "chunk says", "grade", "why", "proposed by"], rows, frozenset({1, 2, 3, 4})
    )

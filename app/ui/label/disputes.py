"""Disputed pairs, one at a time, and their decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from app.core.errors import InvalidInput
from app.core.trec import key_token
from app.flows.adjudicating import OPEN, WITH_UNSETTLED, Dispute
from app.flows.dispute_effects import Effect
from app.flows.dispute_sight import unjudged_by
from app.flows.loading import Loaded
from app.flows.roles import require_adjudicator, sees_unjudged
from app.flows.sight import Sight
from app.flows.wording import METRIC_WORDS, count
from app.settings import split_metric
from app.ui import seen, state, text
from app.ui.label import beside, deciding, decisions_list, leaving, remembered
from app.ui.label.said import link, said

_VIEWS = {
    "open": "Disputed or not judgeable",
    "unsettled": "With unsettled ones",
    "decided": "Decided",
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Session state: pairs not judged that were to be shown all the same.
_ASKED_FOR = "disputes-asked-for"
_STATES = {
    "disputed": "disputed",
    "cannot-judge": "everybody found that it cannot be judged",
    "unsettled": "unsettled: the lower grade is used until somebody decides",
}


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    view = state.pick("Show", list(_VIEWS), "show", words=_VIEWS, control=_segments)
    if (reason := why_not_adjudicate(reviewer)) is not None:
        text.notice(reason)
    if view == "decided":
        state.settle()
        deciding.status(loaded, reviewer)
        decisions_list.show(loaded, reviewer, may=reason is None)
        return
    waits = remembered.waiting(loaded, WITH_UNSETTLED if view == "unsettled" else OPEN)
    for sentence in waits.unknown:
        text.notice(f"What hangs on each pair is not known now. {sentence}")
    ordered, known = list(waits.disputes), waits.effects
    unjudged = unjudged_by(loaded, reviewer, ordered)
    if reason is not None:
        ordered = _judged_by(reviewer, ordered, unjudged)
    elif unjudged:
        _warn(len(unjudged), len(ordered))
    if not ordered:
        state.settle()
        deciding.status(loaded, reviewer)
        _nothing(loaded, reason is None)
        return
    sees = sees_unjudged(loaded.collection.workspace, reviewer)
    held = set() if sees else {one for one in unjudged if not _asked_for(loaded, reviewer, one)}
    _one(loaded, reviewer, ordered, known, held, may=reason is None)


def _segments(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    chosen = st.segmented_control(
        label, options, key=key, format_func=words, required=True, label_visibility="collapsed"
    )
    return str(chosen)


def why_not_adjudicate(reviewer: str) -> str | None:
    """Why somebody may read but not adjudicate, as a sentence; None where they may."""
    try:
        require_adjudicator(state.workspace(), reviewer)
    except InvalidInput as error:
        return " ".join(state.sentences(error))
    return None


def _judged_by(
    reviewer: str, found: Sequence[Dispute], unjudged: Collection[tuple[str, str]]
) -> list[Dispute]:
    """Those the reviewer has judged; how many are not shown is told."""
    kept = [
        one
        for one in found
        if one.identity not in unjudged and any(j.author == reviewer for j in one.judgments)
    ]
    if hidden := len(found) - len(kept):
        text.notice(
            f"{count(hidden, 'pair')} not shown: you have not judged "
            f"{'it' if hidden == 1 else 'them'}, and others' grades would sway yours."
        )
    return kept


def _warn(unjudged: int, every: int) -> None:
    """That reading ends blindness, and for how many pairs."""
    text.notice(
        f"You have not judged {unjudged:,} of {count(every, 'pair')} here. What you grade after "
        "others' grades of it were shown to you is kept as not blind."
    )


def _nothing(loaded: Loaded, may: bool) -> None:
    st.text("Nothing is in dispute." if may else "Nothing you have judged is in dispute.")
    once = sum(1 for label in loaded.labels.pairs.values() if label.state == "judged")
    text.notice(
        f"{count(once, 'pair')} with an agreed or single grade. Disputes arise where two reviewers "
        "grade the same chunk and their grades lie on both sides of the threshold or 2 apart: see "
        "Agreement for how far they agree."
    )


def _one(
    loaded: Loaded,
    reviewer: str,
    ordered: Sequence[Dispute],
    known: Mapping[tuple[str, str], Effect],
    held: Collection[tuple[str, str]],
    *,
    may: bool,
) -> None:
    """The pair picked, one that is not `held` back unless asked for: its place in the list, what
    was said of it, and the decision.
    """
    place = _pick(loaded, reviewer, ordered, held)
    dispute = ordered[place]
    metric, k = split_metric(loaded.collection.settings.scoring.primary)
    name = f"{METRIC_WORDS[metric]}@{k}"
    with st.container(horizontal=True, vertical_alignment="center"):
        _go("Previous", ordered, place - 1)
        _go("Next", ordered, place + 1)
        st.text(f"{place + 1} of {len(ordered):,}, widest first, then by effect on {name}")
    with st.expander(f"All {count(len(ordered), 'pair')}"):
        _table(loaded, reviewer, ordered, known, name)
    if dispute.identity in held:
        _held(loaded, reviewer, dispute)
        deciding.status(loaded, reviewer, dispute)
        return
    _pair(loaded, dispute, _hangs(known.get(dispute.identity), name))
    seen.mark(loaded.collection.name, reviewer, Sight(loaded).told(reviewer, dispute.judgments))
    st.html("".join(_lines(loaded, dispute)))
    text.notice("Names are shown once the pair is decided. The letters differ from pair to pair.")
    if may:
        following = ordered[place + 1 : place + 2] or ordered[:place][:1]
        deciding.form(loaded, reviewer, dispute, next(iter(following), None))
    else:
        deciding.status(loaded, reviewer, dispute)


def _pick(
    loaded: Loaded,
    reviewer: str,
    ordered: Sequence[Dispute],
    held: Collection[tuple[str, str]],
) -> int:
    """The place of the pair that the address names; else of the first that may be shown."""
    places = [(d.question, key_token(d.key)) for d in ordered]
    leaving.only_if_there(loaded.collection.name, reviewer, set(places))
    first = next((d for d in ordered if d.identity not in held), ordered[0])
    questions = list(dict.fromkeys(d.question for d in ordered))
    question = state.pick("Question", questions, "question", first.question, control=_quiet)
    tokens = [token for asked, token in places if asked == question]
    token = state.pick("Chunk", tokens, "chunk", key_token(first.key), control=_quiet)
    state.settle()
    return places.index((question, token))


def _hangs(effect: Effect | None, name: str) -> str:
    if effect is None:
        return f"no effect on {name} in the newest executions"
    return f"{name} of this question changes by up to {effect.change:.3f} in {effect.configuration}"


def _pair(loaded: Loaded, dispute: Dispute, hangs: str) -> None:
    """Question, facts, guidelines and text: what the decision is made by."""
    asked = loaded.questions[dispute.question]
    text.heading(asked.text, asked.need)
    beside.facts(asked)
    st.html(f'<p class="desk-meta">{text.escape(_STATES[dispute.state])}; {text.escape(hangs)}</p>')
    beside.guidelines(loaded.collection)
    if dispute.chunk is None:
        st.text(f"{dispute.key.short()} is no longer here; what was said of it still counts.")
        return
    chunk = dispute.chunk
    text.chunk_text(chunk.text, chunk.title, chunk.section, dispute.key.short())
    if len(dispute.keys) > 1:
        text.notice(f"The same text stands in {len(dispute.keys)} chunks; all get the grade.")


def _held(loaded: Loaded, reviewer: str, dispute: Dispute) -> None:
    """In the place of a pair the viewer has still to judge: why it is not shown, and what to do."""
    question, key, name = dispute.question, dispute.key, loaded.collection.name
    text.heading(loaded.questions[question].text)
    st.text("Not shown: you have not judged this pair yet, and others' grades would sway yours.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Show it",
            key=f"show-{question}-{key}",
            help="What you grade after that is no longer blind.",
            on_click=_ask_for,
            args=((name, reviewer, dispute.identity),),
        )
        st.html(link("Grade it first", name, reviewer, "grade", question, key), width="content")


def _ask_for(what: tuple[str, str, tuple[str, str]]) -> None:
    with state.acting():
        st.session_state.setdefault(_ASKED_FOR, set()).add(what)


def _asked_for(loaded: Loaded, reviewer: str, dispute: tuple[str, str]) -> bool:
    what = (loaded.collection.name, reviewer, dispute)
    return what in st.session_state.get(_ASKED_FOR, ())


def _quiet(_: str, __: list[str], key: str, ___: Callable[[str], str]) -> str:
    """No widget: the list, the buttons and the link say which."""
    chosen: str = st.session_state[key]
    return chosen


def _go(label: str, ordered: Sequence[Dispute], place: int) -> None:
    inside = 0 <= place < len(ordered)
    st.button(
        label,
        key=f"dispute-{label}",
        disabled=not inside,
        help=None if inside else f"There is no {label.lower()} pair.",
        on_click=_open,
        args=(ordered[place] if inside else None,),
    )


def _open(dispute: Dispute | None) -> None:
    with state.acting():
        if dispute is not None:
            deciding.go_to(dispute.question, dispute.key)


def _lines(loaded: Loaded, dispute: Dispute) -> list[str]:
    """What each reviewer said, under letters; earlier adjudications under their names."""
    scale = loaded.collection.settings.grade_words
    asked = loaded.questions[dispute.question]
    letters = iter([*_LETTERS, *(f"{a}{b}" for a in _LETTERS for b in _LETTERS)])
    return [
        said(
            f"Adjudication by {event.author}"
            if event.adjudication
            else f"Reviewer {next(letters)}",
            beside.with_facts(event, asked),
            scale,
        )
        for event in dispute.judgments
    ]


def _table(
    loaded: Loaded,
    reviewer: str,
    ordered: Sequence[Dispute],
    known: Mapping[tuple[str, str], Effect],
    name: str,
) -> None:
    """Every pair with a link to it, in order; the first hundred. Grades stand on the pair alone,
    which is then known to have been seen.
    """
    rows = ""
    for dispute in ordered[:100]:
        there = link(
            dispute.question, loaded.collection.name, reviewer, "disputes", dispute.question,
            dispute.key,
        )  # fmt: skip
        effect = known.get(dispute.identity)
        change = f"{effect.change:.3f}" if effect else "-"
        rows += (
            f'<tr><th scope="row">{there}</th><td class="desk-words">'
            f"{text.escape(dispute.key.short())}</td>"
            f"<td>{len(dispute.judgments)}</td><td>{change}</td></tr>"
        )
    st.html(
        '<table class="desk-table"><thead><tr><th scope="col">question</th>'
        '<th scope="col" class="desk-words">chunk</th>'
        '<th scope="col">judgments</th>'
        f'<th scope="col">effect on {text.escape(name)}</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    if len(ordered) > 100:
        text.notice(f"And {len(ordered) - 100:,} more, reached by Next.")

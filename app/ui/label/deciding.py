"""Decide a dispute: a grade with a rationale, or the retirement of the pair."""

from __future__ import annotations

import streamlit as st

from app.core.judgments import Judgment, Retirement
from app.core.model import ChunkKey
from app.core.trec import key_token
from app.flows import adjudicating, retiring
from app.flows.adjudicating import Decided, Dispute
from app.flows.decisions import Decision, decisions, propose
from app.flows.loading import Loaded
from app.ui import identity, state, text


def form(loaded: Loaded, reviewer: str, dispute: Dispute, following: Dispute | None) -> None:
    """The two forms; a decision carries the pair that was on screen, and leads to the next.

    What came of the last decision stands above them, for a longer text of the next pair would push
    what is below out of sight. What failed stands below the buttons: the page is as it was.
    """
    name = f"{dispute.question}-{dispute.key}"
    here = (loaded.collection.name, reviewer, dispute, following)
    text.section("Decide")
    _last(loaded, reviewer, dispute)
    if dispute.chunk is not None:
        with st.form(f"decide-{name}", enter_to_submit=False, border=False):
            st.text_area(
                "Why this is the grade (required; kept with the decision)",
                key=f"rationale-{name}",
                height=90,
            )
            with st.container(horizontal=True):
                for grade, words in loaded.collection.settings.grade_words.items():
                    st.form_submit_button(
                        f"Decide **{grade}** {text.plain_label(words)}",
                        key=f"decide-{grade}-{name}",
                        on_click=_decide,
                        args=(*here, grade, f"rationale-{name}"),
                    )
    state.show_failures()
    with st.expander("Retire the pair instead"):
        text.notice(
            "A retired pair is neither relevant nor missing nor open. Retire what cannot be judged "
            "and never will: broken text, a question nobody can read. Under Decided it can be "
            "brought back."
        )
        with st.form(f"retire-{name}", enter_to_submit=False, border=False):
            st.text_area("Why it no longer counts (required)", key=f"note-{name}", height=70)
            st.form_submit_button("Retire the pair", on_click=_retire, args=(*here, f"note-{name}"))


def go_to(question: str, key: ChunkKey) -> None:
    """Move to a pair, through the URL; for callbacks."""
    st.query_params.update({"question": question, "chunk": key_token(key)})


def _decide(
    collection: str,
    reviewer: str,
    dispute: Dispute,
    following: Dispute | None,
    grade: int,
    field: str,
) -> None:
    """Save the decision on the pair that was on screen; files are read anew."""
    with state.acting():
        identity.confirm(reviewer)
        loaded = state.load_collection(collection)
        words = st.session_state.get(field) or ""
        done = adjudicating.decide(loaded, reviewer, dispute, grade, words)
        told = f"decided {grade} for {dispute.key.short()}"
        _remember(collection, reviewer, done, told, following)
        if following is not None:
            go_to(following.question, following.key)


def _retire(
    collection: str, reviewer: str, dispute: Dispute, following: Dispute | None, field: str
) -> None:
    with state.acting():
        identity.confirm(reviewer)
        loaded = state.load_collection(collection)
        done = retiring.retire(loaded, reviewer, dispute, st.session_state.get(field) or "")
        _remember(collection, reviewer, done, f"retired {dispute.key.short()}", following)
        if following is not None:
            go_to(following.question, following.key)


def undo_button(loaded: Loaded, reviewer: str, event: Judgment | Retirement, key: str) -> None:
    """One click takes back one's own adjudication, or lets a retired pair count again."""
    st.button(
        "Take back" if isinstance(event, Judgment) else "Bring back",
        key=key,
        type="tertiary",
        icon=":material/undo:",
        on_click=_undo,
        args=(loaded.collection.name, reviewer, event),
    )


def _undo(collection: str, reviewer: str, event: Judgment | Retirement) -> None:
    with state.acting():
        identity.confirm(reviewer)
        loaded = state.load_collection(collection)
        if isinstance(event, Judgment):
            done, words = adjudicating.take_back(loaded, reviewer, event.event), "taken back for"
        else:
            done, words = retiring.bring_back(loaded, reviewer, event.event), "brought back"
        _remember(collection, reviewer, done, f"{words} {done.event.key.short()}")
        go_to(done.event.question, done.event.key)


def _remember(
    collection: str, reviewer: str, done: Decided, words: str, following: Dispute | None = None
) -> None:
    told = f"Saved {done.event.time[11:19]} UTC: {words}."
    then = following.identity if following is not None else None
    st.session_state["last-decision"] = ((collection, reviewer), told, done, then)


def status(loaded: Loaded, reviewer: str, dispute: Dispute | None = None) -> None:
    """What failed, and what was decided last in this session with its undo.

    For places without the forms; `dispute` is the pair on screen, where there is one.
    """
    state.show_failures()
    _last(loaded, reviewer, dispute)


def _last(loaded: Loaded, reviewer: str, dispute: Dispute | None) -> None:
    last = st.session_state.get("last-decision", (None, "", None, None))
    here, told, done, then = last
    if here != (loaded.collection.name, reviewer):
        return
    if dispute is not None and dispute.identity == then:
        told += " What is shown now is the next dispute."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(told)
        event = done.event
        if isinstance(event, Retirement) or (isinstance(event, Judgment) and event.kind == "grade"):
            undo_button(loaded, reviewer, event, "undo-decision")
        if isinstance(event, Judgment) and event.kind == "grade":
            decision = next((d for d in decisions(loaded) if d.event.event == event.event), None)
            if decision is not None and decision.example is None:
                propose_button(loaded, reviewer, decision, "last")
            elif decision is not None:
                text.caption("Proposed as an example for the guidelines")
    if done.notice:
        text.notice(done.notice)


def propose_button(loaded: Loaded, reviewer: str, decision: Decision, where: str) -> None:
    """One click proposes a decision as an example for the guidelines.

    `where` tells its places on one page apart.
    """
    st.button(
        "Propose as an example",
        key=f"propose-{where}-{decision.event.event}",
        type="tertiary",
        help="Lists it under Decided, for whoever writes the guidelines.",
        on_click=_propose,
        args=(loaded.collection.name, reviewer, decision),
    )


def _propose(collection: str, reviewer: str, decision: Decision) -> None:
    with state.acting():
        identity.confirm(reviewer)
        propose(state.load_collection(collection), reviewer, decision)

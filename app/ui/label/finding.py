"""Find evidence: a search of the corpus from the item on screen, without scores or order."""

from __future__ import annotations

import streamlit as st

from app.core.model import ChunkKey
from app.flows.bench import Bench
from app.flows.finding import Found, find_evidence
from app.ui import state, text
from app.ui.label.session import Session

#: Characters of a found chunk that are shown at once.
_SHOWN = 420


def searched(collection: str, question: str) -> list[str]:
    """What this session searched the corpus for, for one question."""
    kept: dict[tuple[str, str], list[str]] = st.session_state.setdefault("searched", {})
    return kept.setdefault((collection, question), [])


def draw(bench: Bench, session: Session, reviewer: str, question: str) -> None:
    """The search field and what was found; what is graded from there leads back to it."""
    asked = bench.loaded.questions[question]
    key = f"search-{question}"
    st.session_state.setdefault(key, asked.text)
    with st.form(f"form-{question}", border=False):
        left, right = st.columns([5, 1], vertical_alignment="bottom")
        with left:
            st.text_input("Search the corpus for evidence", key=key, max_chars=500)
        with right:
            pressed = st.form_submit_button("Search", type="primary", width="stretch")
    words = st.session_state[key].strip()
    if pressed and words:
        done = searched(bench.loaded.collection.name, question)
        if words not in done:
            done.append(words)
        with st.spinner("Searching"):
            found = find_evidence(bench.loaded, reviewer, question, words, state.kept().engine)
        session.found = (question, words, found)
    kept = session.found
    if kept is None or kept[0] != question:
        text.notice("By meaning and by words. Results come in no order and without scores.")
        return
    _results(bench, session, reviewer, question, kept[1], kept[2])


def _results(
    bench: Bench, session: Session, reviewer: str, question: str, words: str, found: Found
) -> None:
    for sentence in found.failures:
        text.problem(sentence)
    count = len(found.keys)
    what = "1 chunk" if count == 1 else f"{count} chunks"
    text.notice(f"{what} found for “{words}”, in no order. Open one to grade it.")
    own = bench.own(reviewer)
    for key in found.keys:
        chunk = bench.loaded.corpus.eligible.get(key)
        if chunk is None:
            continue
        mine = own.fresh.get((question, chunk.text_hash))
        said = f" · you: {mine.grade if mine.grade is not None else mine.kind}" if mine else ""
        left, right = st.columns([6, 1], vertical_alignment="center")
        with left:
            st.html(
                f'<p class="desk-meta">{text.origin(chunk.title, chunk.section, key.document)}'
                f'{text.escape(said)}</p><div class="desk-chunk desk-found" dir="auto">'
                f"{text.escape(chunk.text[:_SHOWN])}{'…' if len(chunk.text) > _SHOWN else ''}</div>"
            )
        with right:
            st.button(
                "Open" if mine else "Grade",
                key=f"open-{chunk.text_hash[:24]}",
                on_click=_open,
                args=(session, question, key),
                width="stretch",
            )


def _open(session: Session, question: str, key: ChunkKey) -> None:
    session.mode, session.searching = "grade", True
    session.go((question, key))

"""Find evidence: a search of the corpus for one question, without scores or order."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from app.core.model import Chunk, ChunkKey
from app.core.questions import Question
from app.core.trec import key_token
from app.flows.bench import Bench
from app.flows.finding import Found, find_evidence
from app.flows.loading import Loaded
from app.ui import state, text
from app.ui.label.session import Session, session_of

#: Characters of a found chunk that are shown at once.
_SHOWN = 420
#: From so many chunks on, a list beside other things scrolls by itself, in so many pixels.
_MANY, _HEIGHT = 3, 380


def searched(collection: str, question: str) -> list[str]:
    """What this session searched the corpus for, for one question."""
    kept: dict[tuple[str, str], list[str]] = st.session_state.setdefault("searched", {})
    return kept.setdefault((collection, question), [])


def draw(bench: Bench, session: Session, reviewer: str, question: str) -> None:
    """The search field and what was found; what is graded from there leads back to it."""
    asked = bench.loaded.questions[question]
    if session.found is not None and session.found[0] == question:
        # Back from grading what was found: the field says what for.
        st.session_state.setdefault(f"search-{question}", session.found[1])
    done = _search(bench.loaded, reviewer, asked, question)
    if done is not None:
        session.found = (question, *done)
    kept = session.found
    if kept is None or kept[0] != question:
        _before()
        return
    _results(bench, session, reviewer, question, kept[1], kept[2])


def in_place(loaded: Loaded, reviewer: str, question: Question) -> None:
    """The same search beside other things: each result leads to the view Grade."""
    here = (loaded.collection.name, reviewer, question.id, question.hash)
    done = _search(loaded, reviewer, question, f"{loaded.collection.name}-{question.id}-in-place")
    if done is not None:
        st.session_state["found-in-place"] = (here, *done)
    kept = st.session_state.get("found-in-place")
    if kept is None or kept[0] != here:
        _before()
        return
    _, words, found = kept
    _counted(words, found)
    with st.container(height=_HEIGHT if len(found.keys) > _MANY else "content"):
        for key, chunk in _chunks(loaded, found):
            with st.container(gap="xxsmall"):
                _chunk(chunk, key)
                st.button(
                    "Grade it", key=f"grade-{question.id}-{chunk.text_hash[:24]}", type="tertiary",
                    icon=":material/arrow_forward:", on_click=_to_grade,
                    args=(loaded.collection.name, reviewer, question.id, key),
                )  # fmt: skip


def _to_grade(collection: str, reviewer: str, question: str, key: ChunkKey) -> None:
    """To the view Grade in this session, which keeps what was typed and searched for here."""
    with state.acting():
        session = session_of(collection, reviewer)
        session.mode, session.searching = "grade", False
        # All at once, so that the browser's back button takes one step for it.
        asked = {"view": "grade", "question": question, "chunk": key_token(key)}
        st.query_params.update(asked)


def _search(
    loaded: Loaded, reviewer: str, question: Question, name: str
) -> tuple[str, Found] | None:
    """The field; when it is sent, what was searched for, which is kept, and what was found."""
    key = f"search-{name}"
    st.session_state.setdefault(key, question.text)
    with st.form(f"form-{name}", border=False):
        left, right = st.columns([5, 1], vertical_alignment="bottom")
        with left:
            st.text_input("Search the corpus for evidence", key=key, max_chars=500)
        with right:
            pressed = st.form_submit_button("Search", type="primary", width="stretch")
    words = st.session_state[key].strip()
    if not pressed or not words:
        return None
    done = searched(loaded.collection.name, question.id)
    if words not in done:
        done.append(words)
    with st.spinner("Searching"):
        return words, find_evidence(loaded, reviewer, question.id, words, state.kept().engine)


def _before() -> None:
    text.notice("By meaning and by words. Results come in no order and without scores.")


def _counted(words: str, found: Found) -> None:
    for sentence in found.failures:
        text.problem(sentence)
    count = len(found.keys)
    what = "1 chunk" if count == 1 else f"{count} chunks"
    text.notice(f"{what} found for “{words}”, in no order. Open one to grade it.")


def _chunks(loaded: Loaded, found: Found) -> Iterator[tuple[ChunkKey, Chunk]]:
    for key in found.keys:
        chunk = loaded.corpus.eligible.get(key)
        if chunk is not None:
            yield key, chunk


def _chunk(chunk: Chunk, key: ChunkKey, said: str = "") -> None:
    st.html(
        f'<p class="desk-meta">{text.origin(chunk.title, chunk.section, key.document)}'
        f'{text.escape(said)}</p><div class="desk-chunk desk-found" dir="auto">'
        f"{text.escape(chunk.text[:_SHOWN])}{'…' if len(chunk.text) > _SHOWN else ''}</div>"
    )


def _results(
    bench: Bench, session: Session, reviewer: str, question: str, words: str, found: Found
) -> None:
    _counted(words, found)
    own = bench.own(reviewer)
    for key, chunk in _chunks(bench.loaded, found):
        mine = own.fresh.get((question, chunk.text_hash))
        said = f" · you: {mine.grade if mine.grade is not None else mine.kind}" if mine else ""
        left, right = st.columns([6, 1], vertical_alignment="center")
        with left:
            _chunk(chunk, key, said)
        with right:
            st.button(
                "Open" if mine or not session.may_grade else "Grade",
                key=f"open-{chunk.text_hash[:24]}",
                on_click=_open,
                args=(session, question, key),
                width="stretch",
            )


def _open(session: Session, question: str, key: ChunkKey) -> None:
    session.mode, session.searching = "grade", True
    session.go((question, key))

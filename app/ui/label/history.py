"""History: a reviewer's own judgments, and all events of one item."""

from __future__ import annotations

import streamlit as st

from app.core.judgments import Judgment
from app.core.model import ChunkKey
from app.core.trec import key_of
from app.flows.item_history import Standing, own_judgments, own_standings
from app.flows.loading import Loaded
from app.flows.wording import count
from app.ui import state, text
from app.ui.label import history_item
from app.ui.label.history_item import quotes, standing_words, what
from app.ui.label.leaving import keep_history, leave_grading
from app.ui.label.said import link
from app.ui.label.times import when

_ANY = "*"
_ON_A_PAGE = 25
#: Characters of a question in the list.
_MOST = 160


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    st.html(history_item.STYLE)
    left = leave_grading(loaded.collection.name, reviewer)
    question, chunk = st.query_params.get("question"), st.query_params.get("chunk")
    key = key_of(chunk) if chunk is not None else None
    if question is not None and chunk is not None and key is not None:
        keep_history(question, chunk)
        state.settle()
        history_item.show(loaded, reviewer, question, key)
        return
    asked, words = _narrow(loaded)
    state.settle()
    if chunk is not None:
        text.notice(f"The link names {chunk!r} as chunk, which is not there.")
    _own(loaded, reviewer, asked, words, left)


def _narrow(loaded: Loaded) -> tuple[str, str]:
    """The question and the words the list is narrowed to, blank for anything."""
    _follow_question()
    left, right = st.columns([3, 2])
    with left:
        names = [_ANY, *loaded.questions]
        shown = {name: f"{name}: {one.text}" for name, one in loaded.questions.items()}
        asked = state.pick("Question", names, "of", words={_ANY: "all questions", **shown})
    with right:
        typed = st.text_input(
            "Search", key="said", bind="query-params", type="search",
            placeholder="Words of a question, a chunk's id or a note", icon=":material/search:",
        )  # fmt: skip
    return "" if asked == _ANY else asked, (typed or "").strip()


def _follow_question() -> None:
    """A link's `?question=` alone narrows the list; what another view left there does not."""
    asked = st.query_params.get("question")
    if asked is None or asked == st.session_state.get("url-question"):
        return
    if asked != st.session_state.get("followed-question"):
        st.session_state["followed-question"] = st.query_params["of"] = asked


def _own(
    loaded: Loaded, reviewer: str, asked: str, words: str, left: tuple[str, ChunkKey] | None
) -> None:
    found = own_judgments(loaded, reviewer, asked, words)
    narrowed = " like that" if asked or words else ""
    text.section(f"{count(len(found), 'judgment')} of yours{narrowed}")
    if left is not None:
        onward = link(
            "History of the item that was on screen", loaded.collection.name, reviewer, "history",
            *left,
        )  # fmt: skip
        st.html(f'<p class="desk-meta desk-onward">{onward}</p>')
    if not found:
        text.notice(
            "None is like that. Clear the search, or pick all questions."
            if narrowed
            else "You have judged nothing yet. What you say under Grade is listed here."
        )
        return
    page = 1
    if len(found) > _ON_A_PAGE:
        # Another list is another widget: a page number means nothing there.
        page = st.pagination(-(-len(found) // _ON_A_PAGE), key=f"own-page-{asked}-{words}")
    rows = found[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]
    standings = own_standings(loaded, reviewer, rows)
    body = "".join(_row(loaded, reviewer, event, standings.get(event.event)) for event in rows)
    st.html(f'<ol class="desk-history" aria-label="Your judgments, the last first">{body}</ol>')


def _row(loaded: Loaded, reviewer: str, event: Judgment, standing: Standing | None) -> str:
    """One judgment: when, what, how it stands; its item, which it leads to; the note."""
    name, key = loaded.collection.name, event.key
    question = loaded.questions.get(event.question)
    words = " ".join((question.text if question else event.question).split())
    words = words if len(words) <= _MOST else words[: _MOST - 1] + "…"
    if question is not None and key in loaded.corpus.eligible:
        item = link(words, name, reviewer, "grade", event.question, key)
    else:
        item = text.escape(words)
    whole = link("all its events", name, reviewer, "history", event.question, key)
    note = f'<p class="desk-note">{text.escape(event.note)}</p>' if event.note else ""
    return (
        f'<li><p class="desk-when">{text.escape(when(event.time))}</p><div>'
        f'<p class="desk-row">{what(event, loaded.collection.settings.grade_words)}'
        f"{standing_words(standing)}</p><p>{item}</p>"
        f'<p class="desk-meta">{text.escape(key.short())} · {whole}</p>{note}'
        f"{quotes(event)}</div></li>"
    )

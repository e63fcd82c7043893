"""Grade: one question, one chunk's literal text, one key a judgment.

What this view is given is a `Turn`: plain records that hold nothing of ranks, scores or what others
have said.
"""

from __future__ import annotations

import streamlit as st

from app.core.corpus import front_matter_end
from app.core.documents import document_of, neighbours
from app.core.highlight import question_words
from app.core.model import Chunk
from app.core.sentences import sentences
from app.core.text import shown
from app.core.trec import items_of
from app.flows.bench import Bench
from app.flows.labeling import Item
from app.flows.loading import Loaded, require_questions
from app.flows.pooling import deciding_pairs
from app.flows.turn import Turn
from app.flows.worklist import listed
from app.ui import identity, seen, state, text
from app.ui.label import bar, drafts, finding, panel, practising, reading, renewing
from app.ui.label.session import Session, asked_before, session_of


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    require_questions(loaded)
    name = loaded.collection.name
    session = session_of(name, reviewer)
    before = session.url
    refused = session.read_url(st.query_params) or session.drop_unknown(
        loaded.questions, loaded.corpus.eligible
    )
    passed_over = _items(loaded, session)
    state.settle()
    if refused is not None:
        text.notice(f"The link names {shown(refused[1])} as {refused[0]}, which is not there.")
    if passed_over is not None:
        text.notice(passed_over)
    bench = state.bench(name, renewed=True)
    _deciding(loaded, session, linked=session.url != before and session.at is not None)
    panel.doubts(bench)
    _work(name, reviewer)
    # The bar lies over the page.
    st.html('<div class="desk-room"></div>')


def _deciding(loaded: Loaded, session: Session, *, linked: bool) -> None:
    """What can still decide a comparison comes first, where a link asks for that; `linked`: it
    names an item as well, which is shown.
    """
    asked = st.query_params.get("compare")
    if asked == session.compare:
        return
    session.compare, session.deciding = asked, None
    if asked:
        first, _, second = asked.partition("..")
        session.deciding = deciding_pairs(loaded, first, second)
        if not linked:
            session.at, session.question, session.pinned = None, None, False


def _items(loaded: Loaded, session: Session) -> str | None:
    """The items of a link come alone, where one asks for them; returns what is passed over of them.

    A word that was followed already is not followed again.
    """
    asked, question = st.query_params.get("items"), st.query_params.get("question")
    if asked == session.link:
        elsewhere, items = session.question, session.items
        if items is not None and session.at is None and elsewhere not in (None, items.question):
            session.leave_items()  # by the browser's back button, to another question
            session.begin(elsewhere or "")
        return None
    again = asked is not None and asked_before(asked)
    session.items, session.link = None, asked
    if asked is None:
        return None
    keys = items_of(asked)
    if question in loaded.questions and question is not None and keys is not None:
        found, told = listed(loaded, question, keys)
        if found is not None:
            session.show_items(found)
            return told
    elif keys is None:
        told = f"The link names {shown(asked)} as items, which is not there."
    elif question is None and not again:
        told = "The link names items but no question to judge them for."
    else:
        told = None  # the question is told already, or it was another reviewer's link
    session.drop_link()
    return told


@st.fragment
def _work(name: str, reviewer: str) -> None:
    """All that changes with a judgment; what is around it is not drawn again."""
    with state.guarded():
        bench, session = state.bench(name), session_of(name, reviewer)
        # A link to an item is followed at once; practice is for who comes to begin.
        begins = session.at is None and not session.pinned and not session.turn
        if begins and practising.offered(bench, reviewer):
            practising.show(bench, name, reviewer)
            return
        if session.renewing:
            renewing.show(bench, name, reviewer)
            bar.status_only(session)
            return
        reason = identity.why_not_grade(reviewer)
        session.may_grade = reason is None
        turn = bench.turn(reviewer, session.wish())
        session.show(turn)
        session.write_url()
        left, right = st.columns([3, 1], gap="large")
        # Places of their own: where the head grows or shrinks, the text below it is replaced and
        # never stands there twice for a moment.
        top, head, body = left.container(), left.container(), left.container()
        with top:
            panel.waiting(session, turn)
            panel.of_link(session, turn)
        if turn.item is not None:
            with head:
                _head(bench, session, turn, turn.item, reviewer)
            with body:
                _body(bench, session, turn, turn.item, reviewer)
        else:
            with head:
                if turn.unreturned:
                    _unreturned(bench, session, turn, reviewer)
                else:
                    panel.nothing_left(bench, session, turn)
        with right:
            panel.side(bench, session, turn, name, reviewer)
        bar.draw(bench, session, turn, name, reviewer, reason)


def _head(bench: Bench, session: Session, turn: Turn, item: Item, reviewer: str) -> None:
    """The question, and what is to be known of the reviewer's own earlier judgments."""
    asked = _question(bench, item.question)
    if session.mode == "search":
        st.html(asked)
        return
    sentences_of = [*panel.own_words(turn)]
    if turn.own is None and seen.has(bench.loaded.collection.name, reviewer, item.pair):
        sentences_of.append(
            "You have seen what others said of this pair: your judgment will be kept as not blind."
        )
    # One element: each costs the browser some milliseconds.
    st.html(asked + "".join(map(text.notice_of, sentences_of)))
    if turn.stale is not None:
        renewing.beside(turn.stale)


def _question(bench: Bench, name: str) -> str:
    category = bench.loaded.collection.settings.queue.show_category
    return panel.question_of(bench.loaded.questions[name], category=category)


def _body(bench: Bench, session: Session, turn: Turn, item: Item, reviewer: str) -> None:
    """The chunk, its document, or a search."""
    draft = _begun(bench.loaded, session, turn, item)
    if session.mode == "search":
        # The item stays on screen for the keys that lead back to it.
        st.html(f'<span data-item="{item.id}"></span>')
        finding.draw(bench, session, reviewer, item.question)
    elif session.document:
        _document(bench.loaded, item)
    else:
        _chunk(bench.loaded, session, item, draft)


def _unreturned(bench: Bench, session: Session, turn: Turn, reviewer: str) -> None:
    """A question nothing was returned for yet: only a search finds something to judge."""
    asked = turn.question or ""
    st.html(_question(bench, asked))
    text.notice(
        "Nothing was returned for this question yet, so there is nothing to judge: search for "
        f"evidence here, or run desk evaluate {bench.loaded.collection.name}."
    )
    finding.draw(bench, session, reviewer, asked)


def _begun(loaded: Loaded, session: Session, turn: Turn, item: Item) -> drafts.Draft:
    """The draft of what is on screen: begun from the reviewer's own judgment of it, if any."""
    draft, own = session.draft(item), turn.own
    if draft.of != (own.event if own else None):
        made = drafts.draft_from(loaded, item, own, own.event) if own else drafts.Draft()
        draft = session.drafts[item.id] = made
    return draft


def _chunk(loaded: Loaded, session: Session, item: Item, draft: drafts.Draft) -> None:
    """The chunk's text, and where it is asked for, what stands before and after it."""
    asked = loaded.questions[item.question]
    words = question_words(f"{asked.text} {asked.need or ''}", item.text) if session.words else ()
    evidence = session.mode == "evidence" or bool(draft.sentences)
    body = reading.marked(
        item.text,
        sentences=sentences(item.text) if evidence else (),
        chosen=draft.sentences,
        words=words,
    )
    before, after = neighbours(loaded.corpus, item.key) if session.around else (None, None)
    kind = "desk-choosing" if session.mode == "evidence" else ""
    st.html(
        f'<p class="desk-meta">{text.origin(item.title, item.section, item.key.document)}</p>'
        f"{_beside(before, 'before')}"
        f'<div class="desk-chunk desk-judged {kind}" dir="auto" data-testid="chunk" '
        f'data-item="{item.id}">{body}</div>'
        f"{_beside(after, 'after')}"
    )


def _beside(chunk: Chunk | None, where: str) -> str:
    if chunk is None:
        return ""
    return (
        f'<div class="desk-chunk desk-beside" dir="auto"><p class="desk-meta">The chunk {where}</p>'
        f"{text.literal(chunk.text, 2_000)}</div>"
    )


def _document(loaded: Loaded, item: Item) -> None:
    """The whole document with the chunk marked."""
    found = document_of(loaded.corpus, loaded.collection.source(), item.key)
    most = reading.SHOWN
    front = min(front_matter_end(found.text), found.start)
    begin, end = max(front, found.start - most), min(len(found.text), found.end + most)
    cut_before = f"… {begin:,} characters before\n" if begin > front else ""
    cut_after = f"\n… {len(found.text) - end:,} characters after" if end < len(found.text) else ""
    st.html(
        f'<p class="desk-meta">The whole document, Esc closes it: '
        f"{text.origin(item.title, '', item.key.document)}</p>"
        '<div class="desk-chunk desk-judged desk-whole" dir="auto" data-testid="chunk" '
        f'data-item="{item.id}">{cut_before}{text.escape(found.text[begin : found.start])}'
        f'<span class="desk-here">{text.escape(found.text[found.start : found.end])}</span>'
        f"{text.escape(found.text[found.end : end])}{cut_after}</div>"
    )

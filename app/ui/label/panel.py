"""What stands beside the text: facts, progress, guidelines, what was done last."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import streamlit as st

from app.core.judgments import Judgment
from app.core.model import ChunkKey
from app.core.questions import Question
from app.flows.bench import Bench
from app.flows.labeling import words_of
from app.flows.turn import Linked, Turn
from app.ui import state, text
from app.ui.label import actions
from app.ui.label.said import link
from app.ui.label.session import Session


def doubts(bench: Bench) -> None:
    """What is to be known of the ledger; whose line is refused is for `desk check`."""
    for sentence in bench.notices:
        text.notice(sentence)
    if bench.refused:
        name = bench.loaded.collection.name
        text.notice(
            f"Some lines of the ledger are refused and do not count. See desk check {name}."
        )


def question_of(question: Question, *, category: bool) -> str:
    """The question as HTML: need, the facts a complete answer states, and the category where
    reviewers may see it.
    """
    body = text.heading_of(question.text, question.need)
    body += f'<p class="desk-meta">{text.escape(question.category)}</p>' if category else ""
    if question.facts:
        rows = "".join(f"<li>{text.escape(fact.text)}</li>" for fact in question.facts)
        body += '<p class="desk-meta">A complete answer states:</p>'
        body += f'<ul class="desk-facts">{rows}</ul>'
    return body


def own_words(turn: Turn) -> Iterator[str]:
    """What the reviewer has said of the item already, in sentences."""
    if turn.elsewhere is not None:
        yield f"Every pair of “{turn.elsewhere}” is judged by you; this is another question."
    if turn.own is not None:
        time = actions.clock(turn.own.time)
        yield f"You judged this at {time}: {words_of(turn.own)}. Grade it again to change that."
    elif turn.put_off:
        yield "You put this off. It comes after everything else."


def nothing_left(bench: Bench, session: Session, turn: Turn) -> None:
    """Done, nothing free now, or nothing to begin with; each with its own words and next step."""
    count = turn.progress
    if session.items is not None and turn.linked is not None:
        _link_done(bench, session, session.items.question, turn.linked)
        return
    if turn.blocked:
        text.heading(
            "Nothing is free now",
            f"What is left, {count.left:,} pairs, is on other reviewers' screens.",
        )
        st.button("Look again", key="again")
        return
    if not bench.pool.from_runs and not count.total:
        text.heading(
            "Nothing to judge yet",
            "No search has been run over this collection, so there is nothing to judge.",
        )
        text.notice(f"Run one: desk evaluate {bench.loaded.collection.name}")
        return
    if session.scope == "all":
        text.heading("You have judged every pair", "There is nothing here you have not judged.")
        return
    if count.settled < count.total:
        left = count.total - count.settled
        text.heading(
            "Nothing is left for you",
            f"{left:,} pairs still need a judgment by somebody else: two independent ones are "
            "asked for, and you have given yours.",
        )
    else:
        text.heading("All done", f"All {count.total:,} pairs have the judgments they need.")
    if count.mine < count.total:
        st.button(
            f"Give a second opinion on the other {count.total - count.mine:,} pairs",
            key="second-opinions",
            type="primary",
            on_click=_all,
            args=(session,),
        )


def of_link(session: Session, turn: Turn) -> None:
    """Which of the items of a link is on screen; what is open is one press away."""
    linked = turn.linked
    if linked is None or turn.item is None:
        return
    many = f"{linked.total:,} of the link"
    words = f"Item {linked.place:,} of {many}" if linked.place else f"Beside the {many}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        text.caption(words)
        st.button("Leave the link", key="leave-items", type="tertiary", on_click=_leave,
                  args=(session,))  # fmt: skip


def _link_done(bench: Bench, session: Session, question: str, linked: Linked) -> None:
    """Every item of a link is judged: back to where it came from, or on with the queue."""
    many = f"{linked.total:,} items" if linked.total != 1 else "item"
    verb = "are" if linked.total != 1 else "is"
    asked = bench.loaded.questions.get(question)
    text.heading(
        f"The {many} of the link {verb} judged."
        if linked.total
        else "The items of the link are not there any more.",
        asked.text if asked else None,
    )
    if asked is not None:
        back = state.back_to_retrieve(bench.loaded.collection.name, question)
        st.html(
            f'<p><a href="{back}" target="_self">Back to the question</a>, on page Retrieve.</p>'
        )
    st.button("Go on with what is open", key="leave-items", type="primary", on_click=_leave,
              args=(session,))  # fmt: skip


def _leave(session: Session) -> None:
    session.leave_items()


def _all(session: Session) -> None:
    session.scope, session.at, session.question = "all", None, None


def side(bench: Bench, session: Session, turn: Turn, name: str, reviewer: str) -> None:
    """Progress, where to go, guidelines, and the last judgments."""
    with st.popover("Go to a question", key="go", on_change="rerun") as go:
        # A list of thousands is not sent with every chunk.
        if go.open:
            _questions(bench, session)
    _progress(turn, session)
    guidelines(bench)
    _strip(turn, bench)
    if (waiting := state.unpublished(bench.loaded.collection)) is not None:
        st.caption(waiting.words, help=waiting.help)


def _questions(bench: Bench, session: Session) -> None:
    """A question to go to, by some of its words."""
    names = list(bench.loaded.questions)
    st.selectbox(
        "Question",
        names,
        index=None,
        key="go-question",
        format_func=lambda one: f"{bench.loaded.questions[one].text} ({one})",
        on_change=_go,
        args=(session,),
        placeholder="Type some of its words",
    )


def guidelines(bench: Bench) -> None:
    """How to grade, in a panel that the browser remembers as open or closed."""
    if words := bench.loaded.collection.guidelines():
        text.guidelines(words, key="g")


def waiting(session: Session, turn: Turn) -> None:
    """That judgments of the reviewer do not count until they are confirmed."""
    many = turn.stale_in_all
    if not many:
        return
    words = f"{many} of your judgments wait" if many > 1 else "One of your judgments waits"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        text.caption(f"{words} to be confirmed: what was judged has changed.")
        st.button("Confirm", key="renew", on_click=_renew, args=(session,))


def _renew(session: Session) -> None:
    session.renewing = True


def _go(session: Session) -> None:
    chosen = st.session_state.get("go-question")
    if chosen is not None:
        session.leave_items()
        session.begin(chosen)
        st.session_state["go-question"] = None
        # Open, it would lie over the page and keep the keys.
        st.session_state["go"] = False


def _progress(turn: Turn, session: Session) -> None:
    count = turn.progress
    rows = [
        ("This question", count.question_settled, count.question_total, count.question_mine),
        ("Collection", count.settled, count.total, count.mine),
    ]
    body = "".join(
        f"<p><span>{words}</span> {done:,} of {total:,} settled, {mine:,} by you</p>"
        f'<div class="desk-track" role="img" aria-label="{done:,} of {total:,} settled">'
        f'<i style="width:{100 * done / max(total, 1):.1f}%"></i></div>'
        for words, done, total, mine in rows
    )
    if turn.deciding is not None:
        many = turn.deciding
        words = "1 pair" if many == 1 else f"{many:,} pairs"
        still = f"{words} of the comparison lack a judgment"
        if not many:
            still = "All pairs of the comparison have the judgments they need"
        body += f'<p class="desk-meta">{text.escape(still)}.</p>'
    if (linked := turn.linked) is not None:
        body += f'<p class="desk-meta">The link: {linked.done:,} of {linked.total:,} by you</p>'
    left = ""
    what = "Left for you" if session.scope == "needed" else "Not judged by you"
    if session.may_grade:
        left = f'<p class="desk-meta">{what}: {text.escape(count.estimate)}</p>'
    st.html(f'<div class="desk-progress">{body}{left}</div>')


def _strip(turn: Turn, bench: Bench) -> None:
    """The last judgments of the reviewer, each a link to its item."""
    if not turn.strip:
        return
    rows = "".join(_done(event, bench) for event in turn.strip)
    st.html(
        f'<details class="desk-strip" open><summary>Your last {len(turn.strip)}</summary>'
        f"<ol>{rows}</ol></details>"
    )


def _done(event: Judgment, bench: Bench) -> str:
    loaded = bench.loaded
    question, chunk = loaded.questions.get(event.question), loaded.corpus.chunks.get(event.key)
    # The name as it was typed: its identity would look like somebody else.
    typed = st.query_params.get("reviewer") or event.author
    asked = question.text if question else event.question
    words = chunk.text if chunk else event.key.short()
    return _row(
        event.kind, event.grade, asked, words, loaded.collection.name, typed, event.question,
        event.key,
    )  # fmt: skip


@lru_cache(maxsize=4_096)
def _row(
    kind: str,
    grade: int | None,
    asked: str,
    words: str,
    collection: str,
    reviewer: str,
    question: str,
    key: ChunkKey,
) -> str:
    """One judgment of the strip, which is the same with the next press."""
    mark = str(grade) if kind == "grade" else "l" if kind == "later" else "x"
    colour = f"desk-g{grade}" if kind == "grade" else "desk-unjudged"
    item = link(" ".join(words[:200].split())[:60], collection, reviewer, "grade", question, key)
    return (
        f'<li title="{text.escape(asked)}"><span class="desk-badge {colour}">{mark}</span> '
        f'{item}<span class="desk-meta"> {text.escape(asked)}</span></li>'
    )

"""One question opened: read it or edit it, bring it back; its history."""

from __future__ import annotations

import streamlit as st

from app.core.errors import InvalidInput
from app.core.questions import Question
from app.flows import asking
from app.flows.drafts import Draft, draft_of, effects, fresh_labels, record_of
from app.flows.loading import Loaded
from app.flows.question_list import Listed, history
from app.flows.wording import count
from app.ui import identity, state, text
from app.ui.label import questions_fields as fields
from app.ui.label import questions_panels as panels
from app.ui.label.questions_saved import Place, acting, remember, status

_PART = "edit"


def opened(loaded: Loaded, reviewer: str, row: Listed, *, may: bool) -> None:
    """The question on screen; who may not grade reads it."""
    question = row.question
    _meta(row)
    if may and row.kind != "retired":
        _edit(loaded, reviewer, question)
        panels.unsupported(loaded, reviewer, question)
        panels.retire(loaded, reviewer, question)
    else:
        status(Place(loaded.collection.name, reviewer, question.id))
        _read(question)
        if may:
            _bring_back(loaded, reviewer, question)
    _history(loaded, question)


def _meta(row: Listed) -> None:
    parts = [row.question.id, row.kind]
    parts += [] if row.labels is None else [count(row.labels, "label")]
    st.html(f'<h2 class="desk-section">{text.escape(" · ".join(parts))}</h2>')
    if row.kind == "unknown":
        text.notice("What kind it is is not known: a label is refused. See desk check.")


def _read(question: Question) -> None:
    text.heading(question.text, question.need)
    for one in question.facts:
        text.fact(f"{one.id}: {one.text}")
    parts = [question.category, question.split, question.source, *question.tags]
    text.notice(" · ".join(parts))


def _edit(loaded: Loaded, reviewer: str, question: Question) -> None:
    """The fields, what a change of them does, and a button that saves."""
    before, prefix = _began(loaded, question)
    if before != question:
        text.problem(
            "Somebody has changed this question since you began to edit it: see its history. Yours "
            "is below, not saved."
        )
        here = loaded.collection.name
        with st.container(horizontal=True):
            st.button(
                "Drop mine and show what is there now", key=f"{prefix}-drop",
                on_click=_forget, args=(here, question.id),
            )  # fmt: skip
            st.button(
                "Save mine over it", key=f"{prefix}-over",
                on_click=_save, args=(here, reviewer, question, prefix),
            )  # fmt: skip
    draft = draft_of(before)
    fields.draw(loaded, prefix, draft)
    now = fields.read(prefix, draft)
    if now != draft:
        _tell(loaded, prefix, before, now)
    status(Place(loaded.collection.name, reviewer, question.id, _PART))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Note", key=f"{prefix}-note", placeholder="Why, if it is not plain", width=320
        )
        st.button(
            "Save the question",
            key=f"{prefix}-save",
            type="primary",
            on_click=_save,
            args=(loaded.collection.name, reviewer, before, prefix),
        )


def _tell(loaded: Loaded, prefix: str, before: Question, now: Draft) -> None:
    """What saving would do; a change that makes labels stale is confirmed."""
    try:
        after = record_of(now, before.id, before)
    except InvalidInput as error:
        for sentence in state.sentences(error):
            text.notice(sentence)
        return
    for sentence in effects(loaded, before, after):
        text.notice(sentence)
    if (number := _made_stale(loaded, before, after)) != 0:
        whose = "its labels" if number is None else f"its {count(number, 'label')}"
        st.checkbox(f"Make {whose} stale", key=f"{prefix}-stale")


def _made_stale(loaded: Loaded, before: Question, after: Question) -> int | None:
    """How many labels a change makes stale; None where that is not known."""
    return 0 if before.hash == after.hash else fresh_labels(loaded, before.id)


def _began(loaded: Loaded, question: Question) -> tuple[Question, str]:
    """The question as it was when its editing began, and what the keys of its fields begin with.

    Where nothing was typed yet, that is how it is now.
    """
    key = _key(loaded.collection.name, question.id)
    before: Question = st.session_state.get(key, question)
    draft = draft_of(before)
    if before != question and fields.read(_prefix(key, before), draft) == draft:
        before = question
    st.session_state[key] = before
    return before, _prefix(key, before)


def is_edited(loaded: Loaded, question: Question) -> bool:
    """Whether something was typed into the fields of a question and is not saved."""
    before, prefix = _began(loaded, question)
    draft = draft_of(before)
    return fields.read(prefix, draft) != draft


def _key(collection: str, name: str) -> str:
    return f"editing-{collection}-{name}"


def _prefix(key: str, question: Question) -> str:
    return f"{key}-{question.record_digest[:16]}"


def _forget(collection: str, name: str) -> None:
    """Drop what was typed into the fields of a question."""
    key = _key(collection, name)
    before = st.session_state.pop(key, None)
    if before is not None:
        prefix = _prefix(key, before)
        for one in [k for k in st.session_state if str(k).startswith(prefix)]:
            del st.session_state[one]


def _save(collection: str, reviewer: str, before: Question, prefix: str) -> None:
    place = Place(collection, reviewer, before.id, _PART)
    with acting(place):
        identity.confirm(reviewer)
        loaded = state.load_collection(collection)
        draft = fields.read(prefix, draft_of(before))
        stale = _made_stale(loaded, before, record_of(draft, before.id, before))
        if stale != 0 and not st.session_state.get(f"{prefix}-stale"):
            raise InvalidInput(
                "the change makes labels of the question stale, and that is not confirmed",
                remedy="Tick the box above the button, then save",
            )
        done = asking.edit(
            loaded, reviewer, before, draft,
            note=st.session_state.get(f"{prefix}-note") or "",
            new_category=fields.is_new_category(prefix),
        )  # fmt: skip
        _forget(collection, before.id)
        remember(place, done, f"the question {before.id}")


def _bring_back(loaded: Loaded, reviewer: str, question: Question) -> None:
    st.button(
        "Bring it back", key=f"back-{question.id}", type="primary", on_click=_brought_back,
        args=(loaded.collection.name, reviewer, question),
    )  # fmt: skip


def _brought_back(collection: str, reviewer: str, question: Question) -> None:
    place = Place(collection, reviewer, question.id, _PART)
    with acting(place):
        identity.confirm(reviewer)
        done = asking.bring_back(state.load_collection(collection), reviewer, question)
        remember(place, done, f"{question.id} is asked again")


def _history(loaded: Loaded, question: Question) -> None:
    entries = history(loaded.collection, question.id)
    with st.expander(f"History ({count(len(entries), 'change')})"):
        if not entries:
            text.notice("It is as questions.jsonl has it; nobody has changed it here.")
            return
        rows = [
            [
                one.time[:16].replace("T", " "),
                one.author,
                one.words + ("" if one.counts else " (does not count: see the notes above)"),
                one.note,
            ]
            for one in entries
        ]
        with st.container(key="question-history"):
            text.table(["UTC", "Who", "What", "Note"], rows, frozenset({1, 2, 3}))

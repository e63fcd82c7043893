"""Add questions: one by its fields, or many from a sheet or pasted cells."""

from __future__ import annotations

import hashlib

import streamlit as st

from app.core.errors import InvalidInput
from app.flows import asking
from app.flows.alike import alike
from app.flows.asking_many import Plan, add_planned, plan_file, plan_pasted, plan_words
from app.flows.drafts import Draft, categories
from app.flows.exchange.uploading import MOST_BYTES
from app.flows.loading import Loaded
from app.flows.wording import count
from app.ui import identity, state, text
from app.ui.label import questions_fields as fields
from app.ui.label.questions_saved import Place, acting, remember, status

#: Refused rows and near-duplicates that are told one by one.
_MOST = 50
_PASTED, _FILE = "many-pasted", "many-file"
_ONE, _MANY = "one", "many"


def one(loaded: Loaded, reviewer: str) -> None:
    """Add one question by its fields."""
    number = st.session_state.setdefault("add-number", 0)
    prefix = f"add-{loaded.collection.name}-{number}"
    # No category is chosen beforehand: the first one would be taken without a thought.
    draft = Draft(text="", category="")
    left, _ = st.columns([3, 2])
    with left:
        fields.draw(loaded, prefix, draft)
        # Where the button was when it was pressed: below it, the window's end would hide it.
        status(Place(loaded.collection.name, reviewer, "", _ONE))
        _alike(loaded, prefix, fields.read(prefix, draft).text)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Id", key=f"{prefix}-id", placeholder="made of its first words", width=320
            )
            st.button(
                "Add the question", key=f"{prefix}-save", type="primary",
                on_click=_add, args=(loaded.collection.name, reviewer, draft, prefix),
            )  # fmt: skip


def _alike(loaded: Loaded, prefix: str, words: str) -> None:
    """A question there is that asks almost the same; that the new one does not is confirmed."""
    found = alike(loaded, words)
    if found is None:
        return
    other, was = found.question, " It was retired." if found.retired else ""
    text.notice(f"{other.id} asks almost the same: “{other.text}”{was}")
    st.checkbox("The new question asks something else", key=_apart(prefix, other.id))


def _apart(prefix: str, other: str) -> str:
    return f"{prefix}-apart-{other}"


def _add(collection: str, reviewer: str, draft: Draft, prefix: str) -> None:
    place = Place(collection, reviewer, "", _ONE)
    fields.tried(prefix)
    with acting(place):
        identity.confirm(reviewer)
        typed = fields.read(prefix, draft)
        name = st.session_state.get(f"{prefix}-id") or ""
        loaded = state.load_collection(collection)
        found = alike(loaded, typed.text)
        if found and not st.session_state.get(_apart(prefix, found.question.id)):
            raise InvalidInput(
                f"the question {found.question.id} asks almost the same",
                remedy="Read it below; if yours asks something else, tick the box, then add",
            )
        done = asking.add(
            loaded, reviewer, [_named(typed, name)], new_categories=fields.is_new_category(prefix)
        )
        st.session_state["add-number"] += 1
        added = done.events[0].question
        remember(place, done, f"the question {added} is added")
        state.show_question(added)


def _named(draft: Draft, name: str) -> Draft:
    return Draft(
        draft.text, draft.category, draft.need, draft.facts, draft.tags, draft.source, draft.split,
        name,
    )  # fmt: skip


def many(loaded: Loaded, reviewer: str) -> None:
    """Add many: what rows would do is told first, and written as the user says."""
    number = st.session_state.setdefault("many-number", 0)
    text.notice(
        "The first row names the columns: text, category, need, facts, tags, source, split, id; "
        "only text is needed. One column of questions alone needs no name."
    )
    left, right = st.columns(2)
    with left:
        st.text_area("Cells pasted from a spreadsheet", key=f"{_PASTED}-{number}", height=160)
    with right:
        st.file_uploader(
            "Or a file", type=["csv", "tsv", "xlsx"], key=f"{_FILE}-{number}",
            max_upload_size=MOST_BYTES // 10**6,
        )  # fmt: skip
        known = categories(loaded)
        # None is chosen beforehand: it would be that of every row without a thought.
        default = st.selectbox(
            "Category of rows without one", known or ["general"], None,
            key=f"many-category-{loaded.collection.name}-{number}",
            placeholder="None: rows without one are refused",
        )  # fmt: skip
    meant = st.checkbox("Categories that are not in use yet are meant", key="many-new-categories")
    source = _source(number)
    if source is None:
        status(Place(loaded.collection.name, reviewer, "", _MANY))
        return
    plan = _plan(loaded, source, default or "", meant or not known)
    _tell(plan)
    _offer(loaded, reviewer, plan, number, _mark(source))


def _source(number: int) -> tuple[str, bytes] | None:
    """What was given: the name of a file, none for pasted cells, and its bytes."""
    file = st.session_state.get(f"{_FILE}-{number}")
    if file is not None:
        return str(file.name), bytes(file.getvalue())
    pasted = st.session_state.get(f"{_PASTED}-{number}") or ""
    return ("", pasted.encode("utf-8", "backslashreplace")) if pasted.strip() else None


def _mark(source: tuple[str, bytes] | None) -> str:
    return hashlib.sha256(repr(source).encode()).hexdigest()


def _plan(loaded: Loaded, source: tuple[str, bytes], category: str, meant: bool) -> Plan:
    """The rows tried; tried again only where they, a choice or the questions have changed."""
    asked = (_mark(source), category, meant, loaded.collection.question_signature())
    known = st.session_state.get("many-plan")
    if known is not None and known[0] == asked:
        plan: Plan = known[1]
        return plan
    name, data = source
    plan = (
        plan_file(loaded, name, data, category=category, new_categories=meant)
        if name
        else plan_pasted(loaded, data.decode(), category=category, new_categories=meant)
    )
    st.session_state["many-plan"] = (asked, plan)
    return plan


def _tell(plan: Plan) -> None:
    text.section(plan_words(plan))
    for note in plan.outcome.notes:
        text.notice(note)
    refused = plan.outcome.refused.problems
    for found in refused[:_MOST]:
        text.notice(str(found))
    if len(refused) > _MOST:
        text.notice(f"And {len(refused) - _MOST:,} more.")
    if plan.near:
        rows = [
            [str(one.line), one.text, one.other, one.other_text, f"{one.overlap:.2f}"]
            for one in plan.near[:_MOST]
        ]
        text.section("Almost like another one")
        header = ["Line", "New", "Like", "Its text", "Words shared"]
        text.table(header, rows, frozenset({1, 2, 3}))
        if len(plan.near) > _MOST:
            text.notice(f"And {len(plan.near) - _MOST:,} more.")


def _offer(loaded: Loaded, reviewer: str, plan: Plan, number: int, mark: str) -> None:
    refused, near = len(plan.outcome.refused), len(plan.near)
    skip_refused = refused > 0 and st.checkbox(
        f"Leave out the {count(refused, 'refused row')}", key=f"many-skip-refused-{mark}"
    )
    skip_near = near > 0 and st.checkbox(
        f"Leave out the {count(near, 'row')} almost like another one", key=f"many-skip-near-{mark}"
    )
    left = len(plan.new) - (near if skip_near else 0)
    if refused and not skip_refused:
        text.notice("Nothing can be added while rows are refused: mend them, or leave them out.")
    if not left:
        text.notice("There is nothing to add.")
    st.button(
        f"Add {count(left, 'question')}",
        key=f"many-add-{mark}",
        type="primary",
        disabled=not left or bool(refused and not skip_refused),
        on_click=_add_many,
        args=(loaded.collection.name, reviewer, plan, number, mark, skip_refused, skip_near),
    )
    status(Place(loaded.collection.name, reviewer, "", _MANY))


def _add_many(
    collection: str,
    reviewer: str,
    plan: Plan,
    number: int,
    mark: str,
    skip_refused: bool,
    skip_near: bool,
) -> None:
    place = Place(collection, reviewer, "", _MANY)
    with acting(place):
        identity.confirm(reviewer)
        if _mark(_source(number)) != mark:
            raise InvalidInput(
                "the rows have changed since they were tried", remedy="Look at them, then add"
            )
        loaded = state.load_collection(collection)
        done = add_planned(loaded, reviewer, plan, skip_refused=skip_refused, skip_near=skip_near)
        st.session_state["many-number"] += 1
        words = f"{count(len(done.events), 'question')} added"
        remember(place, done, words)
        state.show_question(done.events[0].question)

"""Questions: look through them, open one to change it, add one or many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.flows.loading import Loaded
from app.flows.question_list import KINDS, Listed, Wanted, counts_words, listed, narrowed
from app.flows.wording import count
from app.ui import identity, state, text
from app.ui.label import leaving, questions_add, questions_edit, questions_saved

_TASKS = {"list": "Look through", "one": "Add one", "many": "Add many"}
_ANY = "*"
_ON_A_PAGE = 20
#: Characters of a question in the list.
_MOST = 140
#: Rows of the list begin at the left and wrap.
_STYLE = """<style>
.st-key-question-list button { justify-content: flex-start; text-align: left; padding: .1rem 0;
  min-height: 0; white-space: normal; }
.st-key-question-list button > div { justify-content: flex-start; width: 100%; }
.st-key-question-list button p { white-space: normal; overflow-wrap: anywhere; line-height: 1.4; }
.st-key-question-history th { white-space: nowrap; }
.desk-listed { color: light-dark(#51606e, #a9b6c2); font-size: .84rem; margin: 0 0 .35rem;
  overflow-wrap: anywhere; }
</style>"""


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    reason = identity.why_not_grade(reviewer)
    task = state.pick("Task", list(_TASKS), "task", words=_TASKS, control=_segments)
    if reason is not None:
        text.notice(reason)
    for sentence in loaded.collection.asked().notices:
        text.notice(sentence)
    if task == "list":
        _look_through(loaded, reviewer, may=reason is None)
        return
    leaving.leave_item(loaded.collection.name, reviewer)
    state.settle()
    if reason is None:
        add = questions_add.one if task == "one" else questions_add.many
        add(loaded, reviewer)


def _segments(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    chosen = st.segmented_control(
        label, options, key=key, format_func=words, required=True, label_visibility="collapsed"
    )
    return str(chosen)


def _look_through(loaded: Loaded, reviewer: str, *, may: bool) -> None:
    rows = listed(loaded)
    if not rows:
        state.settle()
        state.show_failures()
        text.notice(
            "There are no questions yet. Add one or many above, or take in a file: desk import "
            f"{loaded.collection.name} questions FILE."
        )
        return
    st.html(_STYLE)
    wanted = _narrow(rows)
    found = narrowed(rows, wanted)
    known = {row.question.id: row for row in rows}
    first = found[0].question.id if found else None
    name = state.pick("Question", list(known), "question", first, control=_opened)
    state.settle()
    leaving.leave_chunk(loaded.collection.name, reviewer)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _list(rows, found, name)
    # Stays in sight while the list is scrolled.
    with right, st.container(key="question-open"):
        row = known[name]
        if row in found:
            questions_edit.opened(loaded, reviewer, row, may=may)
        else:
            _not_listed(loaded, reviewer, row, may=may)
        # What could not be told where it was asked for, for that is gone.
        state.show_failures()


def _not_listed(loaded: Loaded, reviewer: str, row: Listed, *, may: bool) -> None:
    """A question that the list leaves out is not edited: which one is open must be plain."""
    name = row.question.id
    if row.kind == "retired":
        text.notice(f"{name} is not in the list: it is retired.")
        questions_edit.opened(loaded, reviewer, row, may=may)
        return
    text.section("No question chosen")
    questions_saved.status(questions_saved.Place(loaded.collection.name, reviewer, name))
    text.notice(
        f"Choose one in the list. The question {name} is not in it: the search or a filter leaves "
        "it out."
    )
    if questions_edit.is_edited(loaded, row.question):
        text.notice("What you typed there is not saved. It is kept while this page is open.")
    st.button("Show all questions", key="questions-all", on_click=_show_all)


def _show_all() -> None:
    st.session_state["words"] = ""
    for key in ("category", "kind", "split", "source"):
        st.session_state[f"pick-{key}"] = st.session_state[f"kept-{key}"] = _ANY


def _narrow(rows: Sequence[Listed]) -> Wanted:
    """The filters; what is picked stands in the URL."""
    categories = sorted({row.question.category for row in rows})
    words, *places = st.columns([1.9, 1.3, 1.3, 1.2, 1.2])
    with words:
        typed = st.text_input(
            "Search", key="words", bind="query-params", type="search",
            placeholder="Words of a question", icon=":material/search:",
        )  # fmt: skip
    picked = {}
    for place, (label, key, options, none) in zip(
        places,
        (
            ("Category", "category", categories, "all categories"),
            ("Kind", "kind", _kinds(rows), "all but retired"),
            ("Split", "split", ["development", "held-out"], "both splits"),
            ("Source", "source", ["expert", "log", "synthetic"], "all sources"),
        ),
        strict=True,
    ):
        with place:
            shown_as: Mapping[str, str] = {_ANY: none}
            chosen = state.pick(label, [_ANY, *options], key, words=shown_as)
            picked[key] = "" if chosen == _ANY else chosen
    return Wanted(words=(typed or "").strip(), **picked)


def _kinds(rows: Sequence[Listed]) -> list[str]:
    there = {row.kind for row in rows}
    return [kind for kind in KINDS if kind in there]


def _opened(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    """The list below picks it; here it is only read."""
    return str(st.session_state[key])


def _list(rows: Sequence[Listed], found: Sequence[Listed], name: str) -> None:
    text.notice(counts_words(rows) + ".")
    if not found:
        text.notice("No question is like that. Clear the search or a filter above.")
        return
    if len(found) < sum(row.kind != "retired" for row in rows):
        text.notice(f"{count(len(found), 'question')} shown.")
    pages = -(-len(found) // _ON_A_PAGE)
    page = 1
    if pages > 1:
        # Another list is another widget: a page number means nothing there.
        page = st.pagination(pages, key=f"questions-{pages}-{found[0].question.id}")
    with st.container(key="question-list", gap="xxsmall"):
        for row in found[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]:
            _row(row, is_open=row.question.id == name)


def _row(row: Listed, *, is_open: bool) -> None:
    question = row.question
    words = question.text if len(question.text) <= _MOST else question.text[: _MOST - 1] + "…"
    st.button(
        text.plain_label(" ".join(words.split())),
        key=f"open-{question.id}",
        type="tertiary",
        icon=":material/chevron_right:" if is_open else None,
        width="stretch",
        on_click=state.show_question,
        args=(question.id,),
    )
    parts = [question.id, question.category, row.kind]
    parts += [count(row.labels, "label")] if row.labels else []
    parts += ["held-out"] if question.split == "held-out" else []
    told = text.escape(" · ".join(parts))
    st.html(f'<p class="desk-listed">{told}{" · open" if is_open else ""}</p>')

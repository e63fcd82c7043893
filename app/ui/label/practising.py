"""Practice items before the first grade: graded like any other, then explained."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app.flows.bench import Bench
from app.flows.practice import PracticeItem, finish, has_practised, practice_items
from app.ui import identity, state, text
from app.ui.label import keys, panel


def offered(bench: Bench, reviewer: str) -> bool:
    """Whether the reviewer is new here, and may grade: then practice comes first."""
    done = st.session_state.get("practised", set())
    name = bench.loaded.collection.name
    if (name, reviewer) in done or identity.why_not_grade(reviewer) is not None:
        return False
    if st.session_state.get("practising") == (name, reviewer):
        return True
    if has_practised(bench.loaded, reviewer):
        _done(name, reviewer)
        return False
    return bool(practice_items(bench.loaded.collection))


def show(bench: Bench, name: str, reviewer: str) -> None:
    """The offer, then one item after the other, then the result."""
    items = practice_items(bench.loaded.collection)
    given: dict[str, int] = st.session_state.setdefault(f"practice-{name}-{reviewer}", {})
    if st.session_state.get("practising") != (name, reviewer):
        _offer(name, reviewer, len(items))
        return
    number = st.session_state.setdefault("practice-at", 0)
    if number >= len(items):
        _result(items, given, name, reviewer)
        return
    left, right = st.columns([3, 1], gap="large")
    with right:
        panel.guidelines(bench)
    with left:
        _item(bench, items[number], number, len(items), given, name, reviewer)


def _offer(name: str, reviewer: str, many: int) -> None:
    text.heading(
        "Welcome. Practise first?",
        f"{many} short items with explained grades, about two minutes. They label nothing, and "
        "nobody is told how you did.",
    )
    with st.container(horizontal=True):
        st.button(
            f"Practise {many} items", key="practise", type="primary", on_click=_begin,
            args=(name, reviewer),
        )  # fmt: skip
        st.button("Start grading", key="skip-practice", on_click=_skip, args=(name, reviewer))
    state.show_failures()


def _item(
    bench: Bench,
    item: PracticeItem,
    number: int,
    many: int,
    given: dict[str, int],
    name: str,
    reviewer: str,
) -> None:
    text.caption(f"Practice {number + 1} of {many}")
    text.heading(item.question, item.need)
    st.html(
        f'<div class="desk-chunk" dir="auto" data-testid="chunk" '
        f'data-item="practice-{item.id}">{text.escape(item.text)}</div>'
    )
    grade = given.get(item.id)
    if grade is not None:
        same = "as we would" if grade == item.grade else f"we would give {item.grade}"
        text.section(f"You gave {grade}, {same}")
        text.plain(item.why)
    acts = {str(one): f"give-{one}" for one in bench.loaded.collection.settings.grade_words}
    turn = 2 * number + (grade is not None)
    with st.container(key="bar", gap="xxsmall"), st.container(horizontal=True, gap="small"):
        if grade is None:
            for one, words in bench.loaded.collection.settings.grade_words.items():
                st.button(
                    f"**{one}** {text.plain_label(words)}",
                    key=f"practice-{one}-{item.id}",
                    on_click=_give,
                    args=(given, item.id, one),
                )
        else:
            last = number + 1 == many
            st.button(
                "**→** See the result" if last else "**→** Next",
                key=f"practice-next-{item.id}",
                type="primary",
                on_click=_next,
            )
        st.button(
            "Stop practising", key=f"practice-stop-{item.id}", type="tertiary", on_click=_skip,
            args=(name, reviewer),
        )  # fmt: skip
        keys.listen(
            f"practice-{item.id}",
            turn,
            "practice",
            acts if grade is None else {"ArrowRight": "next", "Enter": "next"},
            partial(_press, given, item.id),
        )


def _result(
    items: tuple[PracticeItem, ...], given: dict[str, int], name: str, reviewer: str
) -> None:
    right = sum(given.get(item.id) == item.grade for item in items)
    text.heading(
        f"{right} of {len(items)} as explained",
        "Where you differed, look into the guidelines: they decide, not these items.",
    )
    rows = [
        [item.question, str(given.get(item.id, "-")), str(item.grade), item.why] for item in items
    ]
    text.table(["Question", "You", "We", "Why"], rows, words=frozenset({3}))
    st.button(
        "Start grading", key="end-practice", type="primary", on_click=_end,
        args=(name, reviewer, dict(given)),
    )  # fmt: skip
    state.show_failures()


def _press(given: dict[str, int], item: str) -> None:
    found = keys.pressed()
    if found is None or found.get("item") != f"practice-{item}":
        return
    act = str(found.get("act"))
    if act == "next":
        _next()
    else:
        _give(given, item, int(act.removeprefix("give-")))


def _give(given: dict[str, int], item: str, grade: int) -> None:
    given.setdefault(item, grade)


def _next() -> None:
    st.session_state["practice-at"] += 1


def _begin(name: str, reviewer: str) -> None:
    st.session_state["practising"], st.session_state["practice-at"] = (name, reviewer), 0


def _skip(name: str, reviewer: str) -> None:
    with state.acting():
        identity.confirm(reviewer)
        finish(state.load_collection(name), reviewer, {}, skipped=True)
        _done(name, reviewer)


def _end(name: str, reviewer: str, given: dict[str, int]) -> None:
    with state.acting():
        identity.confirm(reviewer)
        finish(state.load_collection(name), reviewer, given)
        _done(name, reviewer)


def _done(name: str, reviewer: str) -> None:
    st.session_state.setdefault("practised", set()).add((name, reviewer))
    st.session_state.pop("practising", None)

"""Practice items before the first grade: graded like any other, then explained."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app.flows.bench import Bench
from app.flows.practice import PracticeItem, finish, has_practised, practice_items
from app.ui import identity, state, text
from app.ui.label import controls, panel
from app.ui.label.controls import Button


def offered(bench: Bench, reviewer: str) -> bool:
    """Whether the reviewer is new here, and may grade: then practice comes first."""
    done = st.session_state.get("practised", set())
    name = bench.loaded.collection.name
    if (name, reviewer) in done or identity.why_not_grade(reviewer) is not None:
        return False
    if (name, reviewer) in _places():
        return True
    if has_practised(bench.loaded, reviewer):
        _done(name, reviewer)
        return False
    return bool(practice_items(bench.loaded.collection))


def _places() -> dict[tuple[str, str], int]:
    """Where everybody is who practises in this session, by collection and reviewer."""
    found: dict[tuple[str, str], int] = st.session_state.setdefault("practising", {})
    return found


def show(bench: Bench, name: str, reviewer: str) -> None:
    """The offer, then one item after the other, then the result."""
    items = practice_items(bench.loaded.collection)
    given: dict[str, int] = st.session_state.setdefault(f"practice-{name}-{reviewer}", {})
    if (name, reviewer) not in _places():
        _offer(name, reviewer, len(items))
        return
    number = _places()[name, reviewer]
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
    words = bench.loaded.collection.settings.grade_words
    if grade is None:
        acts = {str(one): f"give-{one}" for one in words}
        buttons = [
            Button(f"give-{one}", str(one), meaning, "first", once=True)
            for one, meaning in words.items()
        ]
    else:
        acts = {"ArrowRight": "next", "Enter": "next"}
        said = "See the result" if number + 1 == many else "Next"
        buttons = [Button("next", "→", said, "first", once=True)]
    with st.container(key="bar", gap="xxsmall"):
        state.show_failures()
        controls.draw(
            reviewer,
            f"practice-{item.id}",
            2 * number + (grade is not None),
            len(given),
            "practice",
            acts,
            partial(_press, given, item.id, name, reviewer),
            judging=[*buttons, Button("stop", "", "Stop practising")],
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


def _press(given: dict[str, int], item: str, name: str, reviewer: str) -> None:
    found = controls.pressed()
    if found is None or found.get("item") != f"practice-{item}":
        return
    act = str(found.get("act"))
    if act == "stop":
        _skip(name, reviewer)
    elif act == "next":
        _places()[name, reviewer] += 1
    else:
        given.setdefault(item, int(act.removeprefix("give-")))


def _begin(name: str, reviewer: str) -> None:
    _places()[name, reviewer] = 0


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
    _places().pop((name, reviewer), None)

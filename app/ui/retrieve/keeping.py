"""Keep what was tried: a typed question in the collection, changed settings under a name."""

from __future__ import annotations

import streamlit as st

from app.core.errors import InvalidInput, NotReady
from app.flows import asking
from app.flows.alike import alike
from app.flows.configuring import save_configuration
from app.flows.drafts import Draft, categories
from app.flows.loading import Loaded
from app.settings import Configuration
from app.ui import identity, state, text
from app.ui.retrieve.picking import Wanted


def draw(wanted: Wanted) -> None:
    """What can be kept of this run; nothing where all of it is kept already."""
    loaded = wanted.view.loaded
    name, configuration = wanted.configurations[0]
    question, settings = wanted.question is None, wanted.changes.any
    if not question and not settings:
        return
    with st.container(horizontal=True, gap="small"):
        if question:
            with st.popover("Save the question"):
                _question(loaded, wanted.text)
        if settings:
            with st.popover("Save the settings"):
                _settings(loaded, name, configuration, filtered=wanted.view.filtered)


def told() -> None:
    """What was kept last, once."""
    if (words := st.session_state.pop("kept-here", None)) is not None:
        text.saved(words)


def _question(loaded: Loaded, words: str) -> None:
    text.caption("Into the collection, where reviewers can judge what it needs.")
    reviewer = _who("question")
    known = categories(loaded)
    # None is chosen beforehand: the first one would be taken without a thought.
    category = st.selectbox(
        "Category",
        known,
        None,
        key="keep-category",
        accept_new_options=True,
        placeholder="pick one, or type a new one",
    )
    need = st.text_area("What the answer must tell (optional)", key="keep-need", height=80)
    found = alike(loaded, words)
    apart = True
    if found is not None:
        text.notice(f"{found.question.id} asks almost the same: “{found.question.text}”")
        apart = st.checkbox("This one asks something else", key=f"keep-apart-{words}")
    st.button(
        "Save the question",
        key="keep-question",
        type="primary",
        disabled=not (reviewer and category and apart),
        help=None if reviewer and category else "Enter your name and pick a category",
        on_click=_keep_question,
        args=(loaded.collection.name, reviewer, words, category, need),
    )


def _keep_question(collection: str, reviewer: str, words: str, category: str, need: str) -> None:
    with state.acting():
        _confirm("question", reviewer)
        loaded = state.load_collection(collection)
        new = category not in categories(loaded)
        done = asking.add(
            loaded, reviewer, [Draft(text=words, category=category, need=need)], new_categories=new
        )
        name = done.events[0].question
        # It is one of the collection's now: what it needs can be judged.
        state.put("ask", "")
        state.show_question(name)
        st.session_state["kept-here"] = f"The question {name} is saved." + (
            f" {done.notice}" if done.notice else ""
        )


def _settings(loaded: Loaded, name: str, configuration: Configuration, *, filtered: bool) -> None:
    text.caption(f"As a named configuration in data/{loaded.collection.name}/collection.toml.")
    if filtered:
        text.notice(
            "The filter of this run is not part of it: what is eligible belongs to the collection, "
            "for it decides what every score is divided by."
        )
    reviewer = _who("settings")
    chosen = st.text_input("Name", key="keep-name", placeholder=f"{name}-2", max_chars=60)
    st.button(
        "Save the settings",
        key="keep-settings",
        type="primary",
        disabled=not chosen,
        help=None if chosen else "Write a name",
        on_click=_keep_settings,
        args=(loaded.collection.name, reviewer, chosen, configuration),
    )


def _keep_settings(
    collection: str, reviewer: str | None, name: str, configuration: Configuration
) -> None:
    with state.acting():
        if reviewer is not None:
            _confirm("settings", reviewer)
        loaded = state.load_collection(collection)
        save_configuration(loaded.collection, name.strip(), configuration, author=reviewer)
        for key in ("mode", "threshold", "exact", "depth"):
            state.put(key, "")
        state.put("configuration", name.strip())
        st.session_state["kept-here"] = (
            f"The configuration {name.strip()} is saved. It is the one picked now."
        )


def _who(what: str) -> str | None:
    """Who saves: signed in, or a name typed here. `what` is kept; there may be two fields."""
    if (known := identity.signed_in()) is not None:
        text.notice(f"As {known}")
        return known
    return _typed(what, identity.at_screen() or "")


def _confirm(what: str, reviewer: str) -> None:
    """For callbacks: raise NotReady where whoever saves is not at the screen now."""
    if identity.signed_in() is not None:
        identity.confirm(reviewer)
    elif state.reviewer_of(st.session_state.get(f"keep-reviewer-{what}")) != reviewer:
        # A name that was typed comes with the press that followed it.
        raise NotReady("the name was changed", remedy="Nothing was saved: press again")


def _typed(what: str, known: str) -> str | None:
    written = st.text_input("Your name", known, key=f"keep-reviewer-{what}", max_chars=60)
    try:
        reviewer = state.reviewer_of(written)
    except InvalidInput as error:
        for sentence in state.sentences(error):
            text.problem(sentence)
        return None
    if reviewer is not None:
        st.session_state["kept-reviewer"] = written
    return reviewer

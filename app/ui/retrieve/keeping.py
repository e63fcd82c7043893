"""Keep what was tried: a typed question in the collection, changed settings under a name."""

from __future__ import annotations

import streamlit as st

from app.core.errors import InvalidInput
from app.flows import asking
from app.flows.alike import alike
from app.flows.configuring import save_configuration
from app.flows.drafts import Draft, categories
from app.flows.loading import Loaded
from app.settings import Configuration
from app.ui import identity, state, text
from app.ui.retrieve import changing
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
    _who("question")
    # None is chosen beforehand: the first one would be taken without a thought.
    st.selectbox(
        "Category",
        categories(loaded),
        None,
        key="keep-category",
        accept_new_options=True,
        placeholder="pick one, or type a new one",
    )
    st.text_area("What the answer must tell (optional)", key="keep-need", height=80)
    found = alike(loaded, words)
    if found is not None:
        text.notice(f"{found.question.id} asks almost the same: “{found.question.text}”")
        st.checkbox("This one asks something else", key=f"keep-apart-{words}")
    st.button(
        "Save the question",
        key="keep-question",
        type="primary",
        on_click=_keep_question,
        args=(loaded.collection.name, words),
    )


def _keep_question(collection: str, words: str) -> None:
    """What was typed comes with the press that followed it."""
    with state.acting():
        reviewer, category = _confirmed("question"), st.session_state.get("keep-category")
        if reviewer is None:
            raise InvalidInput("your name is missing", remedy="Enter it, then save")
        if not category:
            raise InvalidInput("the category is missing", remedy="Pick or type one, then save")
        loaded = state.load_collection(collection)
        found = alike(loaded, words)
        if found is not None and not st.session_state.get(f"keep-apart-{words}"):
            raise InvalidInput(
                f"the question {found.question.id} asks almost the same",
                remedy="If yours asks something else, say so there, then save",
            )
        draft = Draft(text=words, category=category, need=st.session_state.get("keep-need") or "")
        new = category not in categories(loaded)
        done = asking.add(loaded, reviewer, [draft], new_categories=new)
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
    _who("settings")
    st.text_input("Name", key="keep-name", placeholder=f"{name}-2", max_chars=60)
    st.button(
        "Save the settings",
        key="keep-settings",
        type="primary",
        on_click=_keep_settings,
        args=(loaded.collection.name, configuration),
    )


def _keep_settings(collection: str, configuration: Configuration) -> None:
    with state.acting():
        name = (st.session_state.get("keep-name") or "").strip()
        if not name:
            raise InvalidInput("a name for the settings is missing", remedy="Write one, then save")
        loaded = state.load_collection(collection)
        author = _confirmed("settings")
        save_configuration(loaded.collection, name, configuration, author=author)
        for key in changing.KEYS:
            state.put(key, "")
        state.put("configuration", name)
        st.session_state["kept-here"] = (
            f"The configuration {name} is saved. It is the one picked now."
        )


def _who(what: str) -> None:
    """Who saves: signed in, or a name typed here. `what` is kept; there may be two fields."""
    if (known := identity.signed_in()) is not None:
        text.notice(f"As {known}")
        return
    key = f"keep-reviewer-{what}"
    if key not in st.session_state:
        st.session_state[key] = identity.at_screen() or ""
    written = st.text_input("Your name", key=key, max_chars=60)
    try:
        if state.reviewer_of(written) is not None:
            st.session_state["kept-reviewer"] = written
    except InvalidInput as error:
        for sentence in state.sentences(error):
            text.problem(sentence)


def _confirmed(what: str) -> str | None:
    """For callbacks: who is signed in, else the name as it is typed now; None for a blank one.

    Raises InvalidInput for one that is refused, NotReady where the sign-in has ended.
    """
    return identity.signed_in() or state.reviewer_of(st.session_state.get(f"keep-reviewer-{what}"))

"""Export: downloads that are made when they are asked for; what is unpublished."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.core.errors import DeskError
from app.flows.exchange.downloading import FORMS, Form, counts, file_name, made
from app.flows.loading import Loaded
from app.flows.sharing.publication import status
from app.flows.sharing.publishing_words import status_text
from app.ui import state, text


def show(loaded: Loaded) -> None:
    """Every form of download with what is in it, then what of the labels is unpublished."""
    for sentence in _failures():
        text.problem(sentence)
    _failures().clear()
    text.notice(
        "Labels, qrels and the BEIR folder hold everybody's grades, and labels the notes and names "
        "too. Who reads them grades no longer blind."
    )
    told: set[str] = set()
    for form in FORMS:
        _form(loaded, form, told)
    _unpublished(loaded)


def _form(loaded: Loaded, form: Form, told: set[str]) -> None:
    """One download. Why it cannot be made is said once for all that share the reason."""
    try:
        words, sentences = counts(loaded, form), list[str]()
    except DeskError as error:
        words, sentences = "cannot be made: a line of the ledger is refused", state.sentences(error)
    left, right = st.columns([3, 1], vertical_alignment="center")
    with left:
        st.html(
            f'<p class="desk-said"><b>{text.escape(form.title)}</b> '
            f'<span class="desk-meta">{text.escape(words)}</span></p>'
            f'<p class="desk-meta">{text.escape(form.words)}</p>'
        )
        for sentence in sentences:
            if sentence not in told:
                text.problem(sentence)
                told.add(sentence)
    with right:
        st.download_button(
            text.plain_label(f"Download {form.ending}"),
            data=_maker(loaded, form), file_name=file_name(loaded, form),
            mime="application/octet-stream", key=f"download-{form.ending}", on_click="ignore",
            disabled=bool(sentences), width="stretch",
        )  # fmt: skip


def _maker(loaded: Loaded, form: Form) -> Callable[[], bytes]:
    """Makes the file from the collection as it is when the button is pressed.

    That happens outside a run of the page, so that what fails is told by the next one.
    """
    kept, workspace, failures = state.kept(), state.workspace(), _failures()
    name = loaded.collection.name

    def make() -> bytes:
        try:
            return made(kept.loaded(workspace, name), form)
        except DeskError as error:
            failures.extend(state.sentences(error))
            raise

    return make


def _failures() -> list[str]:
    found: list[str] = st.session_state.setdefault("download-failures", [])
    return found


def _unpublished(loaded: Loaded) -> None:
    """What is not committed: little as the page is drawn, all of it when asked."""
    text.section("Publishing to git")
    waiting = state.unpublished(loaded.collection)
    if waiting is not None:
        st.caption(waiting.words, help=waiting.help)
    text.notice(
        "What is committed others get by git; publishing is for a terminal: "
        f"desk labels publish {loaded.collection.name}"
    )
    if st.button("Say what is unpublished", key="say-unpublished"):
        st.text(status_text(status(loaded.collection.workspace, loaded.collection.name)))

"""Import labels or questions: what a file would do is told first, and written as the user says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from app.core.errors import DeskError, InvalidInput
from app.flows.exchange.importing import Options
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.permitted import limits_of
from app.flows.exchange.uploading import (
    MOST_BYTES,
    MOST_LINES,
    MOST_PACKED,
    Kind,
    Upload,
    pasted,
    require_permitted,
    taken,
    tried,
)
from app.flows.loading import Loaded
from app.flows.wording import count
from app.ui import identity, state, text
from app.ui.label import exchange_options, exchange_told

_KINDS = {"labels": "Labels", "questions": "Questions"}
_TAKES = {
    "labels": "JSON lines of the ledger, a bundle, or rows with question, chunk and grade: JSON "
    "lines, CSV, TSV, XLSX; a file with any other ending is read as TREC qrels.",
    "questions": "JSON lines, CSV, TSV, XLSX or a bundle; only a column text is needed.",
}
_MB = MOST_BYTES // 10**6


def segments(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    """A picker of a few, side by side."""
    chosen = st.segmented_control(
        label, options, key=key, format_func=words, required=True, label_visibility="collapsed"
    )
    return str(chosen)


def pick_kind() -> Kind:
    """What is imported, from the URL (`?what=`)."""
    chosen = state.pick("What", list(_KINDS), "what", words=_KINDS, control=segments)
    return "questions" if chosen == "questions" else "labels"


def show(loaded: Loaded, reviewer: str, kind: Kind) -> None:
    """The file, how it is read, what it would do, and the button that does it."""
    name = loaded.collection.name
    # After an import the fields are new ones: nothing is taken twice by a second click.
    prefix = f"import-{name}-{kind}-{st.session_state.setdefault('import-number', 0)}"
    _told(name)
    text.notice(_TAKES[kind])
    left, right = st.columns(2)
    with left:
        st.file_uploader(
            f"A file of {kind}", key=f"{prefix}-file", max_upload_size=_MB,
            help=f"Up to {_MB} MB ({MOST_PACKED // 10**6} MB of XLSX or ZIP) and {MOST_LINES:,} "
            f"lines. Larger ones: desk import {name} {kind} FILE",
        )  # fmt: skip
    with right:
        st.text_area(
            "Or pasted rows", key=f"{prefix}-pasted", height=110,
            placeholder="The first row names the columns; qrels and JSON lines need no names",
        )  # fmt: skip
    options = _options(prefix, kind)
    upload = _given(prefix, kind)
    if options is None:
        return
    if upload is None:
        text.notice("Nothing is written before you have seen what the file would do.")
        return
    mark = _mark(upload, options)
    found, reason = _try(loaded, reviewer, kind, upload, options, mark)
    if found is not None:
        exchange_told.outcome(found, kind, options)
        _offer(loaded, reviewer, kind, prefix, found, mark, reason)


def _options(prefix: str, kind: Kind) -> Options | None:
    """How the file is to be read; None where that is refused, which is told."""
    try:
        return exchange_options.draw(prefix, kind)
    except InvalidInput as error:
        for sentence in state.sentences(error):
            text.problem(exchange_told.on_page(sentence))
        return None


def _given(prefix: str, kind: Kind) -> Upload | None:
    """The file that was chosen, else what was pasted."""
    keys = st.session_state.get(f"{prefix}-keys")
    file = st.session_state.get(f"{prefix}-file")
    words = st.session_state.get(f"{prefix}-pasted") or ""
    if file is not None:
        upload = Upload(str(file.name), file.getvalue())
    elif words.strip():
        upload = pasted(words, kind)
    else:
        return None
    if keys is not None:
        upload = replace(upload, keys=keys.getvalue(), keys_name=str(keys.name))
    return upload


def _mark(upload: Upload, options: Options) -> str:
    """What was tried, and how: 64 hexadecimal digits."""
    made = hashlib.sha256(repr((upload.name, upload.keys_name, options)).encode())
    for part in (upload.data, upload.keys or b""):
        made.update(hashlib.sha256(part).digest())
    return made.hexdigest()


def _try(
    loaded: Loaded, reviewer: str, kind: Kind, upload: Upload, options: Options, mark: str
) -> tuple[Outcome | None, str | None]:
    """The dry run, and why the reviewer may not do it, None where they may.

    Done again only where the file, a choice, the collection or the reviewer's rights have changed.
    """
    collection = loaded.collection
    signature = collection.source_signature(), collection.label_signature()
    limits = limits_of(collection.workspace, reviewer)
    asked = (collection.name, reviewer, limits, kind, mark, signature)
    known = st.session_state.get("import-plan")
    if known is None or known[0] != asked:
        found: Outcome | None = None
        told: list[str] = []
        reason: str | None = None
        with st.spinner("Reading the file"):
            try:
                found = tried(loaded, kind, upload, options)
            except DeskError as error:
                told = [exchange_told.on_page(sentence) for sentence in state.sentences(error)]
            else:
                reason = _why_not(loaded, reviewer, kind, upload, found)
        known = st.session_state["import-plan"] = (asked, found, told, reason)
    for sentence in known[2]:
        text.problem(sentence)
    plan: tuple[Outcome | None, str | None] = known[1], known[3]
    return plan


def _why_not(
    loaded: Loaded, reviewer: str, kind: Kind, upload: Upload, found: Outcome
) -> str | None:
    try:
        require_permitted(loaded, reviewer, kind, upload, found)
    except InvalidInput as error:
        return " ".join(state.sentences(error))
    return None


def _offer(
    loaded: Loaded,
    reviewer: str,
    kind: Kind,
    prefix: str,
    found: Outcome,
    mark: str,
    reason: str | None,
) -> None:
    """The button, or why it cannot be pressed; `reason` is why the reviewer may not."""
    refused = len(found.refused)
    what = "label" if kind == "labels" else "question"
    skip = refused > 0 and st.checkbox(
        f"Leave out the {count(refused, 'refused row')}", key=f"{prefix}-skip-{mark[:16]}"
    )
    stopped = bool(refused and not skip)
    if reason is not None:
        text.problem(reason)
    elif stopped:
        text.notice("Nothing can be imported while rows are refused: mend them, or leave them out.")
    elif not found.new:
        text.notice("There is nothing to import: no row is new.")
    st.button(
        f"Import {count(found.new, what)}", key=f"{prefix}-import-{mark[:16]}", type="primary",
        disabled=stopped or reason is not None or not found.new, on_click=_import,
        args=(loaded.collection.name, reviewer, kind, prefix, mark, skip),
    )  # fmt: skip


def _import(collection: str, reviewer: str, kind: Kind, prefix: str, mark: str, skip: bool) -> None:
    with state.acting():
        identity.confirm(reviewer)
        options, upload = exchange_options.chosen(prefix, kind), _given(prefix, kind)
        if upload is None or _mark(upload, options) != mark:
            raise InvalidInput(
                "the file or a choice has changed since it was tried",
                remedy="Nothing was written: look at it again, then import",
            )
        loaded = state.load_collection(collection)
        found = taken(loaded, reviewer, kind, upload, replace(options, skip_refused=skip))
        st.session_state["last-import"] = (collection, exchange_told.done(found, kind))
        if found.written:
            st.session_state["import-number"] += 1
            st.session_state.pop("import-plan", None)


def _told(collection: str) -> None:
    """What was imported last, or what failed."""
    state.show_failures()
    here, words = st.session_state.get("last-import", (None, ""))
    if here == collection:
        text.saved(words)

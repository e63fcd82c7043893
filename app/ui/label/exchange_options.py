"""How an imported file is to be read: the options of `desk import`, as fields."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.core.scale import parse_scale
from app.flows.exchange.columns import parse_columns
from app.flows.exchange.importing import Options
from app.flows.exchange.label_rows import Unknown
from app.flows.exchange.labels import IMPORTED
from app.flows.exchange.uploading import Kind

#: The fields, by the options of the command that remedies name.
FIELDS: Mapping[str, str] = {
    "grades": "Grades of another scale",
    "reviewer": "Who judged, where the file names nobody",
    "not-blind": "The rankings were in sight when these labels were given",
    "unknown": "Chunks that are not here",
    "column": "Names of columns",
    "map": "A map of its ids",
    "category": "Category of questions without one",
    "update": "Replace questions that are there",
    "skip-refused": "Leave out the refused rows",
}
_UNKNOWN = {
    "": "kept in qrels, refused elsewhere",
    "keep": "keep: known evidence without a text",
    "skip": "skip",
    "refuse": "refuse",
}


def draw(prefix: str, kind: Kind) -> Options:
    """The fields, and what they say. Raises InvalidInput where one cannot be read."""
    with st.expander("How the file is read"):
        left, right = st.columns(2)
        with left:
            if kind == "labels":
                _labels_left(prefix)
            else:
                st.text_input(FIELDS["category"], value="general", key=f"{prefix}-category")
                st.checkbox(FIELDS["update"], key=f"{prefix}-update")
        with right:
            example = "chunk=passage" if kind == "labels" else "text=utterance"
            st.text_area(
                FIELDS["column"], key=f"{prefix}-columns", height=80,
                placeholder=f"ours=theirs, one a line: {example}",
            )  # fmt: skip
            if kind == "labels":
                st.file_uploader(FIELDS["map"], key=f"{prefix}-keys", max_upload_size=25)
    return chosen(prefix, kind)


def _labels_left(prefix: str) -> None:
    st.text_input(FIELDS["grades"], key=f"{prefix}-grades", placeholder="0=0,1=1,2=1,3=2; -1=skip")
    st.text_input(FIELDS["reviewer"], value=IMPORTED, key=f"{prefix}-reviewer", max_chars=60)
    st.selectbox(
        FIELDS["unknown"], list(_UNKNOWN), key=f"{prefix}-unknown",
        format_func=lambda one: _UNKNOWN[one],
    )  # fmt: skip
    st.checkbox(
        FIELDS["not-blind"],
        key=f"{prefix}-seen",
        help="Such grades count only until a blind one exists.",
    )


def chosen(prefix: str, kind: Kind) -> Options:
    """What the fields say now; for callbacks too. Raises InvalidInput as `draw`."""

    def field(name: str) -> str:
        return str(st.session_state.get(f"{prefix}-{name}") or "").strip()

    columns = parse_columns(line for line in field("columns").splitlines() if line.strip())
    if kind == "questions":
        update = bool(st.session_state.get(f"{prefix}-update"))
        return Options(columns, category=field("category") or "general", update=update)
    unknown: Unknown | None = None
    if (word := field("unknown")) in ("keep", "skip", "refuse"):
        unknown = word  # type: ignore[assignment]
    return Options(
        columns,
        grades=parse_scale(field("grades")) if field("grades") else None,
        reviewer=field("reviewer") or IMPORTED,
        blind=not st.session_state.get(f"{prefix}-seen"),
        unknown=unknown,
    )

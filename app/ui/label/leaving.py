"""From one view of page Label to another: an item in the address that was not asked for there.

The address may name the item on screen under Grade or History. Another view that shows something
else under the same names would leave a question beside a chunk that does not belong to it.
"""

from __future__ import annotations

import streamlit as st

from app.core.model import ChunkKey
from app.ui.label.session import session_of

_HISTORY = "item-in-history"
_SEAT = "seat"


def leave_grading(collection: str, reviewer: str) -> tuple[str, ChunkKey] | None:
    """The item that was on screen under Grade where the address still says so, which it no longer
    does then; None where the address says something else.
    """
    session = session_of(collection, reviewer)
    if session.url[0] is None or _in_address() != session.url:
        return None
    take_out("question", "chunk")
    return session.at


def leave_item(collection: str, reviewer: str) -> None:
    """Take an item out of the address that Grade or History put there."""
    if is_left(collection, reviewer):
        take_out("question", "chunk")


def leave_chunk(collection: str, reviewer: str) -> None:
    """Take the chunk out of the address, for a view that has put its own question there.

    Where that is the one on screen under Grade, Grade goes on with its item.
    """
    take_out("chunk")
    session, question = session_of(collection, reviewer), st.query_params.get("question")
    if session.at is not None and session.at[0] == question:
        session.url = (question, None)


def change_seat(collection: str, reviewer: str) -> None:
    """Somebody else sat down, or another collection was picked: the item in the address is the one
    before's, and no link that was followed.
    """
    before = st.session_state.get(_SEAT)
    st.session_state[_SEAT] = (collection, reviewer)
    if before not in (None, (collection, reviewer)) and is_left(*before):
        take_out("question", "chunk")


def keep_history(question: str, chunk: str) -> None:
    """History shows an item that the address names: another view was not asked for it."""
    st.session_state[_HISTORY] = (question, chunk)


def is_left(collection: str, reviewer: str) -> bool:
    """Whether the item in the address is one that Grade or History showed in this session."""
    here, url = _in_address(), session_of(collection, reviewer).url
    return here[0] is not None and here in (url, st.session_state.get(_HISTORY))


def only_if_there(collection: str, reviewer: str, places: set[tuple[str, str]]) -> None:
    """For a view of items of its own, by question and chunk as addresses have them: what another
    view left in the address and is not among them is taken out, so that no link is told as wrong.
    """
    question, chunk = _in_address()
    if not is_left(collection, reviewer) or (question, chunk) in places:
        return
    known = any(question == name for name, _ in places)
    take_out(*(("chunk",) if known else ("question", "chunk")))


def _in_address() -> tuple[str | None, str | None]:
    return st.query_params.get("question"), st.query_params.get("chunk")


def take_out(*names: str) -> None:
    """Take these out of the address, as far as they are there."""
    for name in names:
        if name in st.query_params:
            del st.query_params[name]

"""What each reviewer was shown of others' grades and notes: a later grade of that is not blind.

Kept by this process for all its sessions, for one that starts anew has been shown as much. Who has
given no name yet is known by a token of the session, which links take along as `seen`; the first
name given there takes over what was shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

import streamlit as st

from app.core.coverage import Pair


class _Seen:
    """By collection and reviewer the (question, text hash) shown. Safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pairs: dict[tuple[str, str], set[Pair]] = {}

    def mark(self, whose: tuple[str, str], pairs: Iterable[Pair]) -> None:
        with self._lock:
            self._pairs.setdefault(whose, set()).update(pairs)

    def take(self, whose: tuple[str, str]) -> set[Pair]:
        with self._lock:
            return self._pairs.pop(whose, set())

    def has(self, whose: tuple[str, str], pair: Pair) -> bool:
        with self._lock:
            return pair in self._pairs.get(whose, ())


@st.cache_resource(show_spinner=False)
def _seen(root: str) -> _Seen:
    return _Seen()


def mark(collection: str, reviewer: str, pairs: Iterable[Pair]) -> None:
    """Remember that others' grades or notes of these (question, text hash) are being shown."""
    _seen(str(Path.cwd())).mark((collection, reviewer), pairs)


def mark_nameless(collection: str, pairs: Iterable[Pair]) -> None:
    """The same where nobody has given a name."""
    mark(collection, _nameless(token()), pairs)


def token() -> str:
    """What stands for who has given no name, in this session and in links out of it."""
    return str(st.session_state.setdefault("seen-token", secrets.token_urlsafe(9)))


def name_given(collection: str, reviewer: str) -> None:
    """Who had no name has one now: what was shown in this session, or before a link was followed
    into it, was shown to them.
    """
    found = _seen(str(Path.cwd()))
    for one in (st.session_state.get("seen-token"), st.query_params.get("seen")):
        if one and (pairs := found.take((collection, _nameless(one)))):
            found.mark((collection, reviewer), pairs)


def _nameless(of: str) -> str:
    return f"\n{of}"  # no name has a line end


def has(collection: str, reviewer: str, pair: Pair) -> bool:
    """Whether others' grades or notes of a (question, text hash) were shown to a reviewer."""
    return _seen(str(Path.cwd())).has((collection, reviewer), pair)

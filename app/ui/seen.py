"""What each reviewer was shown of others' grades and notes: a later grade of that is not blind.

Kept by this process for all its sessions, for one that starts anew has been shown as much.
"""

from __future__ import annotations

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

    def has(self, whose: tuple[str, str], pair: Pair) -> bool:
        with self._lock:
            return pair in self._pairs.get(whose, ())


@st.cache_resource(show_spinner=False)
def _seen(root: str) -> _Seen:
    return _Seen()


def mark(collection: str, reviewer: str, pairs: Iterable[Pair]) -> None:
    """Remember that others' grades or notes of these (question, text hash) are being shown."""
    _seen(str(Path.cwd())).mark((collection, reviewer), pairs)


def has(collection: str, reviewer: str, pair: Pair) -> bool:
    """Whether others' grades or notes of a (question, text hash) were shown to a reviewer."""
    return _seen(str(Path.cwd())).has((collection, reviewer), pair)

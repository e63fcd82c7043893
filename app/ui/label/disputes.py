"""Disputed pairs, and their decisions."""

from app.flows.loading import Loaded
from app.ui import state


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    state.settle()

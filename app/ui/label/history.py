"""What was judged, event by event."""

from app.flows.loading import Loaded
from app.ui import state


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    state.settle()

"""What the browser runs: style sheets and scripts, each a file."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def static(name: str) -> str:
    """The text of a file here."""
    return (resources.files(__name__) / name).read_text(encoding="utf-8")

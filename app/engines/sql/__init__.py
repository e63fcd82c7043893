"""SQL, one question a file, parameters always bound."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def statement(name: str) -> str:
    """The text of `<name>.sql`."""
    return (resources.files(__name__) / f"{name}.sql").read_text(encoding="utf-8")

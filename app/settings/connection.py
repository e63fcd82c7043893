"""How a Qdrant server is reached."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from app.core.validation import Record


def web_address(value: str) -> str:
    """An http(s) address without credentials; raises ValueError, which never repeats them."""
    if "@" in value:  # wherever: a slip in the address must not show a password
        raise ValueError("holds a name or a password; keys belong into the environment")
    try:
        parts = urlsplit(value)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or re.search(r"\s", value):
        raise ValueError(f"'{value}' is not an address such as http://localhost:6333")
    return value


def server_address(value: str) -> str:
    """The same for a server, which has no query; raises ValueError."""
    if urlsplit(web_address(value)).query or "#" in value:
        raise ValueError("has a query; name the server alone, keys belong into the environment")
    return value


def env_name(value: str) -> str:
    """The name of an environment variable; raises ValueError (also for a key pasted here)."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,80}", value):
        raise ValueError("is not the name of an environment variable")
    return value


class Qdrant(Record):
    """Requests to a Qdrant server. The key itself stands in the environment, never in a file.

    `timeout` is seconds for one request, `retries` how often one that failed for a passing reason
    is tried again, `batch` the questions in one request, `concurrency` the requests at a time.
    """

    api_key_env: Annotated[str, AfterValidator(env_name)] = "QDRANT_API_KEY"
    timeout: Annotated[int, Field(ge=1, le=3600)] = 30
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    batch: Annotated[int, Field(ge=1, le=256)] = 16
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4

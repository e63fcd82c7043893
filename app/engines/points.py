"""A chunk as a point of Qdrant, in this process or on a server: its vectors and its payload.

Sparse vectors are BM25 vectors with Qdrant's IDF modifier; its IDF counts ineligible chunks too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from app.core.model import Chunk

DENSE, SPARSE = "dense", "bm25"

#: Vectors of some chunks, in their order.
VectorsOf = Callable[[Sequence[Chunk]], NDArray[np.float32]]

#: Told how many chunks are in, of how many.
Counting = Callable[[int, int], None]


def uncounted(done: int, total: int) -> None:
    """Tells nobody."""


def payload_name(field: str) -> str:
    """The payload key of a field. Qdrant reads dots, brackets and blanks as a path."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", field):
        return field
    return f"field-{hashlib.sha256(field.encode()).hexdigest()[:16]}"


def encoder() -> str:
    """What makes sparse vectors, with its version and parameters."""
    return f"qdrant-edge-py {version('qdrant-edge-py')}, k 1.2, b 0.75, avg_len 256"


def is_own_name(name: str) -> bool:
    """Whether a collection on a server is one of ours, of whatever collection here."""
    return re.fullmatch(r"desk-.+-[0-9a-f]{12}-[0-9a-f]{12}", name) is not None

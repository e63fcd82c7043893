"""Reading much that stays: the collector of reference cycles leaves it alone."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def for_good() -> Iterator[None]:
    """A block that reads what stays; one at a time, as one lock guards all reading.

    The collector would look through all of it again and again while it is read, and stop every
    session for as long whenever it looks through everything later. What there is at the end is not
    looked through any more. What is no longer referred to is freed as ever; only cycles among what
    there was would stay, which is little: a collection's records refer to one another one way.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()

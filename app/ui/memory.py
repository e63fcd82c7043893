"""Reading much that stays: the collector of reference cycles leaves it alone.

It would look through all of it again and again while it is read, and stop every session for as long
whenever it looks through everything later.
"""

from __future__ import annotations

import gc
from threading import Lock


class ForGood:
    """A block that reads what stays; several threads may be in one at once.

    What there is when the last one leaves is not looked through for cycles any more. What is no
    longer referred to is freed as ever; only cycles among what there was would stay, which is
    little: a collection's records refer to one another one way.
    """

    def __init__(self) -> None:
        """Nobody is inside yet."""
        self._lock, self._inside = Lock(), 0

    def __enter__(self) -> None:
        """Begin to read."""
        with self._lock:
            self._inside += 1
            gc.disable()

    def __exit__(self, *_: object) -> None:
        """All is read that one of the threads had to read."""
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.freeze()
                gc.enable()


#: The collector is the process's, and so is this.
FOR_GOOD = ForGood()

"""Which pairs need a judgment, and in what order one reviewer is asked for them.

Nothing here knows a rank, a score, or what anybody else has said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from app.core.coverage import Pair, Standing


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn by lot: the same on every machine, from the stored seed.

    `overlap` is the share of pairs that need two judgments, `audit` the share of judged pairs that
    are judged once more; both from 0 to 1.
    """

    seed: int = 0
    overlap: float = 0.2
    audit: float = 0.05

    def needed(self, pair: Pair) -> int:
        """How many reviewers must judge a pair: 1 or 2."""
        return 1 + (_lot(self.seed, "overlap", *pair) < self.overlap)

    def audited(self, pair: Pair) -> bool:
        """Whether a pair that has the judgments it needs is to be judged once more."""
        return _lot(self.seed, "audit", *pair) < self.audit

    def place(self, reviewer: str, *subject: str) -> bytes:
        """Where something stands in a reviewer's order: it depends on nothing but these."""
        return _digest(str(self.seed), reviewer, *subject)

    def shuffled(self, reviewer: str, question: str, texts: Iterable[str]) -> list[str]:
        """Text hashes of one question in an order of the reviewer's own."""
        return sorted(texts, key=lambda text: self.place(reviewer, question, text))


def missing(standing: Standing, needed: int) -> int:
    """How many judgments a pair still needs.

    None after an adjudication, and none where two could not judge it: that is for the adjudicator.
    """
    said = list(standing.said.values())
    if "decided" in said:
        return 0
    graders = said.count("graded")
    if graders > 1:
        graders = len(standing.graders)
    if not graders and len(standing.unable) >= 2:
        return 0
    return max(0, needed - graders)


def _lot(seed: int, *words: str) -> float:
    """A number from 0 to 1, drawn for these words."""
    return int.from_bytes(_digest(str(seed), *words)[:8], "big") / 2**64


def _digest(*words: str) -> bytes:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=16).digest()

"""The nouns: small frozen records that everything else speaks of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.core.text import digest

#: Version of the metric formulas. A change of any number they give is a new version.
METRICS_VERSION = 1

#: The highest grade. Grades are whole numbers from 0 to this.
HIGHEST_GRADE = 2

GRADE_WORDS: Mapping[int, str] = {
    0: "does not help",
    1: "helps, not enough alone",
    2: "answers",
}

FieldValue = str | int | float | bool | list[str | int | float | bool]


@dataclass(frozen=True, slots=True, order=True)
class ChunkKey:
    """The identity of a chunk. Opaque and case-sensitive; `version` names the cutting rule."""

    document: str
    version: str
    chunk: str

    def __str__(self) -> str:
        """A JSON array of three strings."""
        return json.dumps([self.document, self.version, self.chunk], ensure_ascii=False)

    def short(self) -> str:
        """Document and chunk, as tables show it; once where both are the same."""
        return self.chunk if self.chunk == self.document else f"{self.document} {self.chunk}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document. `fields` are those the eligibility filter reads.

    `point` is the id of its point in a foreign Qdrant collection.
    """

    key: ChunkKey
    text: str
    text_hash: str
    title: str = ""
    section: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    eligible: bool = True
    place: str = ""
    point: str | int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One returned chunk: rank from 1, score as the engine gave it, to 6 digits."""

    rank: int
    key: ChunkKey
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one question got back: hits in order, or the reason why the search failed.

    `embed_ms` and `search_ms` are milliseconds of wall time.
    """

    question: str
    hits: tuple[Hit, ...] = ()
    failure: str | None = None
    embed_ms: float = 0.0
    search_ms: float = 0.0


Completeness = Literal["pooled", "complete"]


@dataclass(frozen=True, slots=True)
class ScoringSettings:
    """What a score depends on beside ranking and labels: hashed and stored with every score."""

    threshold: int = 1
    completeness: Completeness = "pooled"
    complete_as_of: str | None = None
    cutoffs: tuple[int, ...] = (1, 3, 5)
    highest: int = HIGHEST_GRADE
    version: int = METRICS_VERSION

    def as_json(self) -> dict[str, Any]:
        """A JSON object with the hash under `hash`."""
        value: dict[str, Any] = {
            "scale": list(range(self.highest + 1)),
            "threshold": self.threshold,
            "completeness": self.completeness,
            "complete_as_of": self.complete_as_of,
            "cutoffs": list(self.cutoffs),
            "metrics_version": self.version,
        }
        return {"hash": digest(value), **value}

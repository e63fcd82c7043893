"""Embedders: texts in, unit vectors out. Asked for and unreachable is an error, never a switch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.errors import EmbedderError

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors`: [texts, dimension], float32, unit length. `cut`: whether a text was too long."""

    vectors: Vectors
    cut: tuple[bool, ...]


class Embedder(Protocol):
    """Turns texts into vectors. Two embedders with one digest give the same vectors."""

    @property
    def name(self) -> str:
        """What the settings call it: `bundled`, `ollama:<model>`."""

    @property
    def digest(self) -> str:
        """Identity of the weights and of how they are used."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Embedded]]:
        """Vectors as they are made, each batch with the positions of its texts.

        Raises EmbedderError; what was yielded until then can be kept.
        """


def embed_all(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """One vector per text, in order; raises EmbedderError."""
    vectors = np.zeros((len(texts), 0), np.float32)
    cut = [False] * len(texts)
    for positions, batch in embedder.batches(texts):
        if not vectors.shape[1]:
            vectors = np.zeros((len(texts), batch.vectors.shape[1]), np.float32)
        vectors[positions] = batch.vectors
        for position, flag in zip(positions, batch.cut, strict=True):
            cut[position] = flag
    return Embedded(vectors, tuple(cut))


def render(template: str, parts: Mapping[str, str]) -> str:
    """A template with its `{names}` filled in; what is filled in is never read as a template."""
    return re.sub(r"\{(\w+)\}", lambda found: parts[found.group(1)], template)


def document_parts(text: str, title: str, section: str) -> dict[str, str]:
    """What a document template may hold."""
    return {"text": text, "title": title, "section": section, "title_or_none": title or "none"}


def unit(vectors: Vectors, what: str) -> Vectors:
    """Vectors scaled to length 1; raises EmbedderError for one that is zero or not finite."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbedderError(
            f"{what} returned a vector that is zero or not finite",
            remedy="Check the model, or choose another embedder",
        )
    scaled: Vectors = (vectors / lengths).astype(np.float32)
    return scaled

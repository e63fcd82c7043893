"""From the ids other files have to the questions and chunk keys of a collection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.core.model import ChunkKey
from app.core.text import fault_in_id, shown
from app.core.trec import key_of, name_of


@dataclass
class KeyMap:
    """Ids of a file and what they stand for here, from a map file."""

    questions: dict[str, str] = field(default_factory=dict)
    chunks: dict[str, ChunkKey] = field(default_factory=dict)


@dataclass
class Ids:
    """Finds questions and chunks by the ids other files have.

    A chunk is named by its key (`document|version|chunk` percent-encoded, or a JSON array of
    three), by its chunk id where that is unique, or by its document where that has one chunk only.
    """

    questions: Mapping[str, object]
    corpus: Corpus
    version: str
    given: KeyMap = field(default_factory=KeyMap)

    def __post_init__(self) -> None:
        """Index the corpus by chunk and by document."""
        self._by_chunk: dict[str, list[ChunkKey]] = {}
        self._by_document: dict[str, list[ChunkKey]] = {}
        for key in self.corpus.chunks:
            self._by_chunk.setdefault(key.chunk, []).append(key)
            self._by_document.setdefault(key.document, []).append(key)

    def question(self, word: str) -> str | None:
        """The question an id means, as it is or percent-decoded; None where there is none.

        Raises InvalidInput where it could mean two.
        """
        if word in self.given.questions:
            word = self.given.questions[word]
            return word if word in self.questions else None
        decoded = name_of(word)
        found = [name for name in dict.fromkeys((word, decoded)) if name in self.questions]
        if len(found) > 1:
            raise InvalidInput(
                f"{shown(word)} could mean two questions", remedy="Say which in a map file: --map"
            )
        return found[0] if found else None

    def chunk(self, word: str) -> ChunkKey | None:
        """The chunk an id means, None without one; raises InvalidInput where it is several."""
        if word in self.given.chunks:
            key = self.given.chunks[word]
            return key if key in self.corpus.chunks else None
        found = set(self._by_chunk.get(word, ()))
        whole = (key_of(word), _key_in_json(word))
        found |= {key for key in whole if key is not None and key in self.corpus.chunks}
        decoded = name_of(word) or word
        for names, name in (
            (self._by_chunk, decoded),
            (self._by_document, word),
            (self._by_document, decoded),
        ):
            found = found or set(names.get(name, ()))
        if len(found) > 1:
            first, second = sorted(found)[:2]
            raise InvalidInput(
                f"{shown(word)} names {len(found)} chunks, {first.short()} and {second.short()} "
                "for two",
                remedy="Write document|version|chunk, or say which it is in a map file: --map",
            )
        return next(iter(found), None)

    def chunk_of(self, document: str | None, version: str | None, chunk: str) -> ChunkKey | None:
        """The chunk that columns of their own name; the version may be left out."""
        if document is None:
            return self.chunk(chunk)
        key = ChunkKey(document, version or self.version, chunk)
        if key in self.corpus.chunks:
            return key
        # Without a version: any, if only one has both ids.
        found = [k for k in self._by_chunk.get(chunk, ()) if k.document == document]
        return found[0] if version is None and len(found) == 1 else None

    def without_text(self, word: str) -> ChunkKey:
        """The key of an id no chunk here has. Raises InvalidInput where it can be none."""
        decoded = name_of(word)
        name = word if decoded is None else decoded
        key = self.given.chunks.get(word) or key_of(word) or _key_in_json(word)
        key = key or ChunkKey(name, self.version, name)
        for part in (key.document, key.version, key.chunk):
            if fault := fault_in_id(part):
                raise InvalidInput(f"the id {shown(word)} {fault}", remedy="Correct the id")
        return key


def _key_in_json(word: str) -> ChunkKey | None:
    if not word.startswith("["):
        return None
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return None
    return as_key(value)


def as_key(value: object) -> ChunkKey | None:
    """The key a JSON array of three texts stands for, None for anything else."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    if not all(isinstance(part, str) and part.strip() for part in value):
        return None
    return ChunkKey(*value)


def map_records(
    questions: Iterable[tuple[str, str]], chunks: Iterable[tuple[str, ChunkKey]]
) -> list[dict[str, object]]:
    """The lines of a map file: each id with the question or the chunk it stands for."""
    return [
        *({"format": 1, "id": word, "question": name} for word, name in questions),
        *(
            {"format": 1, "id": word, "chunk": [key.document, key.version, key.chunk]}
            for word, key in chunks
        ),
    ]

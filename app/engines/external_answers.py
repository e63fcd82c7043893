"""Answers of an external retriever, read as hits on the chunks of a corpus."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from threading import Lock
from typing import Any

from app.core.corpus import Corpus
from app.core.errors import EngineError
from app.core.model import ChunkKey, Hit
from app.core.text import fault_in_id, fault_in_text, shown, text_hash
from app.engines.retrieval import significant

#: More names than this are no names of a pipeline, but of requests.
_MOST_NAMES = 10
_REMEDY = 'It must answer {"hits": [{"document": "…", "chunk": "…", "score": 1.0}]}, best first'


class Answers:
    """Reads answers, and remembers what was noticed in them."""

    def __init__(self, name: str, corpus: Corpus) -> None:
        """`name` is what messages call the program."""
        self._name = name
        self._corpus = corpus
        self._by_chunk: dict[str, list[ChunkKey]] = {}
        for key in corpus.chunks:
            self._by_chunk.setdefault(key.chunk, []).append(key)
        self._lock = Lock()
        self._other_texts: set[ChunkKey] = set()
        self._pipelines: set[str] = set()

    def remarks(self) -> Mapping[str, Any]:
        """`other_texts`: chunks whose text differs there. `pipelines`: what it calls itself."""
        with self._lock:
            texts = sorted(str(key) for key in self._other_texts)
            found = {"other_texts": texts, "pipelines": sorted(self._pipelines)}
        return {name: value for name, value in found.items() if value}

    def read(self, raw: bytes, depth: int) -> list[Hit]:
        """The first `depth` hits in the order they came; raises EngineError."""
        if not raw.strip():
            raise self._fault("sent nothing")
        try:
            answer = json.loads(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            begins = shown(raw[:80].decode("utf-8", errors="replace"))
            raise self._fault(f"sent {begins}, which is no JSON") from error
        hits = answer.get("hits") if isinstance(answer, dict) else None
        if not isinstance(hits, list):
            raise self._fault("sent an answer without a list of hits")
        if isinstance(pipeline := answer.get("pipeline"), str):
            with self._lock:
                if len(self._pipelines) < _MOST_NAMES:
                    self._pipelines.add(_printable(pipeline))
        found: list[Hit] = []
        taken: set[ChunkKey] = set()
        for rank, hit in enumerate(hits[:depth], start=1):
            if not isinstance(hit, dict):
                raise self._fault(f"sent a hit at rank {rank} that is no object")
            key = self._key(rank, hit, taken)
            taken.add(key)
            found.append(Hit(rank, key, self._score(rank, hit)))
        return found

    def _fault(self, what: str) -> EngineError:
        return EngineError(f"{self._name} {what}", remedy=_REMEDY)

    def _score(self, rank: int, hit: Mapping[str, Any]) -> float:
        score = hit.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float):
            said = "no score" if score is None else f"the score {shown(str(score))}"
            raise self._fault(f"sent a hit at rank {rank} with {said}")
        try:
            value = significant(float(score))
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self._fault(f"sent a hit at rank {rank} with the score {shown(str(score))}")
        return value

    def _key(self, rank: int, hit: Mapping[str, Any], taken: set[ChunkKey]) -> ChunkKey:
        """The chunk a hit names, by its ids, or where those are unknown by its text."""
        names: dict[str, str] = {}
        for name in ("document", "version", "chunk"):
            value = hit.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                value = str(value)
            if isinstance(value, str):
                names[name] = value
            elif value is not None or name == "chunk":
                state = "no chunk" if value is None else f"a {name} that is no text"
                raise self._fault(f"sent a hit at rank {rank} with {state}")
        text = hit.get("text")
        spoken = text_hash(text) if isinstance(text, str) and not fault_in_text(text) else None
        keys = [
            key
            for key in self._by_chunk.get(names["chunk"], ())
            if names.get("document", key.document) == key.document
            and names.get("version", key.version) == key.version
        ]
        if len(keys) > 1:
            raise self._fault(
                f"sent a hit at rank {rank} that could be {keys[0].short()} or {keys[1].short()}"
            )
        if not keys and spoken:
            # Other ids, same text: that text is what would be read.
            twins = self._corpus.by_hash.get(spoken, ())
            keys = [key for key in twins if key not in taken][:1] or list(twins[:1])
        if not keys:
            said = " ".join(names[n] for n in ("document", "version", "chunk") if n in names)
            raise EngineError(
                f"{self._name} returned the chunk {shown(said)} at rank {rank}, which is not in "
                "this corpus",
                remedy="Let both use the same corpus and the same ids, or send texts with the hits",
            )
        if spoken and self._corpus.chunks[keys[0]].text_hash != spoken:
            with self._lock:
                self._other_texts.add(keys[0])
        return keys[0]


def _printable(name: str) -> str:
    """A name that can be stored and printed, whatever a program calls itself."""
    name = " ".join(name.split())[:200]
    return shown(name, 200)[1:-1] if fault_in_id(name) else name

"""The rows of a TREC run, streamed into a file of numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.core.errors import InvalidInput
from app.core.files import reading
from app.core.keys import Ids
from app.core.model import ChunkKey
from app.core.text import shown
from app.core.trec import rows
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.trec_rows import numbers, require_columns, text_of
from app.flows.progress import Progress

Order = Literal["rank", "score"]

#: Rows held at once on the way from the file to the store.
_PORTION = 100_000
_CODES = "qiiqd"
_SCHEMA = pa.schema(
    [("line", pa.int64()), ("question", pa.int32()), ("chunk", pa.int32()),
     ("rank", pa.int64()), ("score", pa.float64())]
)  # fmt: skip


@dataclass
class Parsed:
    """What the rows of a run name, by number: its questions and chunks, and its tags."""

    ids: Ids
    questions: dict[bytes, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    chunks: dict[bytes, int] = field(default_factory=dict)
    keys: dict[ChunkKey, int] = field(default_factory=dict)
    unknown: int = 0
    tags: set[bytes] = field(default_factory=set)
    more: int = 0

    def question(self, word: bytes) -> int:
        """The number of a question; raises InvalidInput where it is unknown."""
        name = self.ids.question(text_of(word))
        if name is None:
            raise InvalidInput(
                f"the question {shown(text_of(word))} is unknown",
                remedy="Correct its id, import the questions first, or leave such rows out: "
                "--skip-refused",
            )
        number = self.questions[word] = self.names.setdefault(name, len(self.names))
        return number

    def name(self, word: bytes) -> str | None:
        """The question a word means, or None."""
        try:
            return self.ids.question(text_of(word))
        except InvalidInput:
            return None

    def chunk(self, word: bytes) -> int:
        """The number of a chunk, whether it has a text here or not."""
        text = text_of(word)
        key = self.ids.chunk(text)
        if key is None:
            key = self.ids.without_text(text)
            self.unknown += key not in self.keys
        elif not self.ids.corpus.chunks[key].eligible:
            raise InvalidInput(
                f"eligibility violation: {key.short()} does not pass the filter",
                remedy="Correct the run, or [eligible] in collection.toml",
            )
        number = self.chunks[word] = self.keys.setdefault(key, len(self.keys))
        return number


def spool_rows(
    path: Path, spool: Path, parsed: Parsed, found: Outcome, order: Order, progress: Progress
) -> dict[str, str]:
    """Parse the rows into a Parquet file; returns the questions of refused rows, with why."""
    failures: dict[bytes, str] = {}
    with (
        reading(path.name),
        pq.ParquetWriter(spool, _SCHEMA, compression="zstd") as writer,
    ):
        for portion in _portions(path, parsed, found, failures, order):
            columns = [pa.array(np.frombuffer(column, column.typecode)) for column in portion]
            writer.write_table(pa.table(columns, schema=_SCHEMA))
            progress(f"Reading {path.name}, rows", found.read, found.read + 1)
        progress(f"Reading {path.name}, rows", found.read, found.read)
    named = ((parsed.name(word), reason) for word, reason in failures.items())
    return {name: reason for name, reason in named if name is not None}


def _portions(
    path: Path, parsed: Parsed, found: Outcome, failures: dict[bytes, str], order: Order
) -> Iterator[list[array[Any]]]:
    """The rows as columns of numbers: compact, and nothing a garbage collector would go through."""
    questions, chunks, tags = parsed.questions, parsed.chunks, parsed.tags
    by_rank, read, more = order == "rank", 0, 0
    portion: list[array[Any]] = [array(code) for code in _CODES]
    lines, asked_numbers, chunk_numbers, places, values = portion
    for line, words in rows(path):
        read += 1
        try:
            require_columns(words, 6, "question Q0 chunk rank score tag")
            more += len(words) > 6
            question = questions.get(words[0])
            if question is None:
                question = parsed.question(words[0])
            chunk = chunks.get(words[2])
            if chunk is None:
                chunk = parsed.chunk(words[2])
            value, place = numbers(words[4], words[3], by_rank=by_rank)
        except InvalidInput as error:
            problem = replace(error.problems[0], place=f"{path.name}:{line}")
            found.refused.add(problem, line)
            failures.setdefault(words[0], f"{problem.place}: {problem.message}")
            continue
        if words[5] not in tags and len(tags) < 10:
            tags.add(words[5])
        lines.append(line)
        asked_numbers.append(question)
        chunk_numbers.append(chunk)
        places.append(place)
        values.append(value)
        if len(lines) == _PORTION:
            found.read = read
            yield portion
            portion = [array(code) for code in _CODES]
            lines, asked_numbers, chunk_numbers, places, values = portion
    found.read, parsed.more = read, more
    yield portion

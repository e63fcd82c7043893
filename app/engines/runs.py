"""Imported runs: from a file of numbered rows into the store, without holding them in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from app.core.corpus import Corpus
from app.core.model import ChunkKey
from app.engines.executions import Execution, add_corpus, add_execution
from app.engines.store import Store, scratch

#: Rows that are ordered at once.
_BLOCK = 500_000


def facts(spool: Path, order: str, questions: int, rows: int) -> dict[str, int]:
    """Counts over the rows: hits, duplicates, the depth, and questions with something odd.

    `disagreeing` are questions whose scores do not fall along their ranks, `tied` those with equal
    scores, `same_rank` those with two hits at one rank.
    """
    total: dict[str, int] = {}
    with scratch() as unit:
        unit.run("runs_ranked")
        for block in _blocks(questions, rows):
            here = {"spool": str(spool), "by_score": order == "score", **block}
            for name, value in unit.rows("runs_facts", here)[0].items():
                before, now = total.get(name, 0), int(value or 0)
                total[name] = max(before, now) if name == "depth" else before + now
    return total


def _blocks(questions: int, rows: int) -> Iterator[dict[str, int]]:
    """Questions taken together, so many that memory does not grow with the run."""
    size = max(1, questions * _BLOCK // max(rows, 1))
    for first in range(0, questions, size):
        yield {"first": first, "last": first + size - 1}


def save(
    store: Store,
    execution: Execution,
    spool: Path,
    order: str,
    rows: int,
    questions: Sequence[str],
    keys: Sequence[ChunkKey],
    failures: Mapping[str, str],
    texts: Mapping[str, str],
    corpus: Corpus,
    *,
    retain_text: bool,
) -> None:
    """Keep an imported run, in one transaction.

    `questions` and `keys` are what the numbers of the rows stand for; `failures` are questions
    without a ranking, and why.
    """
    here = {"collection": execution.collection, "execution": execution.id}
    asked = [
        {"question": name, "text": text, "failure": failures.get(name), "embed_ms": 0.0,
         "search_ms": 0.0}
        for name, text in texts.items()
    ]  # fmt: skip
    chunks = pa.table(
        {
            "number": range(len(keys)),
            "document": [key.document for key in keys],
            "version": [key.version for key in keys],
            "chunk": [key.chunk for key in keys],
        }
    )
    kept = [number for number, name in enumerate(questions) if name not in failures]
    numbered = pa.table(
        {
            "number": pa.array(kept, pa.int32()),
            "question": pa.array([questions[number] for number in kept], pa.string()),
        }
    )
    with store.work() as unit, unit.transaction():
        add_corpus(unit, execution, corpus, retain_text=retain_text)
        add_execution(unit, execution, asked)
        unit.run("chunks_add", {"collection": execution.collection}, chunks)
        unit.run("runs_ranked")
        with unit.beside("run_questions", numbered), unit.beside("run_chunks", chunks):
            for block in _blocks(len(questions), rows):
                words = {**here, "spool": str(spool), "by_score": order == "score", **block}
                unit.run("runs_add", words)

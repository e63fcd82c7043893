"""Imported runs: from a file of numbered rows into the store, without holding them in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from app.core.corpus import Corpus
from app.core.model import ChunkKey
from app.engines.executions import Execution, add_corpus, add_execution
from app.engines.store import Store, scratch


def facts(spool: Path, order: str) -> dict[str, int]:
    """Counts over the rows: hits, duplicates, the depth, and questions with something odd.

    `disagreeing` are questions whose scores do not fall along their ranks, `tied` those with equal
    scores, `same_rank` those with two hits at one rank.
    """
    with scratch() as unit:
        found = unit.rows("runs_facts", {"spool": str(spool), "by_score": order == "score"})[0]
    return {name: int(value or 0) for name, value in found.items()}


def save(
    store: Store,
    execution: Execution,
    spool: Path,
    order: str,
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
    numbered = [
        {"number": number, "question": name}
        for number, name in enumerate(questions)
        if name not in failures
    ]
    with store.work() as unit, unit.transaction():
        add_corpus(unit, execution, corpus, retain_text=retain_text)
        add_execution(unit, execution, asked)
        unit.run("chunks_add", {"collection": execution.collection}, chunks)
        with unit.beside("run_questions", numbered), unit.beside("run_chunks", chunks):
            unit.run("runs_add", {**here, "spool": str(spool), "by_score": order == "score"})

"""Executions and their rankings in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from app.core.corpus import Corpus
from app.core.model import ChunkKey, Hit, Ranking
from app.core.text import canonical, same_words
from app.engines.store import Incoming, Row, Store, Unit

#: Hits read at once by those who read them all, and chunks with their texts written at once.
_AT_ONCE, _CHUNKS_AT_ONCE = 50_000, 10_000
Status = Literal["complete", "incomplete", "imported"]


@dataclass(frozen=True, slots=True)
class Execution:
    """One configuration run over all questions of a collection against one corpus revision."""

    id: str
    collection: str
    configuration: str
    fingerprint: str
    status: Status
    corpus_revision: str
    points: int
    eligible: int
    started: str
    finished: str
    provenance: Mapping[str, Any]

    @property
    def imported(self) -> bool:
        """Whether its rankings come from a run's file, which may name chunks without a text."""
        return "run" in self.provenance

    @property
    def depth(self) -> int:
        """The number of ranks that were kept."""
        return int(self.provenance["depth"])

    @property
    def ordered_by_rank(self) -> bool:
        """Whether the order is that of a run's rank column, whatever its scores are."""
        return self.provenance.get("order") == "rank"

    @property
    def cut_anywhere(self) -> bool:
        """Whether its threshold may cut hits that have others behind them, which then move up."""
        return self.ordered_by_rank and self.threshold is not None

    @property
    def threshold(self) -> float | None:
        """The score below which hits are cut, if any."""
        value = self.provenance["configuration"].get("threshold")
        return None if value is None else float(value)


def save(
    store: Store,
    execution: Execution,
    rankings: Sequence[Ranking],
    texts: Mapping[str, str],
    corpus: Corpus,
    *,
    retain_text: bool,
) -> None:
    """Keep an execution with its rankings, in one transaction."""
    here = {"collection": execution.collection, "execution": execution.id}
    asked = [
        {
            "question": ranking.question,
            "text": texts[ranking.question],
            "failure": ranking.failure,
            "embed_ms": ranking.embed_ms,
            "search_ms": ranking.search_ms,
        }
        for ranking in rankings
    ]
    with store.work() as unit, unit.transaction():
        add_corpus(unit, execution, corpus, retain_text=retain_text)
        add_execution(unit, execution, asked)
        unit.run(
            "hits_add",
            here,
            [
                {"question": r.question, "rank": h.rank, "score": h.score, **key_row(h.key)}
                for r in rankings
                for h in r.hits
            ],
        )


def add_execution(unit: Unit, execution: Execution, asked: Sequence[Row]) -> None:
    """An execution and the questions it was asked, over a corpus that is there."""
    here = {"collection": execution.collection, "execution": execution.id}
    add_questions(unit, execution.collection, [row["question"] for row in asked])
    unit.run(
        "executions_add",
        {
            **here,
            "configuration": execution.configuration,
            "fingerprint": execution.fingerprint,
            "status": execution.status,
            "revision": execution.corpus_revision,
            "started": execution.started,
            "finished": execution.finished,
            "provenance": canonical(execution.provenance),
        },
    )
    unit.run("execution_questions_add", here, asked)


def key_row(key: ChunkKey) -> Row:
    """The columns of a chunk's key."""
    return {"document": key.document, "version": key.version, "chunk": key.chunk}


def add_questions(unit: Unit, collection: str, names: Iterable[str]) -> None:
    """Give questions that are new a number."""
    unit.run("questions_add", {"collection": collection}, [{"question": name} for name in names])


def add_corpus(unit: Unit, execution: Execution, corpus: Corpus, *, retain_text: bool) -> None:
    """The eligible chunks of the corpus revision, once, and their texts, once per hash.

    Some at a time, and texts only where they are wanted: what comes in is held until the end of
    the transaction.
    """
    # By key, so that the numbers of chunks do not depend on the blocks.
    chunks = [chunk for _, chunk in sorted(corpus.eligible.items(), key=lambda one: one[0])]
    rows = (
        {
            **key_row(chunk.key),
            "text_hash": chunk.text_hash,
            "title": chunk.title if retain_text else "",
            "section": chunk.section if retain_text else "",
        }
        for chunk in chunks
    )
    _add_blocks(unit, execution, _blocks(rows))
    if retain_text:
        for block in _blocks({"text_hash": one.text_hash, "text": one.text} for one in chunks):
            unit.run("texts_add", {}, block)


def _blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while block := list(islice(left, _CHUNKS_AT_ONCE)):
        yield block


def add_chunks(unit: Unit, execution: Execution, chunks: Incoming) -> None:
    """The eligible chunks of an execution's corpus revision, unless they are there."""
    _add_blocks(unit, execution, [chunks])


def _add_blocks(unit: Unit, execution: Execution, blocks: Iterable[Incoming]) -> None:
    owner = {"collection": execution.collection, "revision": execution.corpus_revision}
    if not unit.rows("corpora_find", owner):
        counts = {"points": execution.points, "eligible": execution.eligible}
        unit.run("corpora_add", {**owner, **counts})
        for chunks in blocks:
            unit.run("chunks_add", {"collection": execution.collection}, chunks)
            unit.run("corpus_chunks_add", owner, chunks)


def _execution(row: Row) -> Execution:
    values = {**row, "provenance": json.loads(row["provenance"])}
    return Execution(**values)


def listed(
    store: Store,
    collection: str | None = None,
    *,
    fingerprint: str | None = None,
    name: str | None = None,
) -> list[Execution]:
    """Executions, newest first; those that meet every condition given.

    `fingerprint` finds complete ones only; `name` is the beginning of an id, or a configuration.
    """
    conditions = {"collection": collection, "fingerprint": fingerprint, "name": name}
    with store.work() as unit:
        return [_execution(row) for row in unit.rows("executions_list", conditions)]


def asked(store: Store, execution: Execution) -> list[Row]:
    """The questions of an execution: `question`, `text` as it was, `failure`, and times."""
    with store.work() as unit:
        return unit.rows("execution_questions_list", {"execution": execution.id})


def reworded(store: Store, execution: Execution, texts: Mapping[str, str]) -> set[str]:
    """Questions of an execution that read otherwise in `texts`."""
    return {
        row["question"]
        for row in asked(store, execution)
        if row["question"] in texts and not same_words(texts[row["question"]], row["text"])
    }


def hits(store: Store, execution: Execution) -> Iterator[tuple[str, Hit]]:
    """Every stored hit with its question, questions in order, without holding all of them.

    The store is opened for some questions at a time, and closed before their hits are given out.
    """
    here = {"execution": execution.id}
    with store.work() as unit:
        refs = [row["question_ref"] for row in unit.rows("hits_questions", here)]
    size = max(1, _AT_ONCE // max(execution.depth, 1))
    for start in range(0, len(refs), size):
        block = refs[start : start + size]
        with store.work() as unit:
            rows = unit.rows("hits_block", {**here, "first": block[0], "last": block[-1]})
        for row in rows:
            key = ChunkKey(row["document"], row["version"], row["chunk"])
            yield row["question"], Hit(row["rank"], key, row["score"])


def rankings(
    store: Store, execution: Execution, depth: int | None = None
) -> tuple[list[Ranking], dict[str, str]]:
    """The stored, uncut rankings in question order, and the questions' texts as they were.

    `depth` is the number of ranks read, None for all.
    """
    with store.work() as unit:
        questions = unit.rows("execution_questions_list", {"execution": execution.id})
        returned = unit.rows("hits_list", {"execution": execution.id, "depth": depth})
    found: dict[str, list[Hit]] = {}
    for row in returned:
        key = ChunkKey(row["document"], row["version"], row["chunk"])
        found.setdefault(row["question"], []).append(Hit(row["rank"], key, row["score"]))
    return [
        Ranking(
            row["question"],
            tuple(found.get(row["question"], ())),
            row["failure"],
            row["embed_ms"],
            row["search_ms"],
        )
        for row in questions
    ], {row["question"]: row["text"] for row in questions}

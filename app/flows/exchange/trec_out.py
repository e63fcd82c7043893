"""TREC qrels and runs out, each with a map of its ids beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.core.files import replacing
from app.core.keys import map_records
from app.core.labels import Labels
from app.core.model import ChunkKey
from app.core.scale import OURS, Scale
from app.core.trec import key_token, token
from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.exchange.keymaps import map_beside, write_map

#: What the score column of a run holds: the scores, or numbers that fall with the rank.
Scores = Literal["score", "rank"]


@dataclass
class Exported:
    """What was written: lines, and what had to stay out."""

    lines: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)


@dataclass
class _Ids:
    """The ids a file used, for its map."""

    questions: dict[str, str] = field(default_factory=dict)
    chunks: dict[ChunkKey, str] = field(default_factory=dict)

    def question(self, name: str) -> str:
        return self.questions.setdefault(name, token(name))

    def chunk(self, key: ChunkKey) -> str:
        word = self.chunks.get(key)
        if word is None:
            word = self.chunks[key] = key_token(key)
        return word

    def write(self, path: Path) -> Path:
        beside = map_beside(path)
        questions = ((word, name) for name, word in self.questions.items())
        chunks = ((word, key) for key, word in self.chunks.items())
        write_map(beside, map_records(questions, chunks))
        return beside


def qrels(
    labels: Labels, found: Exported, scale: Scale = OURS
) -> Iterator[tuple[str, ChunkKey, int]]:
    """Every pair with one effective grade, on the scale wanted; what has none is counted."""
    for name in labels.questions:
        for key, label in sorted(labels.by_question[name].items()):
            if label.state == "retired":
                found.left_out["retired"] += 1
            elif label.grade is None:
                found.left_out[label.state] += 1
            elif (grade := scale.get(label.grade, label.grade)) is None:
                found.left_out[f"grade {label.grade}"] += 1
            else:
                yield name, key, grade


def export_qrels(labels: Labels, path: Path, scale: Scale = OURS) -> Exported:
    """Write effective grades as TREC qrels.

    Pairs without one grade (cannot judge, disputed, stale) stay out: a negative grade would be
    dropped by some tools and counted by others.
    """
    found, ids = Exported(), _Ids()
    _write(
        path,
        (
            f"{ids.question(name)} 0 {ids.chunk(key)} {grade}\n"
            for name, key, grade in qrels(labels, found, scale)
        ),
        found,
    )
    if labels.scoring.completeness == "complete":
        found.notes.append(
            "The labels are complete: chunks that are not listed are grade 0 here, and unjudged to "
            "other tools."
        )
    found.files.append(ids.write(path))
    return found


def export_run(
    store: Store, execution: Execution, path: Path, scores: Scores = "score"
) -> Exported:
    """Write the ranking of every question as a TREC run, hits below the threshold left out."""
    found, ids = Exported(), _Ids()
    threshold, configuration = execution.threshold, execution.configuration
    returned: set[str] = set()
    disagreeing: set[str] = set()

    def lines() -> Iterator[str]:
        before: tuple[str, float] | None = None
        rank = 0
        for question, hit in executions.hits(store, execution):
            if threshold is not None and hit.score < threshold:
                continue
            returned.add(question)
            # Ranks without a gap where hits were cut; an imported run keeps its own.
            rank = rank + 1 if before is not None and before[0] == question else 1
            place = hit.rank if threshold is None else rank
            if before is not None and before[0] == question and hit.score >= before[1]:
                disagreeing.add(question)
            before = question, hit.score
            score = repr(hit.score) if scores == "score" else str(-place)
            word = ids.chunk(hit.key)
            yield f"{ids.question(question)} Q0 {word} {place} {score} {configuration}\n"

    _write(path, lines(), found)
    for row in executions.asked(store, execution):
        if row["failure"] is not None:
            found.left_out["failed questions"] += 1
        elif row["question"] not in returned:
            found.left_out["questions without a hit"] += 1
    if disagreeing and scores == "score":
        found.notes.append(
            f"Questions whose scores tie or rise along the ranks: {len(disagreeing)}. Tools that "
            "sort by score will see another order; --order rank writes scores that fall with it."
        )
    found.files.append(ids.write(path))
    return found


def _write(path: Path, lines: Iterable[str], found: Exported) -> None:
    """Write lines as they come; the file is there whole or not at all."""
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line)
            found.lines += 1
    found.files.append(path)

"""Rows of other people's labels, made judgments of this collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from app.core.errors import InvalidInput
from app.core.files import reading
from app.core.judgments import reviewer_id
from app.core.keys import Ids
from app.core.model import HIGHEST_GRADE, ChunkKey
from app.core.scale import OURS, Scale, grade_of, scale_words
from app.core.text import shown
from app.core.trec import rows
from app.flows.exchange.columns import read_table, words_of
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.trec_rows import require_columns, text_of
from app.flows.wording import count

Unknown = Literal["keep", "skip", "refuse"]

#: Columns of a table with one label a row.
COLUMNS = ("question", "document", "version", "chunk", "grade", "reviewer", "note")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One grade of one reviewer; `textless`: no chunk here has the key."""

    line: int
    question: str
    key: ChunkKey
    grade: int
    reviewer: str
    note: str | None
    textless: bool


@dataclass(frozen=True)
class Reading:
    """How rows are read: whose ids, which scale, who judged, and what becomes of unknown chunks."""

    ids: Ids
    scale: Scale | None
    reviewer: str
    unknown: Unknown

    @property
    def grades(self) -> Scale:
        """The scale in use."""
        return OURS if self.scale is None else self.scale


def read_rows(
    path: Path, reading: Reading, columns: Mapping[str, str], found: Outcome, *, trec: bool
) -> Iterator[LabelRow]:
    """The rows of TREC qrels, a sheet or JSON lines; what is wrong with one is in `found`."""
    raw = _trec(path, found) if trec else _table(path, columns, found)
    textless: set[ChunkKey] = set()
    grades: Counter[int] = Counter()
    seen: dict[tuple[str, str, object], LabelRow] = {}
    for line, row in raw:
        where = f"{path.name}:{line}"
        try:
            label = _label(line, row, reading)
        except InvalidInput as error:
            found.refused.add(replace(error.problems[0], place=where), line)
            continue
        if isinstance(label, str):
            found.left_out[label] += 1
            continue
        chunk = reading.ids.corpus.chunks.get(label.key)
        pair = label.reviewer, label.question, chunk.text_hash if chunk else label.key
        earlier = seen.setdefault(pair, label)
        if earlier is not label:
            if earlier.grade == label.grade:
                found.left_out["repeated" if earlier.key == label.key else "same text"] += 1
            elif earlier.key != label.key and reading.unknown == "keep":
                found.left_out["same text, another grade"] += 1
            else:
                found.refuse(line, _contradiction(earlier, label), "Keep one of the two")
            continue
        if label.textless:
            textless.add(label.key)
        grades[label.grade] += 1
        yield label
    if twins := found.left_out["same text, another grade"]:
        found.notes.append(
            f"Rows whose chunk has the same text as an earlier one but another grade: {twins:,}. "
            "Chunks with one text share one grade; the first one counts."
        )
    if grades:
        by_grade = ", ".join(
            f"{number:,} of grade {grade}" for grade, number in sorted(grades.items())
        )
        mapped = "" if reading.scale is None else f" (mapped {scale_words(reading.scale)})"
        found.notes.append(f"Labels{mapped}: {by_grade}.")
    if textless:
        found.notes.append(
            f"Chunks without a text here: {len(textless):,}, {min(textless).short()} for one. "
            "Their labels are kept; only an imported run can return them."
        )


def _contradiction(earlier: LabelRow, label: LabelRow) -> str:
    same = (
        "" if earlier.key == label.key else f", which has the same text as {earlier.key.short()},"
    )
    return (
        f"{shown(label.question)} and {label.key.short()}{same} have the grade {earlier.grade} on "
        f"line {earlier.line} and {label.grade} here"
    )


def _trec(path: Path, found: Outcome) -> Iterator[tuple[int, dict[str, Any]]]:
    more = 0
    with reading(path.name):
        for line, words in rows(path):
            found.read += 1
            more += len(words) > 4
            try:
                require_columns(words, 4, "question 0 chunk grade")
                question, _, chunk, grade, *_ = map(text_of, words)
            except InvalidInput as error:
                found.refused.add(replace(error.problems[0], place=f"{path.name}:{line}"), line)
                continue
            yield line, {"question": question, "chunk": chunk, "grade": grade}
    if more:
        found.notes.append(f"{count(more, 'line')} with more than 4 columns, which are not used.")


def _table(
    path: Path, columns: Mapping[str, str], found: Outcome
) -> Iterator[tuple[int, dict[str, Any]]]:
    table = read_table(path, path.name, COLUMNS, columns, ("question", "chunk", "grade"))
    if table.unused:
        found.notes.append(f"Columns that are not used: {', '.join(table.unused)}.")
    ungraded = 0
    for line, row in table.rows:
        found.read += 1
        if isinstance(row, str):
            found.refuse(line, f"the line {row}", "Correct the line")
        elif row.get("grade") is None:
            ungraded += 1
        else:
            yield line, row
    if ungraded:
        found.left_out["no grade"] += ungraded


def _label(line: int, row: Mapping[str, Any], reading: Reading) -> LabelRow | str:
    """The label of a row, or why it is left out; raises InvalidInput."""
    asked, chunk = words_of(row.get("question")), words_of(row.get("chunk"))
    if asked is None or chunk is None:
        name = "question" if asked is None else "chunk"
        raise InvalidInput(f"the {name} is blank", remedy="Name it, or remove the row")
    theirs = grade_of(row["grade"])
    if theirs is None or theirs not in reading.grades:
        known = scale_words(reading.grades)
        raise InvalidInput(
            f"the grade {shown(str(row['grade']))} is outside the scale {known}",
            remedy=f"Map every grade to one of 0..{HIGHEST_GRADE}: --grades 0=0,1=1,2=1,3=2",
        )
    grade = reading.grades[theirs]
    if grade is None:
        return f"grade {theirs}"
    question = reading.ids.question(asked)
    if question is None:
        raise InvalidInput(
            f"the question {shown(asked)} is unknown",
            remedy="Correct its id, or import the questions first: desk import C questions FILE",
        )
    key, textless = _key(row, chunk, reading)
    if key is None:
        return "unknown chunk"
    author = words_of(row.get("reviewer"))
    reviewer = reviewer_id(author) if author else reading.reviewer
    return LabelRow(line, question, key, grade, reviewer, words_of(row.get("note")), textless)


def _key(row: Mapping[str, Any], chunk: str, reading: Reading) -> tuple[ChunkKey | None, bool]:
    document, version = words_of(row.get("document")), words_of(row.get("version"))
    key = reading.ids.chunk_of(document, version, chunk)
    if key is not None:
        return key, False
    if reading.unknown == "skip":
        return None, False
    if reading.unknown == "refuse":
        raise InvalidInput(
            f"the chunk {shown(chunk)} is unknown",
            remedy="Correct its id, or say what to do with such rows: --unknown keep or skip",
        )
    if document is not None:
        return ChunkKey(document, version or reading.ids.version, chunk), True
    return reading.ids.without_text(chunk), True

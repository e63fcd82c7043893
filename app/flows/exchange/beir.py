"""BEIR folders both ways: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`.

A chunk's `_id` is its chunk id where the key says nothing else, else `document|version|chunk`
percent-encoded. What BEIR has no field for is in `metadata`, so that nothing is lost on the way.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from app.core.chunking import AS_IS
from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.core.jsonlines import parse_object
from app.core.keys import KeyMap
from app.core.labels import Labels
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question
from app.core.scale import Scale
from app.core.text import canonical
from app.core.trec import key_of, key_token
from app.engines.sheets import Cell, read_sheet
from app.engines.sheets_out import write_sheet
from app.flows.exchange.columns import raw_lines, words_of
from app.flows.exchange.corpora import Lines, corpus_lines, staged, take_corpus
from app.flows.exchange.labels import import_labels
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.questions import import_questions
from app.flows.exchange.trec_out import Exported, qrels
from app.workspace import Workspace

_SPLIT_OF = {"test": "held-out", "dev": "development", "train": "development"}
_FILE_OF = {"held-out": "test", "development": "dev"}
_COLUMNS = ("query-id", "corpus-id", "score")
_ROLES = ("document", "version", "chunk", "title", "section", "text")


def chunk_id(key: ChunkKey) -> str:
    """The `_id` of a chunk: plain where it says all."""
    plain = key.document == key.chunk and key.version == AS_IS and key_of(key.chunk) is None
    return key.chunk if plain else key_token(key)


def export_beir(corpus: Corpus, labels: Labels, folder: Path) -> Exported:
    """Write a folder of the eligible chunks, the questions, and the effective grades by split."""
    found = Exported()
    hidden = len(corpus.chunks) - len(corpus.eligible)
    if hidden:
        found.left_out["chunks that are not eligible"] += hidden
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    _lines(folder / "corpus.jsonl", map(_document, corpus.eligible.values()), found)
    _lines(folder / "queries.jsonl", map(_query, labels.questions.values()), found)
    for split in _FILE_OF.values():
        (folder / "qrels" / f"{split}.tsv").unlink(missing_ok=True)
    splits: dict[str, list[list[Cell]]] = {}
    for name, key, grade in qrels(labels, found):
        splits.setdefault(labels.questions[name].split, []).append([name, chunk_id(key), grade])
    for held, rows in sorted(splits.items()):
        # Who has one set only calls it the test set.
        stem = _FILE_OF[held] if len(splits) > 1 else "test"
        path = folder / "qrels" / f"{stem}.tsv"
        write_sheet(path, _COLUMNS, rows, people=False)
        found.lines += len(rows)
        found.files.append(path)
    return found


def _document(chunk: Chunk) -> dict[str, Any]:
    metadata: dict[str, Any] = {"section": chunk.section} if chunk.section else {}
    value = {"_id": chunk_id(chunk.key), "title": chunk.title, "text": chunk.text}
    return {**value, "metadata": metadata}


def _query(question: Question) -> dict[str, Any]:
    metadata = question.model_dump(exclude_unset=True, exclude={"id", "text", "format"})
    return {"_id": question.id, "text": question.text, "metadata": metadata}


def _lines(path: Path, records: Iterable[Mapping[str, Any]], found: Exported) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            found.lines += 1
    found.files.append(path)


def import_beir(
    workspace: Workspace,
    name: str,
    folder: Path,
    *,
    grades: Scale | None = None,
    category: str = "general",
    reviewer: str,
    complete: bool = False,
    all_questions: bool = False,
    dry_run: bool = False,
    skip_refused: bool = False,
) -> list[Outcome]:
    """Make a collection of a BEIR folder: an outcome each for texts, questions and labels.

    Questions of `qrels/test.tsv` are held out where there are other splits too; all are
    development questions where there is one. Questions without a judgment are left out unless
    `all_questions` is set. Nothing is left behind where a part is refused.
    """
    workspace.require_free(name)
    _require_no_labels(workspace, name)
    for part in ("corpus.jsonl", "queries.jsonl"):
        if not (folder / part).is_file():
            raise InvalidInput(
                f"there is no {part}", place=str(folder), remedy="A BEIR folder has corpus.jsonl, "
                "queries.jsonl and qrels/*.tsv",
            )  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        (root / "data").mkdir()
        # Made whole in a workspace of its own first: what is refused late must leave nothing here.
        trial = Workspace(root)
        ways: dict[str, Any] = {"dry_run": False, "skip_refused": skip_refused}
        texts = Outcome(f"chunks of {name}", "corpus.jsonl")
        take_corpus(trial, name, _corpus(folder, texts), texts, complete=complete, **ways)
        outcomes = [texts]
        if texts.written:
            outcomes += _asked(trial, name, folder, grades, category, reviewer, all_questions, ways)
        written = all(one.written for one in outcomes)
        for one in outcomes:
            one.written = written and not dry_run
        if written and not dry_run:
            with staged(workspace, name) as made:
                shutil.copytree(root / "data" / name, made, dirs_exist_ok=True)
                _require_no_labels(workspace, name)
                shutil.copytree(root / "labels" / name, workspace.root / "labels" / name)
    return outcomes


def _require_no_labels(workspace: Workspace, name: str) -> None:
    """Raise InvalidInput where there are labels of that name: a ledger is never written over."""
    folder = workspace.root / "labels" / name
    if folder.exists():
        raise InvalidInput(
            f"there are labels of {name} already",
            place=f"labels/{name}",
            remedy="Choose another name, or move them away",
        )


def _asked(
    trial: Workspace,
    name: str,
    folder: Path,
    grades: Scale | None,
    category: str,
    reviewer: str,
    all_questions: bool,
    ways: dict[str, Any],
) -> list[Outcome]:
    """Questions and labels of the folder, taken into a collection that has its texts."""
    rows, splits = _judged(folder, trial.root / "qrels")
    spool = trial.root / "queries.jsonl"
    unjudged = 0
    with spool.open("w", encoding="utf-8", newline="\n") as file:
        for line in _questions(folder, splits, all_questions):
            unjudged += line is None
            file.write(f"{line}\n" if line else "\n")
    collection = trial.collection(name)
    questions = import_questions(collection, spool, category=category, **ways)
    if unjudged:
        questions.left_out["without a judgment"] += unjudged
        questions.read += unjudged
    if not questions.written:
        return [questions]
    # Ids are as they are here, however much one looks like another one encoded.
    keys = KeyMap({name: name for name in collection.questions()})
    keys.chunks.update((chunk_id(key), key) for key in collection.corpus().chunks)
    words: dict[str, Any] = {"grades": grades, "reviewer": reviewer, "unknown": "keep", **ways}
    words["keys"] = keys
    return [questions, *(import_labels(collection, path, **words) for path in rows)]


def _judged(folder: Path, scratch: Path) -> tuple[list[Path], dict[str, str]]:
    """The files of judgments, and the split of every question they name."""
    files = sorted((folder / "qrels").glob("*.tsv"))
    splits: dict[str, str] = {}
    made: list[Path] = []
    scratch.mkdir()
    for path in files:
        split = _SPLIT_OF.get(path.stem, "development") if len(files) > 1 else "development"
        sheet = read_sheet(path, path.name, people=False)
        if sheet.columns[:3] != _COLUMNS:
            raise InvalidInput(
                f"the columns are not {', '.join(_COLUMNS)}",
                place=f"{path.name}:1",
                remedy="Write a header line, and tabs between columns",
            )
        rows: list[list[Cell]] = []
        for number, row in sheet.rows:
            rows += [[None] * 3] * (number - 2 - len(rows))  # so that line numbers stay
            rows.append([row.get(name) for name in _COLUMNS])
            question = words_of(row.get("query-id"))
            # A question of the test set stays one, whatever else it is judged for.
            if question is not None and splits.setdefault(question, split) != split:
                splits[question] = "held-out"
        made.append(scratch / path.name)
        write_sheet(made[-1], _COLUMNS, rows)
    return made, splits


def _corpus(folder: Path, found: Outcome) -> Lines:
    def rows() -> Iterator[tuple[int, dict[str, Any] | str]]:
        for number, raw in raw_lines(folder / "corpus.jsonl", "corpus.jsonl"):
            value = parse_object(raw)
            if isinstance(value, str):
                yield number, value
                continue
            word = words_of(value.get("_id")) or ""
            metadata = value.get("metadata")
            metadata = metadata if isinstance(metadata, dict) else {}
            key = key_of(word) or ChunkKey(word, AS_IS, word)
            # Whatever else is said of a document may serve as a filter.
            yield number, {
                **{name: item for name, item in metadata.items() if name not in _ROLES},
                "document": key.document, "version": key.version, "chunk": key.chunk,
                "title": value.get("title") or "", "section": metadata.get("section") or "",
                "text": value.get("text"),
            }  # fmt: skip

    return corpus_lines(rows(), {role: role for role in _ROLES}, found)


def _questions(
    folder: Path, splits: Mapping[str, str], all_questions: bool
) -> Iterator[str | None]:
    """A line per question as `questions.jsonl` has it; None for one that is left out."""
    for _, raw in raw_lines(folder / "queries.jsonl", "queries.jsonl"):
        value = parse_object(raw)
        if isinstance(value, str):
            yield raw.decode("utf-8", "replace")  # refused with its reason where it is read
            continue
        question = words_of(value.get("_id")) or ""
        known = Question.model_fields.keys() - {"format", "id", "text"}
        metadata = value.get("metadata")
        more = metadata if isinstance(metadata, dict) else {}
        record = {key: item for key, item in more.items() if key in known}
        if splits and question not in splits and not all_questions and not record:
            yield None
            continue
        if splits.get(question) == "held-out":
            record.setdefault("split", "held-out")
        yield canonical({**record, "id": question, "text": value.get("text")})

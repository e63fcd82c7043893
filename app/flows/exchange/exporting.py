"""One door for everything that goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import InvalidInput
from app.core.files import on_disk, replace_file
from app.core.scale import OURS, Scale
from app.engines.executions import Execution
from app.engines.sheets import is_sheet
from app.engines.sheets_out import write_sheet
from app.engines.store import Store
from app.flows.comparing import find_execution
from app.flows.events import event_lines, events
from app.flows.exchange import event_rows, execution_files
from app.flows.exchange.beir import export_beir
from app.flows.exchange.keymaps import map_beside
from app.flows.exchange.questions import export_questions
from app.flows.exchange.trec_out import Exported, Scores, export_qrels, export_run
from app.flows.loading import Loaded, load
from app.workspace import Collection

#: What the name of a file may end in, where not everything goes.
_ENDINGS = {
    "questions": (".jsonl", ".json", ".csv", ".tsv", ".xlsx"),
    "execution": (".parquet", ".json"),
}
KINDS = ("questions", "labels", "run", "beir", "execution")


@dataclass(frozen=True)
class Choice:
    """Which execution, on which scale, and what the score column of a run holds."""

    execution: str | None = None
    grades: Scale = field(default_factory=lambda: OURS)
    order: Scores = "score"
    force: bool = False


def send_out(
    collection: Collection, kind: str, path: Path, choice: Choice, loaded: Loaded | None = None
) -> Exported:
    """Export one of KINDS of a collection; the name's ending says in which format.

    Labels: `.jsonl` every event, lossless; `.csv`, `.tsv`, `.xlsx` every event for people; anything
    else TREC qrels of the effective grades. `loaded` is the collection where it has been read
    already. Raises InvalidInput where the file is there already or
    there is nothing to export.
    """
    if kind == "beir" and path.exists() and not path.is_dir():
        raise InvalidInput("this is a file", place=str(path), remedy="Name a folder")
    if kind != "beir" and path.is_dir():
        raise InvalidInput("this is a folder", place=str(path), remedy="Name a file in it")
    for taken in (path, map_beside(path)) if _has_map(kind, path) else (path,):
        if taken.exists() and not choice.force:
            raise InvalidInput(
                "it is there already; nothing was written",
                place=str(taken),
                remedy="Name another one, or write over it with --force",
            )
    ending = path.suffix.lower()
    if kind == "labels" and ending == ".zip":
        raise InvalidInput(
            "labels go into a .zip as a bundle",
            place=str(path),
            remedy=f"Run: desk labels bundle {collection.name} {path}",
        )
    if kind in _ENDINGS and ending not in _ENDINGS[kind]:
        raise InvalidInput(
            f"{kind} do not go into a file called so"
            if kind == "questions"
            else f"an {kind} does not go into a file called so",
            place=str(path),
            remedy=f"Let its name end in one of {', '.join(_ENDINGS[kind])}",
        )
    with on_disk("it cannot be written", str(path), "Name a place you may write to"):
        path.parent.mkdir(parents=True, exist_ok=True)
        return _export(collection, kind, path, choice, loaded)


def _has_map(kind: str, path: Path) -> bool:
    """Whether an export is TREC, which has a map of its ids beside it."""
    plain = path.suffix.lower() in (".jsonl", ".json") or is_sheet(path)
    return kind == "run" or (kind == "labels" and not plain)


def _export(
    collection: Collection, kind: str, path: Path, choice: Choice, loaded: Loaded | None
) -> Exported:
    if kind == "questions":
        return Exported(export_questions(collection, path), files=[path])
    if kind == "labels":
        return _labels(collection, path, choice.grades, loaded)
    if kind == "beir":
        loaded = loaded or load(collection)
        return export_beir(loaded.corpus, loaded.labels, path)
    store = Store.at(collection.workspace.store_path)
    execution = _execution(collection, store, choice.execution)
    if kind == "run":
        return export_run(store, execution, path, choice.order)
    retain_text = collection.settings.retain_text
    written = execution_files.export_execution(store, execution.id, path, retain_text=retain_text)
    return Exported(written, files=[path])


def _labels(collection: Collection, path: Path, grades: Scale, loaded: Loaded | None) -> Exported:
    if path.suffix.lower() in (".jsonl", ".json"):
        lines = list(event_lines(collection))
        replace_file(path, b"".join(lines).decode())
        return Exported(len(lines), files=[path])
    if is_sheet(path):
        texts = {question.id: question.text for question in collection.questions().values()}
        rows = [
            event_rows.event_row(event, texts.get(getattr(event, "question", "")))
            for event in events(collection)
        ]
        write_sheet(path, event_rows.COLUMNS, rows)
        return Exported(len(rows), files=[path])
    return export_qrels((loaded or load(collection)).labels, path, grades)


def _execution(collection: Collection, store: Store, name: str | None) -> Execution:
    if not store.path.exists():
        raise InvalidInput(
            "there is no execution yet", remedy=f"Make one: desk evaluate {collection.name}"
        )
    if name is None:
        raise InvalidInput("no execution is named", remedy="Name one: --execution ID")
    found = find_execution(store, name, collection.name)
    if found.collection != collection.name:
        raise InvalidInput(
            f"{found.id} is of {found.collection}", remedy=f"See: desk executions {collection.name}"
        )
    return found

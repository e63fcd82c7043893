"""One door for everything that comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import InvalidInput
from app.core.scale import Scale
from app.flows.exchange.beir import import_beir
from app.flows.exchange.corpora import import_corpus
from app.flows.exchange.execution_files import import_execution
from app.flows.exchange.label_rows import Unknown
from app.flows.exchange.labels import IMPORTED, import_labels
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.questions import import_questions
from app.flows.exchange.run_rows import Order
from app.flows.exchange.runs import Missing, import_run
from app.flows.progress import Progress, silent
from app.workspace import Workspace

#: Kinds of files, and the options that mean something for each.
TAKES: Mapping[str, tuple[str, ...]] = {
    "corpus": ("columns", "complete"),
    "questions": ("columns", "category", "update"),
    "labels": ("columns", "grades", "reviewer", "unknown", "blind", "keys"),
    "run": ("name", "order", "missing", "keys", "progress"),
    "beir": ("grades", "category", "reviewer", "complete", "all_questions"),
    "execution": (),
}
KINDS = tuple(TAKES)


@dataclass(frozen=True)
class Options:
    """Everything an import can be told; each kind takes what concerns it."""

    columns: Mapping[str, str] = field(default_factory=dict)
    category: str = "general"
    update: bool = False
    grades: Scale | None = None
    reviewer: str = IMPORTED
    blind: bool = True
    unknown: Unknown | None = None
    keys: Path | None = None
    complete: bool = False
    all_questions: bool = False
    name: str | None = None
    order: Order = "rank"
    missing: Missing = "empty"
    dry_run: bool = False
    skip_refused: bool = False
    progress: Progress = silent


def bring_in(
    workspace: Workspace, name: str, kind: str, path: Path, options: Options
) -> list[Outcome]:
    """Import a file or folder of one of KINDS into a collection; one outcome per part.

    Raises InvalidInput where the whole is refused.
    """
    if not path.exists():
        raise InvalidInput("there is no such file", place=str(path), remedy="Name one that exists")
    if path.is_dir() != (kind == "beir") and not (kind == "corpus" and path.is_dir()):
        what = "a folder" if kind == "beir" else "a file"
        raise InvalidInput(f"{kind} needs {what}", place=str(path), remedy=f"Name {what}")
    words = {option: getattr(options, option) for option in TAKES[kind]}
    words |= {"dry_run": options.dry_run, "skip_refused": options.skip_refused}
    if kind == "corpus":
        return [import_corpus(workspace, name, path, **words)]
    if kind == "beir":
        return import_beir(workspace, name, path, **words)
    imports: Mapping[str, Callable[..., Outcome]] = {
        "questions": import_questions,
        "labels": import_labels,
        "run": import_run,
        "execution": import_execution,
    }
    return [imports[kind](workspace.collection(name), path, **words)]

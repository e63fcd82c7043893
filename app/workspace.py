"""Where a workspace's files are, and its collections with their settings, read once."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import get_args

from app.core.catalogue import POINTS, Sync, require_sync
from app.core.corpus import Corpus, SourceSpec, read_corpus
from app.core.errors import InvalidInput, NotReady
from app.core.events import Event, parse_event, readable, retirements
from app.core.judgments import Judgment
from app.core.labels import Labels, resolve
from app.core.ledger import Ledger
from app.core.question_events import Asked, overlay
from app.core.questions import Question, QuestionFile, parse_record
from app.core.snapshot import read_complete_hashes
from app.core.text import shown
from app.core.tomlfiles import keys_of, read_toml
from app.settings import MODELS, CollectionSettings, Configuration
from app.settings.sources import Role

Signature = tuple[tuple[str, int, int], ...]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_KNOWN_KEYS = keys_of(MODELS)


@dataclass(frozen=True)
class Workspace:
    """A folder with `data/` and `labels/`."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Workspace:
        """The workspace in a folder; raises InvalidInput where there is none."""
        if not (root / "data").is_dir():
            raise InvalidInput(
                "there is no workspace here (no folder data)",
                place=str(root),
                remedy="Go to one, name one with --workspace, or make one: desk init DIR",
            )
        return cls(root.resolve())

    @property
    def data(self) -> Path:
        """The folder of collections."""
        return self.root / "data"

    @property
    def store_path(self) -> Path:
        """The DuckDB file with the executions."""
        return self.data / "desk.duckdb"

    @property
    def running(self) -> Path:
        """Marks of work under way, to tell the next start what was cut short."""
        return self.data / ".running"

    def names(self) -> list[str]:
        """Names of the collections, sorted."""
        found = (path.parent.name for path in self.data.glob("*/collection.toml"))
        return sorted(name for name in found if not name.startswith("."))

    def title(self, name: str) -> str:
        """What a collection is called by people; its name where its settings say nothing."""
        try:
            return self.collection(name).settings.title or name
        except InvalidInput:
            return name

    def collection(self, name: str) -> Collection:
        """One collection; raises InvalidInput where it is unknown or its settings are refused."""
        self.require(name)
        place = f"data/{name}/collection.toml"
        return Collection(self, name, read_settings(self.data / name / "collection.toml", place))

    def require_free(self, name: str) -> None:
        """Raise InvalidInput unless a collection of that name can be made."""
        if not _NAME.fullmatch(name) or name.startswith("desk."):
            raise InvalidInput(
                f"the collection name {shown(name)} may have a-z, 0-9, '.', '_' and '-' only, and "
                "not begin with 'desk.'",
                remedy="Choose another name",
            )
        if (self.data / name).exists():
            raise InvalidInput(
                f"there is a collection {name} already",
                place=f"data/{name}",
                remedy="Change its source texts there, or choose another name",
            )

    def require(self, name: str) -> None:
        """Raise InvalidInput unless there is a collection of that name."""
        names = self.names()
        if name not in names:
            known = ", ".join(names) or "none yet"
            raise InvalidInput(
                f"there is no collection {shown(name)}",
                remedy=f"Collections here: {known}. A collection is a folder data/<name> with a "
                "collection.toml",
            )
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f"the collection name {shown(name)} may have a-z, 0-9, '.', '_' and '-' only",
                remedy="Rename the folder",
            )


def read_settings(path: Path, place: str) -> CollectionSettings:
    """Validated settings; raises InvalidInput with file, key and remedy of every problem."""
    return read_toml(CollectionSettings, path, place, _KNOWN_KEYS)


@dataclass(frozen=True)
class Collection:
    """One corpus with its questions, labels and retrieval configurations.

    Ledgers are kept, so that a long-lived process reads only what was added.
    """

    workspace: Workspace
    name: str
    settings: CollectionSettings

    @property
    def folder(self) -> Path:
        """`data/<name>`."""
        return self.workspace.data / self.name

    @property
    def labels_folder(self) -> Path:
        """`labels/<name>`."""
        return self.workspace.root / "labels" / self.name

    @property
    def labels_place(self) -> str:
        """The labels folder as messages show it."""
        return f"labels/{self.name}"

    @property
    def vectors(self) -> Path:
        """The vector cache and the manifests of what is indexed."""
        return self.folder / "vectors"

    @cached_property
    def ledger(self) -> Ledger[Judgment]:
        """The judgments, one file per reviewer."""
        place = f"{self.labels_place}/judgments"
        return Ledger(self.labels_folder / "judgments", place, partial(parse_record, Judgment))

    @cached_property
    def events(self) -> Ledger[Event]:
        """Events that are no judgments, one file per author."""
        return Ledger(self.labels_folder / "events", f"{self.labels_place}/events", parse_event)

    def source_signature(self) -> Signature:
        """Name, time and size of every file the corpus is read from."""
        source = self.source().path
        return signature_of([source, *(source.rglob("*.md") if source.is_dir() else [])])

    def question_signature(self) -> Signature:
        """The same of every file questions are read from."""
        events = (self.labels_folder / "events").glob("*.jsonl")
        return signature_of([self.labels_folder / "questions.jsonl", *events])

    def label_signature(self) -> Signature:
        """The same of every file in the folder of labels."""
        return signature_of(p for p in self.labels_folder.rglob("*") if p.suffix != ".lock")

    def configuration(self, name: str) -> Configuration:
        """A named configuration; raises InvalidInput where it is unknown."""
        known = self.settings.configurations
        if name not in known:
            raise InvalidInput(
                f"the collection {self.name} has no configuration {shown(name)}",
                place=f"data/{self.name}/collection.toml",
                remedy=f"Configurations there: {', '.join(known)}",
            )
        return known[name]

    def source(self) -> SourceSpec:
        """Where the source texts are and how they are cut."""
        source = self.settings.source
        path, fields = source.path, {str(role): name for role, name in source.fields.items()}
        if source.kind == "qdrant":
            # The catalogue has the mapping behind it: its lines call things by their own names.
            path, fields = f"catalogue/{POINTS}", {role: role for role in get_args(Role)}
        return SourceSpec(
            kind=source.kind,
            path=Path(os.path.normpath(self.folder / path)),
            place=os.path.normpath(f"data/{self.name}/{path}"),
            rule=source.version or self.settings.chunking.rule,
            fields=fields,
            eligible=self.settings.filters,
        )

    def corpus(self) -> Corpus:
        """Read and cut the source texts now.

        Raises InvalidInput; for a foreign collection NotReady where it must be synced first.
        """
        if not self.settings.foreign:
            return read_corpus(self.source())
        self.sync()
        try:
            return read_corpus(self.source())
        except InvalidInput as error:
            # A sync writes nothing that could be refused: it was damaged since.
            more = f" (and {len(error.problems) - 1:,} more)" if len(error.problems) > 1 else ""
            raise NotReady(
                f"the catalogue is damaged: {error.problems[0].message}{more}",
                place=error.problems[0].place,
                remedy=f"Sync it again: desk sync {self.name}",
            ) from error

    @property
    def catalogue(self) -> Path:
        """The folder of what was last read of a foreign collection."""
        return self.folder / "catalogue"

    def sync(self) -> Sync:
        """What the last sync of a foreign collection found; raises NotReady where none fits."""
        of, url = str(self.settings.source.collection), str(self.settings.qdrant_url)
        return require_sync(self.catalogue, self.name, of, url, self.settings.mapping)

    @cached_property
    def question_file(self) -> QuestionFile:
        """The questions as the file has them, without what people changed since."""
        path = self.labels_folder / "questions.jsonl"
        return QuestionFile(path, f"{self.labels_place}/questions.jsonl")

    def asked(self) -> Asked:
        """The effective questions, those retired, and what is to be known of them.

        Raises InvalidInput where questions.jsonl is refused. A file of events with a refused line
        is left out, so that it keeps nobody from grading; `labels` raises it.
        """
        return overlay(self.question_file.read(), readable(self.events), self.question_file.place)

    def questions(self) -> dict[str, Question]:
        """Every effective question by id; raises InvalidInput as `asked`."""
        return dict(self.asked().questions)

    def guidelines(self) -> str | None:
        """The text of `guidelines.md`, or None without one."""
        path = self.labels_folder / "guidelines.md"
        try:
            return path.read_bytes().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            place, remedy = f"{self.labels_place}/guidelines.md", "Put a readable file there"
            message = f"the file cannot be read: {error.strerror}"
            raise InvalidInput(message, place=place, remedy=remedy) from error

    def guidelines_version(self) -> str | None:
        """Content hash of `guidelines.md`, or None without guidelines."""
        words = self.guidelines()
        return None if words is None else hashlib.sha256(words.encode()).hexdigest()

    def guidelines_pin(self) -> str | None:
        """The guidelines' version where the settings say that labels depend on it."""
        return self.guidelines_version() if self.settings.labels.guidelines_matter else None

    def labels(self, corpus: Corpus, questions: dict[str, Question]) -> Labels:
        """The labels as they are now; raises InvalidInput with every label that is refused."""
        judgments = self.ledger.read()
        events, asked = self.events.read(), self.asked()
        scoring = self.settings.scoring_settings()
        labels = resolve(
            judgments.events,
            retirements(events.events),
            questions,
            corpus,
            scoring,
            read_complete_hashes(self.labels_folder, scoring, corpus),
            self.guidelines_pin(),
            retired=frozenset({*asked.retired, *asked.questions} - questions.keys()),
        )
        return labels.noticing((*judgments.notices, *events.notices, *asked.notices))


def signature_of(paths: Iterable[Path]) -> Signature:
    """Name, time and size of the files there are: equal while none of them has changed."""
    found = []
    for path in sorted(paths):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(found)

"""Back up what cannot be made again: the store, the labels, the settings, as one .zip file."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from app import __version__
from app.core.errors import InvalidInput
from app.core.files import on_disk
from app.core.jsonlines import parse_object
from app.core.judgments import now
from app.engines.store import Store
from app.engines.upkeep import Copied, copy_store
from app.flows.upkeep.common import files_in, size_words
from app.flows.wording import count
from app.workspace import Workspace

#: The folder in which a backup is made, beside its file; one that is left over is a crash's.
WORK = ".desk-backup-"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """A file in the backup."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written and read again. `store` is None where there is none yet."""

    path: Path
    size: int
    made: str
    store: Copied | None
    members: tuple[Member, ...]
    label_lines: int
    notices: tuple[str, ...]


def back_up(workspace: Workspace, path: Path | None = None, *, force: bool = False) -> Backup:
    """Write a backup to `path`, or to a file named after the time in the workspace's folder.

    The file is there whole or not at all. Raises InvalidInput where one is there already (unless
    `force`) or it cannot be written, StoreError where the store cannot be copied.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    target = path or workspace.root / f"desk-backup-{stamp}.zip"
    _require_free(workspace, target, force=force)
    remedy = "Name a file in a folder with room that you may write to"
    with (
        on_disk("the backup cannot be written", str(target), remedy),
        TemporaryDirectory(prefix=WORK, dir=target.resolve().parent) as folder,
    ):
        written = Path(folder) / "backup.zip"
        found = _write(workspace, Path(folder), written)
        _require_free(workspace, target, force=force)
        written.replace(target)
    return Backup(target, target.stat().st_size, *found)


def _require_free(workspace: Workspace, target: Path, *, force: bool) -> None:
    message, remedy = "", "Name another file"
    if not target.resolve().parent.is_dir():
        message, remedy = "there is no such folder", "Make it, or name another"
    elif target.is_dir():
        message, remedy = "this is a folder", "Name a file in it"
    elif target.resolve().is_relative_to((workspace.root / "labels").resolve()):
        message = "a backup among the labels would be in the next backup"
    elif target.exists() and not force:
        message, remedy = "there is such a file already", "Name another one, or add --force"
    if message:
        raise InvalidInput(message, place=str(target), remedy=remedy)


def _write(
    workspace: Workspace, folder: Path, path: Path
) -> tuple[str, Copied | None, tuple[Member, ...], int, tuple[str, ...]]:
    made, notices, lines = now(), list[str](), 0
    copy = folder / workspace.store_path.name
    store = None
    if workspace.store_path.exists():
        store = copy_store(Store.at(workspace.store_path), copy)
    members: list[Member] = []
    with path.open("wb") as file:
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            if store is not None:
                with copy.open("rb") as source:
                    size = copy.stat().st_size
                    members.append(_add(archive, "data/desk.duckdb", source, size))
                copy.unlink()
            for name, raw in _texts(workspace, notices):
                members.append(_add(archive, name, BytesIO(raw), len(raw)))
                lines += raw.count(b"\n") if _is_ledger(name) else 0
            contents = {
                "format": 1,
                **_facts(made, store, lines),
                "members": [asdict(member) for member in members],
            }
            raw = (json.dumps(contents, indent=2, ensure_ascii=False) + "\n").encode()
            _add(archive, "backup.json", BytesIO(raw), len(raw))
        file.flush()
        os.fsync(file.fileno())
    _verify(path, members)
    return made, store, tuple(members), lines, tuple(notices)


def _texts(workspace: Workspace, notices: list[str]) -> Iterator[tuple[str, bytes]]:
    """Settings and labels with the names they have in the workspace."""
    settings = [f"data/{name}/collection.toml" for name in workspace.names()]
    labels = [
        path.relative_to(workspace.root).as_posix()
        for path in files_in(workspace.root / "labels")
        if path.suffix != ".lock"
    ]
    for name in (*settings, *labels):
        try:
            raw = (workspace.root / name).read_bytes()
        except FileNotFoundError:
            continue  # written beside a file, and renamed meanwhile
        except OSError as error:
            message, remedy = f"the file cannot be read: {error.strerror}", "Mend its permissions"
            raise InvalidInput(message, place=name, remedy=remedy) from error
        yield name, _whole_lines(name, raw, notices) if _is_ledger(name) else raw


def _is_ledger(name: str) -> bool:
    """Whether a file is appended to: `labels/<collection>/<folder>/<author>.jsonl`."""
    parts = name.split("/")
    appended = parts[0] == "labels" and len(parts) >= 4 and parts[2] != "complete"
    return appended and name.endswith(".jsonl")


def _whole_lines(name: str, raw: bytes, notices: list[str]) -> bytes:
    """What was saved: without a last line that is being written, or that a crash cut short."""
    whole, newline, tail = raw.rpartition(b"\n")
    if not tail.strip() or isinstance(parse_object(tail), dict):
        return raw
    notices.append(
        f"{name}: the last line is not whole ({len(tail)} bytes) and not in the backup. It was not "
        "confirmed as saved."
    )
    return whole + newline


def _add(archive: ZipFile, name: str, source: BinaryIO, size: int) -> Member:
    info = ZipInfo(name, datetime.now(UTC).timetuple()[:6])
    info.compress_type, info.external_attr, info.file_size = ZIP_DEFLATED, 0o644 << 16, size
    digest = hashlib.sha256()
    with archive.open(info, "w") as file:
        while block := source.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return Member(name, size, digest.hexdigest())


def _verify(path: Path, members: list[Member]) -> None:
    """Read the file again; raises InvalidInput unless it holds what was put in."""
    for member in members:
        digest = hashlib.sha256()
        try:
            with ZipFile(path) as archive, archive.open(member.name) as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
            fine = digest.hexdigest() == member.sha256
        except (BadZipFile, EOFError, zlib.error):
            fine = False
        if not fine:
            raise InvalidInput(
                f"{member.name} does not read as it was written; there is no backup",
                place=str(path.parent.parent),
                remedy="Check the disk, or name a file on another one",
            )


def _facts(made: str, store: Copied | None, label_lines: int) -> dict[str, Any]:
    rows: Mapping[str, int] | None = None if store is None else store.rows
    return {
        "made": made,
        "program": __version__,
        "schema": None if store is None else store.schema,
        "counts": {"label_lines": label_lines, "store": rows},
    }


def as_json(backup: Backup) -> dict[str, Any]:
    """The answer of `desk backup --json`."""
    return {
        "format": 1,
        "file": str(backup.path),
        "bytes": backup.size,
        **_facts(backup.made, backup.store, backup.label_lines),
        "members": [asdict(member) for member in backup.members],
        "notices": list(backup.notices),
    }


def as_text(backup: Backup, workspace: Workspace) -> str:
    """The answer of `desk backup`, with how to put it back."""
    names = [member.name for member in backup.members]
    settings = sum(name.startswith("data/") and name.endswith(".toml") for name in names)
    labels = sum(name.startswith("labels/") for name in names)
    if backup.store is None:
        store = "none yet: nothing was evaluated"
    else:
        executions = count(backup.store.rows.get("executions", 0), "execution")
        store = f"{executions}; the copy is compact, and was read again"
    return "\n".join(
        [
            f"{backup.path}: {size_words(backup.size)}, {count(len(names), 'file')}",
            f"  store     {store}",
            f"  labels    {count(labels, 'file')}, {count(backup.label_lines, 'line')} in ledgers",
            f"  settings  {count(settings, 'collection')}",
            "",
            "Not in it: source texts, which you keep, and vectors, which desk index makes again.",
            "To restore: end whatever runs in the workspace, move data/desk.duckdb.wal away if it "
            "is there,",
            f"  unzip -o {quote(str(backup.path))} -x backup.json -d {quote(str(workspace.root))}",
            "and look whether all is well: desk doctor. Files in the backup take the place of "
            "newer ones.",
        ]
    )

"""A bundle: the labels of a collection in one .zip, for reviewers who do not use git.

`bundle.json` names the collection, counts, and the sha256 of every member. The same labels give
the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from app.core.errors import InvalidInput, Problem
from app.core.files import replacing
from app.core.jsonlines import parse_object
from app.core.text import shown
from app.core.validation import Record, problems_in
from app.flows.events import event_lines
from app.workspace import Workspace

#: The most a bundle may hold: members, and bytes unpacked; beyond `_SMALL` bytes also how many
#: times as large as the packed ones. Ledgers shrink to a tenth or so.
MOST_MEMBERS, MOST_BYTES, _SMALL, _MOST_RATIO = 10_000, 500_000_000, 10_000_000, 100
_ABOUT, _LABELS, _QUESTIONS, _GUIDELINES = (
    "bundle.json",
    "labels.jsonl",
    "questions.jsonl",
    "guidelines.md",
)
_COMPLETE = re.compile(r"complete/[A-Za-z0-9][A-Za-z0-9_-]*\.jsonl")
_REMEDY = "Ask for the file again, made by: desk labels bundle"


class _Counts(Record):
    """How much a bundle holds."""

    events: int
    reviewers: int
    questions: int


class _About(Record):
    """`bundle.json`: what is in a bundle. `members` maps a name to its sha256."""

    format: Literal[1]
    collection: str
    counts: _Counts
    members: dict[str, str]


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds: the bytes of its files, and counts of events, reviewers, questions.

    `complete` maps names, as in `labels/<collection>/complete/`, to bytes.
    """

    collection: str
    counts: Mapping[str, int]
    labels_jsonl: bytes
    questions_jsonl: bytes
    guidelines_md: bytes | None = None
    complete: Mapping[str, bytes] = field(default_factory=dict)


def bundle(workspace: Workspace, name: str, path: Path, *, force: bool = False) -> Bundle:
    """Write the labels of a collection as one .zip; returns what is in it.

    Raises InvalidInput where a line of the labels cannot be read, or the file is there already.
    """
    collection = workspace.collection(name)
    place = str(path)
    if path.is_dir():
        raise InvalidInput("this is a folder", place=place, remedy="Name a file in it")
    if path.suffix.lower() != ".zip":
        message = "a bundle is a .zip, and desk import knows it by that"
        raise InvalidInput(message, place=place, remedy="Let its name end in .zip")
    if path.exists() and not force:
        raise InvalidInput(
            "the file is there already; nothing was written",
            place=place,
            remedy="Name another one, or replace it with --force",
        )
    folder = collection.labels_folder
    problems: list[Problem] = []
    lines: list[bytes] = []
    for check in (lambda: lines.extend(event_lines(collection)), collection.questions):
        try:
            check()
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput.of(dict.fromkeys(problems))
    members = {_LABELS: b"".join(lines), _QUESTIONS: _bytes(folder / _QUESTIONS) or b""}
    if (guidelines := _bytes(folder / _GUIDELINES)) is not None:
        members[_GUIDELINES] = guidelines
    for file in sorted((folder / "complete").glob("*.jsonl")):
        if _COMPLETE.fullmatch(member := f"complete/{file.name}"):
            members[member] = file.read_bytes()
    authors = {json.loads(line)["author"] for line in lines}
    about = _About(
        format=1,
        collection=name,
        counts=_Counts(
            events=len(lines), reviewers=len(authors), questions=len(collection.questions())
        ),
        members={member: hashlib.sha256(data).hexdigest() for member, data in members.items()},
    )
    words = json.dumps(about.model_dump(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    try:
        _write(path, {_ABOUT: words.encode(), **members})
    except OSError as error:
        raise InvalidInput(
            f"the file cannot be written: {error.strerror}",
            place=place,
            remedy="Name a file in a folder you may write to",
        ) from error
    return _made(about, members)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _made(about: _About, members: Mapping[str, bytes]) -> Bundle:
    folder = "complete/"
    return Bundle(
        collection=about.collection,
        counts=about.counts.model_dump(),
        labels_jsonl=members[_LABELS],
        questions_jsonl=members[_QUESTIONS],
        guidelines_md=members.get(_GUIDELINES),
        complete={n.removeprefix(folder): members[n] for n in members if n.startswith(folder)},
    )


def _write(path: Path, members: Mapping[str, bytes]) -> None:
    """A whole .zip or none; names sorted behind `bundle.json`, no times, no owners."""
    with replacing(path) as beside, zipfile.ZipFile(beside, "w") as file:
        for name in sorted(members, key=lambda name: (name != _ABOUT, name)):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, members[name], compresslevel=9)


def read_bundle(path: Path) -> Bundle:
    """What a bundle holds, once every member is what `bundle.json` says.

    Nothing is unpacked onto the disk. Raises InvalidInput for what is no bundle, is damaged, or
    would unpack to more than a bundle may hold.
    """
    place = str(path)
    try:
        with zipfile.ZipFile(path) as file:
            entries = _entries(file, place)
            members = {name: file.read(entry) for name, entry in entries.items()}
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise InvalidInput(message, place=place, remedy="Name a bundle") from error
    except zipfile.BadZipFile as error:
        message = "the file is no .zip, or a damaged one"
        raise InvalidInput(message, place=place, remedy=_REMEDY) from error
    except (zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        message = "the file is damaged, encrypted, or packed in a way bundles are not"
        raise InvalidInput(message, place=place, remedy=_REMEDY) from error
    about = _about(members.pop(_ABOUT), place)
    if odd := sorted(about.members.keys() ^ members.keys()):
        message = f"{_ABOUT} and the files in the bundle do not agree on {shown(odd[0])}"
        raise InvalidInput(message, place=place, remedy=_REMEDY)
    for name, data in members.items():
        if hashlib.sha256(data).hexdigest() != about.members[name]:
            message = f"{name} is not what it was when the bundle was made"
            raise InvalidInput(message, place=place, remedy=_REMEDY)
    return _made(about, members)


def _entries(file: zipfile.ZipFile, place: str) -> dict[str, zipfile.ZipInfo]:
    """The members by name; raises InvalidInput before anything is unpacked."""
    listed = file.infolist()
    names = [entry.filename for entry in listed]
    size = sum(entry.file_size for entry in listed)
    packed = sum(entry.compress_size for entry in listed)
    known = {_ABOUT, _LABELS, _QUESTIONS, _GUIDELINES}
    strange = [name for name in names if name not in known and not _COMPLETE.fullmatch(name)]
    lacking = [name for name in (_ABOUT, _LABELS, _QUESTIONS) if name not in names]
    fault = None
    if lacking:
        fault = f"{lacking[0]} is not in it, so it is no bundle"
    elif strange:
        fault = f"{shown(strange[0])} has no place in a bundle"
    elif len(names) != len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        fault = f"{shown(twice)} is in it twice"
    elif len(names) > MOST_MEMBERS:
        fault = f"it holds {len(names):,} files; a bundle has at most {MOST_MEMBERS:,}"
    elif size > MOST_BYTES or (size > _SMALL and size > _MOST_RATIO * packed):
        fault = f"it would unpack to {size:,} bytes, more than such a bundle holds"
    if fault:
        raise InvalidInput(fault, place=place, remedy=_REMEDY)
    return dict(zip(names, listed, strict=True))


def _about(raw: bytes, place: str) -> _About:
    value: dict[str, Any] | str = parse_object(raw)
    if isinstance(value, str):
        raise InvalidInput(f"{_ABOUT} {value}", place=place, remedy=_REMEDY)
    if value.get("format") != 1:
        message = f"the bundle is of format {shown(str(value.get('format')))}, not 1"
        raise InvalidInput(message, place=place, remedy="Update the program that reads it")
    try:
        return _About.model_validate(value)
    except ValidationError as error:
        raise InvalidInput.of(problems_in(error, f"{place}: {_ABOUT}", remedy=_REMEDY)) from error

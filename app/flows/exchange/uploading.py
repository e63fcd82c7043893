"""Files and pasted rows that somebody hands to a page: tried first, then taken.

What a file is called is never taken for a path: it is written under a name of our own into a folder
outside the workspace, read from there, and called in every message as its owner calls it.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from app.core.errors import DeskError, InvalidInput, Problem
from app.flows.exchange.importing import TAKES, Options
from app.flows.exchange.labels import import_labels
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.permitted import Limits, limits_of, require_within
from app.flows.exchange.questions import import_questions
from app.flows.loading import Loaded
from app.flows.roles import require_grader

Kind = Literal["labels", "questions"]

#: The most a page takes: bytes, bytes of what is packed, and lines. More is for the command, which
#: is a process of its own and holds up no reviewer.
MOST_BYTES, MOST_PACKED, MOST_LINES = 25_000_000, 5_000_000, 100_000
#: Endings that say how a file is read. Labels of any other ending are TREC qrels.
_ENDINGS: Mapping[Kind, tuple[str, ...]] = {
    "labels": (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".zip"),
    "questions": (".jsonl", ".json", ".ndjson", ".csv", ".tsv", ".xlsx", ".zip"),
}
_PACKED, _SHEETS = (".xlsx", ".zip"), (".csv", ".tsv")
#: Characters of a file's name in messages.
_LONGEST = 80
_QRELS_ROW = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+\s*")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was handed over: what its owner calls it, its bytes, and those of its map.

    `keys` is a map file of what its ids stand for, None without one; `keys_name` its name.
    """

    name: str
    data: bytes
    keys: bytes | None = None
    keys_name: str = "map.jsonl"


def pasted(words: str, kind: Kind) -> Upload:
    """What was pasted as a file, called by the format it looks like: `pasted.csv`, ..."""
    text = words.lstrip("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    first = lines[0] if lines else ""
    if first.lstrip().startswith("{"):
        ending = "jsonl"
    elif kind == "labels" and lines and all(_QRELS_ROW.fullmatch(line) for line in lines[:20]):
        ending = "qrels"
    else:
        ending = "tsv" if "\t" in first else "csv"
    return Upload(f"pasted.{ending}", text.encode("utf-8", "backslashreplace"))


def tried(loaded: Loaded, kind: Kind, upload: Upload, options: Options) -> Outcome:
    """What an import would come to; writes nothing into the workspace.

    Raises InvalidInput where the whole file is refused, and as `import_labels` and
    `import_questions`.
    """
    return _imported(loaded, kind, upload, replace(options, dry_run=True))


def taken(loaded: Loaded, reviewer: str, kind: Kind, upload: Upload, options: Options) -> Outcome:
    """Import a file; nothing is written where a row is refused, unless the options skip them.

    Raises InvalidInput where the reviewer may not grade, and as `tried` and `require_permitted`.
    """
    workspace = loaded.collection.workspace
    require_grader(workspace, reviewer)
    if limits_of(workspace, reviewer) != Limits():
        found = tried(loaded, kind, upload, options)
        require_permitted(loaded, reviewer, kind, upload, found)
    return _imported(loaded, kind, upload, replace(options, dry_run=False))


def require_permitted(
    loaded: Loaded, reviewer: str, kind: Kind, upload: Upload, found: Outcome
) -> None:
    """Raise InvalidInput where a file brings what the reviewer may not import.

    Those are decisions of a reviewer who may not adjudicate and, where a sign-in says who that is,
    also labels and events of other people. `found` is what trying the file came to.
    """
    limits = limits_of(loaded.collection.workspace, reviewer)
    if kind != "labels" or limits == Limits():
        return
    with tempfile.TemporaryDirectory() as folder:
        path = _written(folder, kind, upload)
        require_within(loaded, limits, path, found.authors, called(upload.name))


def called(name: str) -> str:
    """A file's name as messages have it: its last part, printable, not long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].encode("utf-8", "replace").decode()
    kept = "".join(letter if letter.isprintable() else "?" for letter in last).strip() or "file"
    return kept if len(kept) <= _LONGEST else f"{kept[: _LONGEST - 20]}…{kept[-19:]}"


def _imported(loaded: Loaded, kind: Kind, upload: Upload, options: Options) -> Outcome:
    name = called(upload.name)
    ending = _ending(kind, name)
    _require_readable(name, ending, upload.data, loaded.collection.name, kind)
    words: dict[str, Any] = {one: getattr(options, one) for one in TAKES[kind]}
    words |= {"dry_run": options.dry_run, "skip_refused": options.skip_refused}
    with tempfile.TemporaryDirectory() as folder:
        path = _written(folder, kind, upload)
        names = {str(path): name, path.name: name}
        if kind == "labels":
            words["loaded"] = loaded
            if upload.keys is not None:
                keys = words["keys"] = Path(folder) / f"{secrets.token_hex(12)}.jsonl"
                keys.write_bytes(upload.keys)
                names |= {str(keys): called(upload.keys_name), keys.name: called(upload.keys_name)}
        bring: Callable[..., Outcome] = import_labels if kind == "labels" else import_questions
        with named(names):
            found = bring(loaded.collection, path, **words)
    name_as_theirs(found, names)
    return found


@contextmanager
def named(names: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """What is raised inside calls files as their owners do. `names` are those by ours."""
    try:
        yield names
    except DeskError as error:
        error.problems = tuple(_renamed(one, names) for one in error.problems)
        error.args = ("\n".join(map(str, error.problems)),)
        raise


def name_as_theirs(found: Outcome, names: Mapping[str, str]) -> None:
    """Let an outcome call files as their owners do. `names` are those by ours."""
    found.source = _in_words(found.source, names)
    found.notes = [_in_words(note, names) for note in found.notes]
    found.refused.problems = [_renamed(one, names) for one in found.refused.problems]


def _written(folder: str, kind: Kind, upload: Upload) -> Path:
    """The file in a folder, under a name of our own."""
    path = Path(folder) / f"{secrets.token_hex(12)}{_ending(kind, upload.name)}"
    path.write_bytes(upload.data)
    return path


def _ending(kind: Kind, name: str) -> str:
    ending = Path(called(name)).suffix.lower()
    if ending in _ENDINGS[kind]:
        return ending
    return ".qrels" if kind == "labels" else ""


def _require_readable(name: str, ending: str, data: bytes, collection: str, kind: Kind) -> None:
    """Raise InvalidInput for a file that is empty, too large, or no text where it must be one."""
    most = MOST_PACKED if ending in _PACKED else MOST_BYTES
    lines = 0 if ending in _PACKED else data.count(b"\n")
    if len(data) > most or lines > MOST_LINES:
        has = f"{len(data) / 1e6:.1f} MB, and a page takes {most // 10**6}"
        if len(data) <= most:
            has = f"{lines:,} lines, and a page takes {MOST_LINES:,}"
        raise InvalidInput(
            f"the file has {has}",
            place=name,
            remedy=f"Import it in a terminal: desk import {collection} {kind} FILE",
        )
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidInput("the file is empty", place=name, remedy="Choose one with rows")
    wide = ending in _SHEETS and data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if ending in _PACKED or wide:
        return
    if b"\x00" in data:
        raise InvalidInput(
            "the file is not text",
            place=name,
            remedy="Choose one with rows: JSON lines, CSV, TSV, XLSX"
            + (", or TREC qrels" if kind == "labels" else ""),
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"the file is not UTF-8 (byte {error.start + 1:,})",
            place=f"{name}:{line}",
            remedy="Save it as UTF-8; a spreadsheet as CSV UTF-8",
        ) from error


def _renamed(problem: Problem, names: Mapping[str, str]) -> Problem:
    return Problem(*(_in_words(part, names) for part in
                     (problem.message, problem.place, problem.remedy)))  # fmt: skip


def _in_words(words: str, names: Mapping[str, str]) -> str:
    for ours, theirs in names.items():
        words = words.replace(ours, theirs)
    return words

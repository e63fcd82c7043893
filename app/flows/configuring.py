"""Settings that were tried out become a named configuration, at the end of `collection.toml`."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from app.core.errors import InvalidInput, NotReady, Problem
from app.core.files import on_disk, replacing
from app.core.text import shown
from app.settings import CollectionSettings, Configuration
from app.team import PLACE as TEAM
from app.team import read_team
from app.workspace import Collection, Workspace, read_settings

_REMEDY = "Nothing was saved: choose other settings, or correct the file"
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SHORT = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}  # fmt: skip
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')


def save_configuration(
    collection: Collection, name: str, configuration: Configuration, author: str | None = None
) -> Collection:
    """Append a table `[configurations.NAME]`; returns the collection with its settings as they are
    then. Every byte that stands in the file stays, comments too.

    Only keys that differ from the defaults are written, and `mode`. Where `data/desk.toml` names
    adjudicators, only they may save: there is no other role for what decides for all. `author` is
    an identity, None for nobody who gave a name.

    Raises InvalidInput where the author may not, the name is taken or not allowed, the file is
    refused as it is now or would be with the table, or the disk refuses; NotReady where another
    process is saving. The file is as it was then.
    """
    _require_may(collection.workspace, author)
    place = f"data/{collection.name}/collection.toml"
    # Through a link, if it is one: the link is not to become a file.
    path = (collection.folder / "collection.toml").resolve()
    remedy = "Free some space or mend permissions"
    with on_disk("the file cannot be written", place, remedy), _alone(collection, place):
        _append(path, place, name, configuration)
    return collection.workspace.collection(collection.name)


def _require_may(workspace: Workspace, author: str | None) -> None:
    team = read_team(workspace.data)
    if team.roles.adjudicators is None:
        return
    if author is None:
        raise InvalidInput(
            f"whoever saves a configuration must be named by roles.adjudicators in {TEAM}",
            remedy="Enter your name",
        )
    if not team.may_adjudicate(author):
        raise InvalidInput(
            "you may read but not save a configuration: roles.adjudicators in "
            f"{TEAM} does not have {author}",
            remedy="Ask whoever keeps this workspace to add the name",
        )


@contextmanager
def _alone(collection: Collection, place: str) -> Iterator[None]:
    """Nobody else on this machine saves a configuration of the collection inside."""
    # Not beside the file: it would be one more that git sees.
    folder = collection.workspace.running
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{collection.name}.settings.lock", timeout=10)
    try:
        lock.acquire()
    except Timeout:
        raise NotReady(
            "another process is writing the settings", place=place, remedy="Try again"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _append(path: Path, place: str, name: str, configuration: Configuration) -> None:
    before = read_settings(path, place)
    raw = path.read_bytes()
    if name in before.configurations:
        raise InvalidInput(
            f"there is a configuration {shown(name)} already", place=place,
            remedy="Choose another name",
        )  # fmt: skip
    try:
        added = _table(name, configuration, "\r\n" if b"\r\n" in raw else "\n").encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"the configuration {shown(name)} holds half of a surrogate pair, which is no "
            "character",
            place=place,
            remedy="Nothing was saved: write it anew",
        ) from None
    if raw and not raw.endswith(b"\n"):
        added = (b"\r\n" if b"\r\n" in raw else b"\n") + added
    with replacing(path) as beside:
        with beside.open("wb") as file:
            file.write(raw + added)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, beside)
        _require_same(_read_new(beside, place, name), before, name, configuration, place)
        if path.read_bytes() != raw:
            raise InvalidInput(
                "the file was changed by another program meanwhile",
                place=place,
                remedy="Nothing was saved: save again",
            )


def _read_new(beside: Path, place: str, name: str) -> CollectionSettings:
    """The settings with the table; what refuses them is told as what it is: not in the file yet."""
    try:
        return read_settings(beside, place)
    except InvalidInput as error:
        if isinstance(error.__cause__, tomllib.TOMLDecodeError):
            raise InvalidInput(
                f"the table [configurations.{_key(name)}] cannot follow what stands there: "
                f"{error.__cause__}",
                place=place,
                remedy="Nothing was saved: write the other configurations as tables, too",
            ) from error
        told = [Problem(problem.message, place, _REMEDY) for problem in error.problems]
        raise InvalidInput.of(told) from error


def _require_same(
    found: CollectionSettings,
    before: CollectionSettings,
    name: str,
    configuration: Configuration,
    place: str,
) -> None:
    """What was written must mean what was to be saved, and nothing else."""
    wanted = {**before.configurations, name: configuration}
    if found != before.model_copy(update={"configurations": wanted}):
        raise InvalidInput(
            f"the configuration {shown(name)} would be read as another one",
            place=place,
            remedy=_REMEDY,
        )


def _table(name: str, configuration: Configuration, end: str) -> str:
    """The table in TOML, after an empty line."""
    fields = Configuration.model_fields
    said = {
        key: value
        for key, value in configuration.model_dump().items()
        if key == "mode" or value != fields[key].default
    }
    lines = ["", f"[configurations.{_key(name)}]"]
    lines += [f"{key} = {_value(value)}" for key, value in said.items()]
    return "".join(f"{line}{end}" for line in lines)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """A text, a number, true or false, or a list of texts in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    return repr(value)


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    return _SHORT.get(character) or f"\\u{ord(character):04x}"

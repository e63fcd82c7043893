"""A new collection from source texts people have: JSON lines, a sheet, or a folder of Markdown."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from app.core.chunking import AS_IS, MARKDOWN_RULES
from app.core.corpus import Corpus, SourceSpec, read_corpus
from app.core.errors import DeskError, InvalidInput
from app.core.files import replace_file
from app.core.snapshot import write_snapshot
from app.core.text import fault_in_text
from app.flows.exchange.columns import open_table, words_of
from app.flows.exchange.outcome import Outcome
from app.workspace import Workspace, read_settings

#: What a line of a corpus may hold.
ROLES = ("document", "version", "chunk", "text", "title", "section")


@dataclass(frozen=True)
class Lines:
    """A corpus as JSON lines, the line each came from, and what its fields are called."""

    text: str
    numbers: tuple[int, ...]
    fields: Mapping[str, str]


def import_corpus(
    workspace: Workspace,
    name: str,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    complete: bool = False,
    dry_run: bool = False,
    skip_refused: bool = False,
) -> Outcome:
    """Make a collection of a folder of Markdown, or of JSON lines or a sheet with one chunk a row.

    Settings are written with it, for dense, sparse and hybrid search by the bundled embedder.
    `complete` declares its labels complete for this corpus: chunks that are not listed for a judged
    question are grade 0. Raises InvalidInput where the collection is there already or the texts
    cannot be read.
    """
    workspace.require_free(name)
    if path.is_dir():
        return _import_folder(workspace, name, path, complete, dry_run, skip_refused)
    found = Outcome(f"chunks of {name}", path.name)
    needed, more = ("chunk", "text"), {"chunk": ("id",)}
    table = open_table(path, path.name, ROLES, columns or {}, needed, more)
    if table.unused:
        names = ", ".join(table.unused)
        found.notes.append(f"Columns kept for filters only, see [eligible]: {names}.")
    lines = corpus_lines(table.rows, table.names, found)
    return take_corpus(
        workspace, name, lines, found, complete=complete, dry_run=dry_run, skip_refused=skip_refused
    )


def corpus_lines(
    rows: Iterable[tuple[int, dict[str, Any] | str]], fields: Mapping[str, str], found: Outcome
) -> Lines:
    """Rows as JSON lines under their own names; what is no row is refused in `found`."""
    ids = {fields[role] for role in ("document", "version", "chunk") if role in fields}
    lines: list[str] = []
    numbers: list[int] = []
    for number, row in rows:
        found.read += 1
        if isinstance(row, str):
            found.refuse(number, f"the line {row}", "Correct the line")
            continue
        value = {
            name: words_of(cell) if name in ids else cell
            for name, cell in row.items()
            if name and cell is not None
        }
        line = json.dumps(value, ensure_ascii=False)
        if fault := fault_in_text(line):
            found.refuse(number, f"the line {fault}", "Correct the text")
            continue
        lines.append(line)
        numbers.append(number)
    return Lines("".join(f"{line}\n" for line in lines), tuple(numbers), fields)


def take_corpus(
    workspace: Workspace,
    name: str,
    lines: Lines,
    found: Outcome,
    *,
    complete: bool,
    dry_run: bool,
    skip_refused: bool,
) -> Outcome:
    """Check the lines as a corpus, and make a collection of those that are not refused."""
    beside = workspace.data / f".{name}.{os.getpid()}.jsonl"
    try:
        beside.write_text(lines.text, encoding="utf-8", newline="\n")
        corpus, kept = _readable(beside, lines, found)
    finally:
        beside.unlink(missing_ok=True)
    found.new = len(corpus.chunks) if corpus else 0

    def write() -> Corpus:
        if corpus is None:
            raise InvalidInput("no chunk is left", place=found.source, remedy="Mend the rows")
        with staged(workspace, name) as folder:
            replace_file(folder / "corpus.jsonl", kept)
            source = _jsonl_source(lines.fields)
            _settle(workspace, name, folder, source, AS_IS, corpus, complete=complete)
        return corpus

    return found.finish(write, dry_run=dry_run, skip_refused=skip_refused)


def _readable(path: Path, lines: Lines, found: Outcome) -> tuple[Corpus | None, str]:
    """The corpus of the lines that are not refused, and these lines."""
    spec = SourceSpec("jsonl", path, found.source, AS_IS, lines.fields, {})
    if not lines.numbers:
        if not found.refused.lines:
            raise InvalidInput("there is no row in it", place=found.source, remedy="Add some rows")
        return None, ""
    kept = lines.text.split("\n")[:-1]

    def as_in_file(found_at: re.Match[str]) -> str:
        return f"{found.source}:{lines.numbers[int(found_at[1]) - 1]}"

    for _ in range(2):
        try:
            return read_corpus(spec), "".join(f"{line}\n" for line in kept if line)
        except DeskError as error:
            for problem in error.problems:
                number = problem.place.rpartition(":")[2]
                if not number.isdigit():
                    raise
                # Left blank, so that the lines behind keep their numbers.
                kept[int(number) - 1] = ""
                message = re.sub(rf"{re.escape(found.source)}:(\d+)", as_in_file, problem.message)
                found.refuse(lines.numbers[int(number) - 1], message, problem.remedy)
            if not any(kept):
                return None, ""
            path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8", newline="\n")
    return None, ""


def _import_folder(
    workspace: Workspace, name: str, path: Path, complete: bool, dry_run: bool, skip_refused: bool
) -> Outcome:
    rule = next(iter(MARKDOWN_RULES))
    found = Outcome(f"chunks of {name}", path.name)
    files = sorted(path.rglob("*.md"))
    found.read = len(files)
    corpus: Corpus | None = None
    try:
        corpus = read_corpus(SourceSpec("markdown", path, path.name, rule, {}, {}))
        found.new = len(corpus.chunks)
    except DeskError as error:
        if not files:
            raise
        for number, problem in enumerate(error.problems):
            found.refused.add(problem, number)

    def write() -> Corpus | None:
        if corpus is None:
            raise InvalidInput(
                "files are refused as a whole", place=path.name, remedy="Mend them first"
            )
        with staged(workspace, name) as folder:
            for file in files:
                target = folder / "corpus" / file.relative_to(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            source = 'kind = "markdown"\npath = "corpus"'
            _settle(workspace, name, folder, source, rule, corpus, complete=complete)
        return corpus

    return found.finish(write, dry_run=dry_run, skip_refused=skip_refused)


def _jsonl_source(fields: Mapping[str, str]) -> str:
    # JSON's quoting is TOML's but for this one character.
    names = {role: json.dumps(n, ensure_ascii=False) for role, n in fields.items()}
    pairs = ", ".join(f"{role} = {name}" for role, name in names.items()).replace("\x7f", "\\u007f")
    return f'kind = "jsonl"\npath = "corpus.jsonl"\nfields = {{ {pairs} }}'


@contextmanager
def staged(workspace: Workspace, name: str) -> Iterator[Path]:
    """A folder that becomes `data/<name>` at the end: whole, or not at all.

    Raises InvalidInput where there is such a folder by then.
    """
    folder = workspace.data / f".{name}.{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
        try:
            folder.rename(workspace.data / name)
        except OSError as error:
            raise InvalidInput(
                f"there is a collection {name} already",
                place=f"data/{name}",
                remedy="Choose another name",
            ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settle(
    workspace: Workspace,
    name: str,
    folder: Path,
    source: str,
    rule: str,
    corpus: Corpus,
    *,
    complete: bool,
) -> None:
    """Write settings into a folder that becomes the collection's, and the beginnings of labels."""
    template = (resources.files("app.flows") / "template" / "imported.toml").read_text("utf-8")
    labels = 'completeness = "pooled"'
    if complete:
        labels = f'completeness = "complete"\ncomplete_as_of = "{corpus.revision}"'
    settings = template.replace("{source}", source).replace("{rule}", rule)
    kept = workspace.root / "labels" / name
    guidelines = resources.files("app.flows") / "template" / "guidelines.md"
    for file, text in (("questions.jsonl", ""), ("guidelines.md", guidelines.read_text("utf-8"))):
        if not (kept / file).exists():
            replace_file(kept / file, text)
    replace_file(folder / "collection.toml", settings.replace("{labels}", labels))
    written = read_settings(folder / "collection.toml", f"data/{name}/collection.toml")
    write_snapshot(kept, written.scoring_settings(), corpus)

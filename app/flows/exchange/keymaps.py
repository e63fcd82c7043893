"""Map files: what the ids of another file stand for here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeGuard

from app.core.errors import InvalidInput, Problem
from app.core.jsonlines import read_objects
from app.core.keys import KeyMap
from app.core.model import ChunkKey
from app.core.snapshot import replace_file
from app.core.text import canonical, shown


def map_beside(path: Path) -> Path:
    """Where the map of a file is looked for."""
    return path.with_name(f"{path.name}.map.jsonl")


def map_for(path: Path, given: Path | None) -> KeyMap:
    """The map of a file: the one given, else the one that lies beside it, else none."""
    beside = map_beside(path)
    chosen = given or (beside if beside.exists() else None)
    return read_map(chosen) if chosen else KeyMap()


def read_map(path: Path) -> KeyMap:
    """A map file, JSON lines of `id` with `question` or `chunk`; raises InvalidInput."""
    problems: list[Problem] = []
    found = KeyMap()
    for line in read_objects(path, path.name, problems):
        value, word = line.value, line.value.get("id")
        question, chunk = value.get("question"), value.get("chunk")
        earlier = found.questions.get(str(word)) or found.chunks.get(str(word))
        if earlier is not None:
            problems.append(
                Problem(
                    f"the id {shown(str(word))} was given a meaning before",
                    f"{path.name}:{line.number}",
                    "Keep one of the two lines",
                )
            )
        elif isinstance(word, str) and isinstance(question, str) and chunk is None:
            found.questions[word] = question
        elif isinstance(word, str) and question is None and _is_key(chunk):
            document, version, name = chunk
            found.chunks[word] = ChunkKey(document, version, name)
        else:
            problems.append(
                Problem(
                    "the line names no question and no chunk",
                    f"{path.name}:{line.number}",
                    'Write {"format":1,"id":"…","chunk":["document","version","chunk"]}',
                )
            )
    if problems:
        raise InvalidInput.of(problems)
    return found


def _is_key(value: Any) -> TypeGuard[list[str]]:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(part, str) and part.strip() for part in value)
    )


def write_map(path: Path, records: list[dict[str, object]]) -> None:
    """Write a map file beside what it explains."""
    replace_file(path, "".join(f"{canonical(record)}\n" for record in records))

"""Map files: what the ids of another file stand for here."""

from __future__ import annotations

from pathlib import Path

from app.core.errors import InvalidInput, Problem
from app.core.files import replace_file
from app.core.jsonlines import read_objects
from app.core.keys import KeyMap, as_key
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
        elif isinstance(word, str) and question is None and (key := as_key(chunk)):
            found.chunks[word] = key
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


def write_map(path: Path, records: list[dict[str, object]]) -> None:
    """Write a map file beside what it explains."""
    replace_file(path, "".join(f"{canonical(record)}\n" for record in records))

"""Sources to documents to chunks; the eligible set; the corpus revision."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml

from app.core.chunking import MARKDOWN_RULES, markdown_sections
from app.core.errors import InvalidInput, Problem
from app.core.jsonlines import read_objects
from app.core.model import Chunk, ChunkKey, FieldValue
from app.core.text import digest_of_list, fault_in_id, fault_in_text, shown, text_hash

#: A chunk above this many characters is refused: no reviewer reads it and no embedder takes it.
MAX_CHUNK_CHARACTERS = 200_000

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)

Filter = Mapping[str, Sequence[str | int | float | bool]]


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """Where the source texts are and how they are cut.

    `place` is `path` as messages show it. `fields` maps `document`, `version`, `chunk`, `text`,
    `title`, `section` to the names they have in a JSONL line, `rule` is the version of chunks whose
    line has none. `qdrant` is a catalogue: JSONL, with eligibility fields of their own.
    """

    kind: Literal["markdown", "jsonl", "qdrant"]
    path: Path
    place: str
    rule: str
    fields: Mapping[str, str]
    eligible: Filter


@dataclass(frozen=True, eq=False)
class Corpus:
    """All chunks of a collection, by key, in source order."""

    chunks: Mapping[ChunkKey, Chunk]
    documents: int

    @cached_property
    def eligible(self) -> Mapping[ChunkKey, Chunk]:
        """The chunks that pass the filter: the denominator of every metric."""
        return {key: chunk for key, chunk in self.chunks.items() if chunk.eligible}

    @cached_property
    def text_hashes(self) -> Mapping[ChunkKey, str]:
        """The text hash of every eligible chunk."""
        return {key: chunk.text_hash for key, chunk in self.eligible.items()}

    @cached_property
    def by_hash(self) -> Mapping[str, tuple[ChunkKey, ...]]:
        """Eligible keys by text hash; more than one key: twins."""
        found: dict[str, list[ChunkKey]] = {}
        for key, chunk in self.eligible.items():
            found.setdefault(chunk.text_hash, []).append(key)
        return {name: tuple(keys) for name, keys in found.items()}

    @cached_property
    def by_document(self) -> Mapping[tuple[str, str], tuple[ChunkKey, ...]]:
        """Keys of one document and version, in source order; also ineligible ones."""
        found: dict[tuple[str, str], list[ChunkKey]] = {}
        for key in self.chunks:
            found.setdefault((key.document, key.version), []).append(key)
        return {name: tuple(keys) for name, keys in found.items()}

    @cached_property
    def revision(self) -> str:
        """Content hash of all chunk keys, text hashes and eligibility fields."""
        return digest_of_list(
            [k.document, k.version, k.chunk, c.text_hash, dict(c.fields), c.eligible]
            for k, c in sorted(self.chunks.items(), key=lambda one: one[0])
        )


def is_eligible(fields: Mapping[str, FieldValue], filters: Filter) -> bool:
    """Whether each filtered field holds (or, for a list, includes) one of its allowed values."""
    for name, allowed in filters.items():
        value = fields.get(name)
        values = value if isinstance(value, list) else [value]
        if not any(type(v) is type(a) and v == a for v in values for a in allowed):
            return False
    return True


def read_corpus(spec: SourceSpec) -> Corpus:
    """Read and cut every source text.

    Raises InvalidInput with every problem found: unreadable or malformed files, blank or
    duplicate ids, characters that cannot be stored, no chunk at all.
    """
    problems: list[Problem] = []
    if not spec.path.exists():
        raise InvalidInput(
            "the source does not exist",
            place=spec.place,
            remedy="Put the texts there, or correct source.path in collection.toml",
        )
    reader = _markdown if spec.kind == "markdown" else _jsonl
    chunks: dict[ChunkKey, Chunk] = {}
    documents: set[str] = set()
    for chunk in reader(spec, problems):
        documents.add(chunk.key.document)
        if earlier := chunks.get(chunk.key):
            if spec.kind == "qdrant" and not earlier.eligible:
                # Of two points with one key the filter keeps the earlier one out.
                chunks[chunk.key] = chunk
                continue
            problems.append(
                Problem(
                    f"the chunk {chunk.key.short()} was already defined at {earlier.place}",
                    chunk.place,
                    "Give one of the two another id",
                )
            )
            continue
        if fault := _fault_in_chunk(chunk):
            problems.append(Problem(fault, chunk.place, "Correct the source text"))
            continue
        chunks[chunk.key] = chunk
    if not chunks and not problems:
        what = "Markdown files (*.md)" if spec.kind == "markdown" else "JSON lines"
        problems.append(
            Problem("the corpus is empty", spec.place, f"Put {what} with some text there")
        )
    if problems:
        raise InvalidInput.of(problems)
    return Corpus(chunks, len(documents))


def _fault_in_chunk(chunk: Chunk) -> str | None:
    key = chunk.key
    for name, part in (("document", key.document), ("version", key.version), ("chunk", key.chunk)):
        if fault := fault_in_id(part):
            return f"the {name} id {shown(part)} {fault}"
    for name, text in (("text", chunk.text), ("title", chunk.title), ("section", chunk.section)):
        if fault := fault_in_text(text):
            return f"the {name} {fault}"
    for name, field in chunk.fields.items():
        values: list[Any] = field if isinstance(field, list) else [field]
        for value in values:
            if isinstance(value, str) and (fault := fault_in_text(value)):
                return f"the field {name} {fault}"
            if isinstance(value, float) and not math.isfinite(value):
                return f"the field {name} is {value}, which is no number to compare"
    if len(chunk.text) > MAX_CHUNK_CHARACTERS:
        return f"the text has {len(chunk.text):,} characters, over {MAX_CHUNK_CHARACTERS:,}"
    return None


def _field(value: Any) -> FieldValue | None:
    """A source value as an eligibility field; None for what cannot be one."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return [v if isinstance(v, bool | int | float | str) else str(v) for v in value]
    return None


def eligibility_fields(source: Mapping[str, Any], filters: Filter) -> dict[str, FieldValue]:
    """The fields a filter reads, those it can compare."""
    found = {name: _field(source.get(name)) for name in filters}
    return {name: value for name, value in found.items() if value is not None}


def _markdown(spec: SourceSpec, problems: list[Problem]) -> Iterator[Chunk]:
    seen: dict[str, str] = {}
    cut = MARKDOWN_RULES[spec.rule]
    for path in sorted(spec.path.rglob("*.md")):
        relative = path.relative_to(spec.path).as_posix()
        place = f"{spec.place}/{relative}"
        try:
            raw = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"the file is not UTF-8 (byte {error.start + 1})"
            problems.append(Problem(message, place, "Save it as UTF-8"))
            continue
        except OSError as error:
            problems.append(Problem(f"the file cannot be read: {error.strerror}", place))
            continue
        front, body = _front_matter(raw.replace("\r\n", "\n").replace("\r", "\n"), place, problems)
        named = front.get("id", relative.removesuffix(".md"))
        document = "" if named is None else str(named)
        if document in seen:
            message = f"the document id {shown(document)} was already used by {seen[document]}"
            problems.append(Problem(message, place, "Give one of the two another id"))
            continue
        seen[document] = place
        sections = markdown_sections(body)
        title = str(front.get("title") or next((s.heading for s in sections if s.heading), ""))
        fields = eligibility_fields(front, spec.eligible)
        eligible = is_eligible(fields, spec.eligible)
        for piece in cut(sections):
            yield Chunk(
                key=ChunkKey(document, spec.rule, piece.chunk_id),
                text=piece.text,
                text_hash=_hash(piece.text),
                title=title or document,
                section=piece.section,
                fields=fields,
                eligible=eligible,
                place=place,
            )


def front_matter_end(text: str) -> int:
    """Where a Markdown text begins behind its front matter; 0 without any."""
    found = _FRONT.match(text)
    return found.end() if found else 0


def _front_matter(raw: str, place: str, problems: list[Problem]) -> tuple[Mapping[str, Any], str]:
    found = _FRONT.match(raw)
    if not found:
        return {}, raw
    try:
        front = yaml.safe_load(found.group(1) or "") or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 2}" if mark else ""
        words = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else str(words).splitlines()[0]
        problems.append(
            Problem(f"the front matter is not YAML ({reason})", place + line, "Correct it")
        )
        return {}, raw[found.end() :]
    if not isinstance(front, dict):
        problems.append(
            Problem("the front matter is not a list of `key: value` lines", place, "Correct it")
        )
        return {}, raw[found.end() :]
    return front, raw[found.end() :]


def _jsonl(spec: SourceSpec, problems: list[Problem]) -> Iterator[Chunk]:
    names = dict(spec.fields)
    for line in read_objects(spec.path, spec.place, problems):
        place = f"{spec.place}:{line.number}"
        values: dict[str, str] = {}
        for role, name in names.items():
            value = line.value.get(name)
            if value is None and role in ("title", "section"):
                value = ""
            if isinstance(value, int) and not isinstance(value, bool) and role != "text":
                value = str(value)
            if not isinstance(value, str):
                state = "is missing" if value is None else f"is {type(value).__name__}, not text"
                remedy = "Correct the line, or source.fields in collection.toml"
                problems.append(Problem(f"the field {shown(name)} {state}", place, remedy))
                break
            values[role] = value
        else:
            if not values["text"].strip():
                problems.append(Problem("the text is blank", place, "Remove the line or fill it"))
                continue
            chunk_id = values["chunk"]
            catalogued = spec.kind == "qdrant"
            source = line.value.get("fields", {}) if catalogued else line.value
            fields = eligibility_fields(source, spec.eligible)
            yield Chunk(
                key=ChunkKey(
                    values.get("document", chunk_id), values.get("version", spec.rule), chunk_id
                ),
                text=values["text"],
                text_hash=_hash(values["text"]),
                title=values.get("title", ""),
                section=values.get("section", ""),
                fields=fields,
                eligible=is_eligible(fields, spec.eligible),
                place=place,
                point=line.value.get("point") if catalogued else None,
            )


def _hash(text: str) -> str:
    """The text hash; empty for a text that cannot have one, which `read_corpus` then refuses."""
    return "" if fault_in_text(text) else text_hash(text)

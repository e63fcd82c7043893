"""Where the texts of a collection are."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from app.core.chunking import RULES
from app.core.payload import steps
from app.core.text import fault_in_id, shown
from app.core.validation import Record

Role = Literal["document", "version", "chunk", "text", "title", "section"]
#: How a point of a foreign Qdrant collection gets its chunk id.
KeyRule = Literal["fields", "point-id", "text-hash"]


def rule(value: str) -> str:
    """The name of a chunking rule; raises ValueError for an unknown one."""
    if value not in RULES:
        raise ValueError(f"'{value}' is not a known rule; known: {', '.join(RULES)}")
    return value


class Source(Record):
    """Where the texts are.

    `markdown` is a folder, `jsonl` a file with a field mapping, `qdrant` a collection that is there
    already and is only read: `fields` are payload names then, nested ones with dots, `vector` and
    `sparse_vector` its named vectors (no `vector`: the unnamed one).
    """

    kind: Literal["markdown", "jsonl", "qdrant"]
    path: str = "corpus"
    fields: dict[Role, str] = {}
    version: str | None = None
    collection: str | None = None
    key: KeyRule = "fields"
    vector: str | None = None
    sparse_vector: str | None = None

    @model_validator(mode="after")
    def _mapping(self) -> Source:
        if self.kind == "markdown" and (self.fields or self.version is not None):
            raise ValueError(
                "fields and version are not for kind 'markdown', which has headings, front matter "
                "and a chunking rule"
            )
        if self.kind == "jsonl" and not {"chunk", "text"} <= self.fields.keys():
            raise ValueError("kind 'jsonl' needs fields.chunk and fields.text")
        if self.version is not None and "version" in self.fields:
            raise ValueError("version contradicts fields.version; remove one")
        if self.version is not None and (fault := fault_in_id(self.version)):
            raise ValueError(f"version {fault}")
        self._of_qdrant()
        return self

    def _of_qdrant(self) -> None:
        own = {"collection", "key", "vector", "sparse_vector"}
        if self.kind != "qdrant":
            if wrong := sorted(own & self.model_fields_set):
                raise ValueError(f"{wrong[0]} is for kind 'qdrant'; remove it")
            return
        if "path" in self.model_fields_set:
            raise ValueError("path is for files; kind 'qdrant' needs collection")
        if not self.collection:
            raise ValueError("kind 'qdrant' needs collection, the name it has on the server")
        if "text" not in self.fields:
            raise ValueError("kind 'qdrant' needs fields.text, the payload name of the text")
        for role, path in self.fields.items():
            try:
                several = None in steps(path)
            except ValueError as error:
                raise ValueError(f"fields.{role} {error}") from error
            if several:
                raise ValueError(
                    f"fields.{role} {shown(path)} goes into all of a list, and a chunk has one "
                    f"{role}; name a place in it: {path.replace('[]', '[0]')}"
                )
        if (self.key == "fields") != ("chunk" in self.fields):
            wanted = (
                "needs fields.chunk; or set key to 'point-id' or 'text-hash'"
                if self.key == "fields"
                else "has no use for fields.chunk; remove it"
            )
            raise ValueError(f"key '{self.key}' {wanted}")

"""A named retrieval configuration."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from app.core.validation import Record
from app.settings.connection import env_name, web_address

Mode = Literal["dense", "sparse", "hybrid", "external"]
#: The deepest rank anything is asked for; no reviewer and no generator reads further.
DEEPEST = 10_000

#: What a template may hold; the first is required.
QUESTION_PARTS = ("question",)
DOCUMENT_PARTS = ("text", "title", "section", "title_or_none")

#: Models whose makers say how questions and documents are to be worded.
_TEMPLATES = {
    "embeddinggemma": (
        "task: search result | query: {question}",
        "title: {title_or_none} | text: {text}",
    )
}


def _embedder(value: str) -> str:
    if value != "bundled" and not re.fullmatch(r"ollama:\S+", value):
        raise ValueError(f"'{value}' is neither 'bundled' nor 'ollama:<model>'")
    return value


def _digest(value: str) -> str:
    """A digest or its beginning, as Ollama lists it; one that is blank would pin nothing."""
    found = value.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{4,64}", found):
        raise ValueError(f"'{value}' is no digest, nor the first 4 or more digits of one")
    return found


def _command(value: object) -> object:
    """Only what is a list of words can be run without a shell that reads it."""
    if not isinstance(value, list) or not value or "" in value:
        raise ValueError('needs to be a list of words, such as ["python3", "search.py"]')
    return value


def _check_template(name: str, template: str | None, parts: tuple[str, ...]) -> None:
    if template is None:
        return
    if f"{{{parts[0]}}}" not in template:
        raise ValueError(f"{name} does not hold {{{parts[0]}}}")
    for part in re.findall(r"\{(\w*)\}", template):
        if part not in parts:
            known = ", ".join(f"{{{known}}}" for known in parts)
            raise ValueError(f"{name} holds {{{part}}}; known: {known}")


class Configuration(Record):
    """A named retrieval setting.

    `depth` is the number of ranks kept; a search goes beyond it. `rrf_k` is the constant of
    reciprocal rank fusion, `candidates` the hits taken from each side before it. Mode `external`
    asks an `endpoint` or runs a `command`, at most `concurrency` at a time.
    """

    mode: Mode = "dense"
    embedder: Annotated[str, AfterValidator(_embedder)] | None = None
    question_template: str | None = None
    document_template: str | None = None
    dimension: Annotated[int, Field(ge=1)] | None = None
    digest: Annotated[str, AfterValidator(_digest)] | None = None
    depth: Annotated[int, Field(ge=2, le=2 * DEEPEST)] = 20
    threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    rrf_k: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    candidates: Annotated[int, Field(ge=1, le=2 * DEEPEST)] = 100
    exact: bool = False
    exact_twin: bool = False
    prefix_check: bool = False
    endpoint: Annotated[str, AfterValidator(web_address)] | None = None
    command: Annotated[list[str], BeforeValidator(_command)] | None = None
    authorization_env: Annotated[str, AfterValidator(env_name)] | None = None
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60.0
    deadline: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1800.0

    @model_validator(mode="after")
    def _consistent(self) -> Configuration:
        self._suits_mode()
        if (self.mode == "hybrid") != (self.rrf_k is not None):
            wanted = "needs rrf_k (60 is usual)" if self.rrf_k is None else "has no use for rrf_k"
            raise ValueError(f"mode '{self.mode}' {wanted}")
        if self.mode == "hybrid" and self.candidates < self.depth:
            raise ValueError(f"candidates {self.candidates} must be at least depth {self.depth}")
        if self.mode == "hybrid" and self.threshold is not None:
            raise ValueError(
                "a threshold on RRF scores means nothing: they are functions of rank; remove it"
            )
        if self.authorization_env is not None and self.endpoint is None:
            raise ValueError("authorization_env is for an endpoint; remove it")
        _check_template("question_template", self.question_template, QUESTION_PARTS)
        _check_template("document_template", self.document_template, DOCUMENT_PARTS)
        return self

    def _suits_mode(self) -> None:
        """Raise ValueError for keys that mean nothing in this mode, and for those it lacks."""
        embeds = ("embedder", "question_template", "document_template", "dimension", "digest")
        searches = ("exact", "exact_twin", "candidates")
        asks = ("endpoint", "command", "authorization_env", "concurrency")
        reasons = {
            "sparse": ("uses no embedder", embeds),
            "external": ("leaves searching to another program", (*embeds, *searches)),
        }
        why, unused = reasons.get(self.mode, ("", ()))
        if self.mode != "external":
            for name in asks:
                if name in self.model_fields_set:
                    raise ValueError(f"{name} is for mode 'external'; remove it")
        elif (self.endpoint is None) == (self.command is None):
            raise ValueError("mode 'external' needs an endpoint or a command, and not both")
        for name in unused:
            if name in self.model_fields_set:
                raise ValueError(f"mode '{self.mode}' {why}; remove {name}")
        if self.embedder_name == "bundled":
            for name in ("dimension", "digest"):
                if name in self.model_fields_set:
                    raise ValueError(
                        f"{name} is for a model of Ollama, the bundled one never changes; remove it"
                    )

    @property
    def embedder_name(self) -> str | None:
        """The embedder in use: `bundled` unless set; None for sparse and external search."""
        return self.embedder or "bundled" if self.mode in ("dense", "hybrid") else None

    @property
    def templates(self) -> tuple[str, str]:
        """Templates of question and document: as set, else as the model's makers say."""
        model = (self.embedder or "").removeprefix("ollama:").partition(":")[0]
        question, document = _TEMPLATES.get(model, ("{question}", "{text}"))
        return self.question_template or question, self.document_template or document

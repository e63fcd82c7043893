"""A collection's settings: the shape of `collection.toml` and what may stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from app.core.chunking import AS_IS, RULES
from app.core.model import GRADE_WORDS, HIGHEST_GRADE, ScoringSettings
from app.core.validation import Record

Mode = Literal["dense", "sparse", "hybrid"]
#: The deepest rank anything is asked for; no reviewer and no generator reads further.
DEEPEST = 10_000
METRIC_NAMES = ("precision", "recall", "mrr", "ndcg", "hit")

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


def _rule(value: str) -> str:
    if value not in RULES:
        raise ValueError(f"'{value}' is not a known rule; known: {', '.join(RULES)}")
    return value


def check_cutoffs(value: Sequence[int]) -> list[int]:
    """Cut-offs in order, each once; raises ValueError for none, one below 1 or beyond DEEPEST."""
    if not value or min(value) < 1 or max(value) > DEEPEST:
        raise ValueError(f"needs whole numbers from 1 to {DEEPEST}")
    return sorted(set(value))


def split_metric(name: str) -> tuple[str, int]:
    """The metric and the K of a name such as `ndcg@3`."""
    metric, _, cutoff = name.partition("@")
    return metric, int(cutoff)


def _primary(value: str) -> str:
    if not re.fullmatch(rf"({'|'.join(METRIC_NAMES)})@[1-9]\d*", value):
        raise ValueError(f"'{value}' is not one of {', '.join(METRIC_NAMES)} with its K: ndcg@3")
    return value


def _embedder(value: str) -> str:
    if value != "bundled" and not re.fullmatch(r"ollama:\S+", value):
        raise ValueError(f"'{value}' is neither 'bundled' nor 'ollama:<model>'")
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


Cutoffs = Annotated[list[int], AfterValidator(check_cutoffs)]


class Source(Record):
    """Where the texts are: a folder of Markdown, or a JSONL file with a field mapping."""

    kind: Literal["markdown", "jsonl"]
    path: str = "corpus"
    fields: dict[Literal["document", "version", "chunk", "text", "title", "section"], str] = {}

    @model_validator(mode="after")
    def _mapping(self) -> Source:
        if self.kind == "markdown" and self.fields:
            raise ValueError("fields are for kind 'jsonl'; Markdown has headings and front matter")
        if self.kind == "jsonl" and not {"chunk", "text"} <= self.fields.keys():
            raise ValueError("kind 'jsonl' needs fields.chunk and fields.text")
        return self


class Chunking(Record):
    """The named rule that cuts documents."""

    rule: Annotated[str, AfterValidator(_rule)]


class LabelSettings(Record):
    """How grades are read."""

    scale: dict[str, str] = {str(grade): words for grade, words in GRADE_WORDS.items()}
    threshold: Annotated[int, Field(ge=1, le=HIGHEST_GRADE)] = 1
    completeness: Literal["pooled", "complete"] = "pooled"
    complete_as_of: str | None = None
    guidelines_matter: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> LabelSettings:
        if set(self.scale) != {str(grade) for grade in GRADE_WORDS}:
            raise ValueError("scale needs the grades 0, 1 and 2, each with its meaning")
        if self.completeness == "complete" and self.complete_as_of is None:
            raise ValueError(
                "completeness 'complete' needs complete_as_of, the corpus revision the labels are "
                "complete for; set 'pooled', run desk check, and copy the revision it prints"
            )
        if self.completeness == "pooled" and self.complete_as_of is not None:
            raise ValueError("complete_as_of contradicts completeness 'pooled'; remove one")
        return self


class Scoring(Record):
    """Cut-offs, and the one metric that decides."""

    cutoffs: Cutoffs = [1, 3, 5]
    primary: Annotated[str, AfterValidator(_primary)] = "ndcg@3"

    @model_validator(mode="after")
    def _consistent(self) -> Scoring:
        if split_metric(self.primary)[1] not in self.cutoffs:
            raise ValueError(f"primary '{self.primary}' has a K that is not among the cutoffs")
        return self


class Configuration(Record):
    """A named retrieval setting.

    `depth` is the number of ranks kept; a search goes beyond it. `rrf_k` is the constant of
    reciprocal rank fusion, `candidates` the hits taken from each side before it.
    """

    mode: Mode = "dense"
    embedder: Annotated[str, AfterValidator(_embedder)] | None = None
    question_template: str | None = None
    document_template: str | None = None
    dimension: Annotated[int, Field(ge=1)] | None = None
    digest: str | None = None
    depth: Annotated[int, Field(ge=2, le=2 * DEEPEST)] = 20
    threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    rrf_k: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    candidates: Annotated[int, Field(ge=1, le=2 * DEEPEST)] = 100
    exact: bool = False
    exact_twin: bool = False
    prefix_check: bool = False
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60.0
    deadline: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1800.0

    @model_validator(mode="after")
    def _consistent(self) -> Configuration:
        dense_only = {
            "embedder": self.embedder,
            "question_template": self.question_template,
            "document_template": self.document_template,
            "dimension": self.dimension,
            "digest": self.digest,
        }
        if self.mode == "sparse":
            for name, value in dense_only.items():
                if value is not None:
                    raise ValueError(f"mode 'sparse' uses no embedder; remove {name}")
        if (self.mode == "hybrid") != (self.rrf_k is not None):
            wanted = "needs rrf_k (60 is usual)" if self.rrf_k is None else "has no use for rrf_k"
            raise ValueError(f"mode '{self.mode}' {wanted}")
        if self.mode == "hybrid" and self.candidates < self.depth:
            raise ValueError(f"candidates {self.candidates} must be at least depth {self.depth}")
        if self.mode == "hybrid" and self.threshold is not None:
            raise ValueError(
                "a threshold on RRF scores means nothing: they are functions of rank; remove it"
            )
        _check_template("question_template", self.question_template, QUESTION_PARTS)
        _check_template("document_template", self.document_template, DOCUMENT_PARTS)
        return self

    @property
    def embedder_name(self) -> str | None:
        """The embedder in use: `bundled` unless set; None for sparse search."""
        return None if self.mode == "sparse" else self.embedder or "bundled"

    @property
    def templates(self) -> tuple[str, str]:
        """Templates of question and document: as set, else as the model's makers say."""
        model = (self.embedder or "").removeprefix("ollama:").partition(":")[0]
        question, document = _TEMPLATES.get(model, ("{question}", "{text}"))
        return self.question_template or question, self.document_template or document


class CollectionSettings(Record):
    """All of `collection.toml`."""

    format: Literal[1]
    title: str | None = None
    retain_text: bool = True
    source: Source
    chunking: Chunking
    eligible: dict[str, str | int | bool | list[str | int | bool]] = {}
    labels: LabelSettings = LabelSettings()
    scoring: Scoring = Scoring()
    configurations: Annotated[dict[str, Configuration], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> CollectionSettings:
        as_is = self.chunking.rule == AS_IS
        if as_is != (self.source.kind == "jsonl"):
            wanted = f"'{AS_IS}'" if self.source.kind == "jsonl" else "a rule for Markdown"
            raise ValueError(
                f"source.kind '{self.source.kind}' needs {wanted}, not '{self.chunking.rule}'"
            )
        for name, configuration in self.configurations.items():
            if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name):
                raise ValueError(
                    f"the configuration name '{name}' may have a-z, 0-9, '.', '_' and '-' only"
                )
            if configuration.depth <= max(self.scoring.cutoffs):
                raise ValueError(
                    f"configurations.{name}.depth {configuration.depth} must be beyond the largest "
                    f"cut-off, {max(self.scoring.cutoffs)}"
                )
        return self

    @property
    def grade_words(self) -> dict[int, str]:
        """What each grade means in this collection."""
        return {int(grade): words for grade, words in sorted(self.labels.scale.items())}

    @property
    def filters(self) -> dict[str, list[str | int | bool]]:
        """The eligibility filter: every field with its allowed values."""
        return {n: v if isinstance(v, list) else [v] for n, v in self.eligible.items()}

    def scoring_settings(self, cutoffs: list[int] | None = None) -> ScoringSettings:
        """What scores depend on, with other cut-offs where given."""
        return ScoringSettings(
            threshold=self.labels.threshold,
            completeness=self.labels.completeness,
            complete_as_of=self.labels.complete_as_of,
            cutoffs=tuple(cutoffs or self.scoring.cutoffs),
        )


#: Every model of `collection.toml`.
MODELS: tuple[type[Record], ...] = (
    CollectionSettings,
    Source,
    Chunking,
    LabelSettings,
    Scoring,
    Configuration,
)

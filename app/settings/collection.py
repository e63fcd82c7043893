"""A collection's settings: the shape of `collection.toml` and what may stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from app.core.chunking import AS_IS
from app.core.model import GRADE_WORDS, HIGHEST_GRADE, ScoringSettings
from app.core.payload import steps
from app.core.text import digest, shown
from app.core.validation import Record
from app.settings.configuration import DEEPEST, Configuration
from app.settings.connection import Qdrant, server_address
from app.settings.sources import Source, rule

METRIC_NAMES = ("precision", "recall", "mrr", "ndcg", "hit")


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


def _fields(value: Any) -> Any:
    """The filter, unless it holds what no field can equal; raises ValueError for that."""
    for name, allowed in value.items() if isinstance(value, dict) else ():
        if isinstance(allowed, dict):
            # TOML makes a table of a name with dots.
            inner = next(iter(allowed), "name")
            raise ValueError(
                f'has a table {shown(name)}; write a nested name in quotes, "{name}.{inner}"'
            )
        for one in allowed if isinstance(allowed, list) else [allowed]:
            if not isinstance(one, str | int):
                raise ValueError(
                    f"{shown(name)} is {shown(str(one))}, neither a text, a whole number, true or "
                    "false, nor a list of these"
                )
    return value


Cutoffs = Annotated[list[int], AfterValidator(check_cutoffs)]


class Chunking(Record):
    """The named rule that cuts documents."""

    rule: Annotated[str, AfterValidator(rule)]


class LabelSettings(Record):
    """How grades are read."""

    scale: dict[str, str] = {str(grade): words for grade, words in GRADE_WORDS.items()}
    threshold: Annotated[int, Field(ge=1, le=HIGHEST_GRADE)] = 1
    completeness: Literal["pooled", "complete"] = "pooled"
    complete_as_of: str | None = None
    guidelines_matter: bool = False
    evidence: Literal["optional", "required"] = "optional"

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


class QueueSettings(Record):
    """What reviewers are asked to judge.

    `overlap` is the share of pairs that two must judge, `audit` the share of judged ones that come
    once more, `depth` the ranks that are judged (the largest cut-off unless given), `seconds` what
    an item takes until a reviewer's own pace is known. `show_category`: whether they see a
    question's category, which may tell too much.
    """

    overlap: Annotated[float, Field(ge=0, le=1)] = 0.2
    audit: Annotated[float, Field(ge=0, le=1)] = 0.05
    seed: Annotated[int, Field(ge=0)] = 0
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] | None = None
    seconds: Annotated[float, Field(gt=0)] = 15.0
    show_category: bool = True


class CollectionSettings(Record):
    """All of `collection.toml`."""

    format: Literal[1]
    title: str | None = None
    retain_text: bool = True
    qdrant_url: Annotated[str, AfterValidator(server_address)] | None = None
    qdrant: Qdrant = Qdrant()
    source: Source
    chunking: Chunking
    eligible: Annotated[
        dict[str, str | int | bool | list[str | int | bool]], BeforeValidator(_fields)
    ] = {}
    labels: LabelSettings = LabelSettings()
    scoring: Scoring = Scoring()
    queue: QueueSettings = QueueSettings()
    configurations: Annotated[dict[str, Configuration], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> CollectionSettings:
        self._suits_source()
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

    def _suits_source(self) -> None:
        source, as_is = self.source, self.chunking.rule == AS_IS
        if as_is == (source.kind == "markdown"):
            wanted = "a rule for Markdown" if source.kind == "markdown" else f"'{AS_IS}'"
            raise ValueError(
                f"source.kind '{source.kind}' needs {wanted}, not '{self.chunking.rule}'"
            )
        for name in self.eligible if source.kind == "qdrant" else ():
            try:
                steps(name)
            except ValueError as error:
                raise ValueError(f"eligible {error}") from error
        if source.kind == "qdrant" and self.qdrant_url is None:
            raise ValueError("source.kind 'qdrant' needs qdrant_url, where the collection is")
        if self.qdrant_url is None and "qdrant" in self.model_fields_set:
            raise ValueError("[qdrant] is for a server; add qdrant_url, or remove it")
        if source.kind == "qdrant" and source.sparse_vector is None:
            for name, configuration in self.configurations.items():
                if configuration.mode in ("sparse", "hybrid"):
                    raise ValueError(
                        f"configurations.{name}.mode '{configuration.mode}' needs "
                        "source.sparse_vector, the name of the collection's sparse vectors"
                    )

    @property
    def foreign(self) -> bool:
        """Whether the chunks are those of a Qdrant collection that was filled by others."""
        return self.source.kind == "qdrant"

    @property
    def version(self) -> str:
        """The version of chunks that name none."""
        return self.source.version or self.chunking.rule

    @property
    def mapping(self) -> str:
        """Content hash of all that decides how a foreign collection is read."""
        source = self.source.model_dump(exclude={"vector", "sparse_vector"})
        return digest([source, self.filters, self.chunking.rule])

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
    Qdrant,
    Source,
    Chunking,
    LabelSettings,
    Scoring,
    QueueSettings,
    Configuration,
)

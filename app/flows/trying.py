"""Settings tried out for one run: a configuration changed, or another filter; nothing is saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_args

from pydantic import ValidationError

from app.core.corpus import Corpus, Filter, is_eligible
from app.core.errors import InvalidInput, Problem
from app.core.labels import Labels
from app.core.text import canonical
from app.core.validation import problems_in
from app.engines.retrieval import USUAL_RRF_K
from app.flows.loading import Loaded
from app.settings import Configuration, Mode
from app.workspace import Collection

#: What problems with these settings are told to be in.
PLACE = "settings for this run"
#: Modes a configuration can be tried in; another program cannot be made of a search, nor the
#: other way round.
MODES: tuple[Mode, ...] = tuple(mode for mode in get_args(Mode) if mode != "external")
#: A value of an eligibility field, one at a time.
Value = str | int | float | bool
_EMBEDS = ("embedder", "question_template", "document_template", "dimension", "digest")


@dataclass(frozen=True, slots=True)
class Changes:
    """What is changed for one run; None leaves it as configured.

    `unlimited` takes the threshold away. `filters` has the allowed values of every eligibility
    field that is restricted; it holds for everything that is compared in the run.
    """

    mode: Mode | None = None
    threshold: float | None = None
    unlimited: bool = False
    exact: bool | None = None
    depth: int | None = None
    filters: Filter | None = None

    @property
    def any(self) -> bool:
        """Whether the configuration itself is changed."""
        return self != replace(NONE, filters=self.filters)


NONE = Changes()


def changed(before: Configuration, changes: Changes, beyond: int = 0) -> Configuration:
    """A configuration with what is changed for one run.

    Keys that mean nothing in another mode are left out, and those it needs take their usual
    values. Raises InvalidInput where no configuration comes of it, or its depth is not `beyond` the
    largest cut-off.
    """
    if not changes.any:
        return before
    if changes.depth is not None and changes.depth <= beyond:
        raise InvalidInput(
            f"depth {changes.depth} must be beyond the largest cut-off, {beyond}",
            place=PLACE,
            remedy="Correct it under Change for this run",
        )
    said: dict[str, Any] = before.model_dump(exclude_unset=True)
    said["mode"] = before.mode
    if changes.mode is not None and changes.mode != before.mode:
        said = _in_mode(said, before.mode, changes.mode)
    if changes.unlimited:
        said.pop("threshold", None)
    for name in ("threshold", "exact", "depth"):
        if (value := getattr(changes, name)) is not None:
            said[name] = value
    if said["mode"] == "hybrid":
        usual = Configuration.model_fields["candidates"].default
        said["candidates"] = max(said.get("candidates", usual), said.get("depth", 0))
    try:
        return Configuration.model_validate(said)
    except ValidationError as error:
        remedy = "Correct it under Change for this run"
        raise InvalidInput.of(problems_in(error, PLACE, (), remedy)) from error


def _in_mode(said: Mapping[str, Any], before: Mode, mode: Mode) -> dict[str, Any]:
    if "external" in (before, mode):
        raise InvalidInput(
            f"mode '{before}' cannot be tried as '{mode}': another program is asked there",
            place=PLACE,
            remedy="Choose another configuration",
        )
    # A threshold belongs to one kind of score; that of another mode would cut anything.
    unused = {"threshold", "rrf_k", *(_EMBEDS if mode == "sparse" else ())}
    found = {name: value for name, value in said.items() if name not in unused}
    if mode == "hybrid":
        found["rrf_k"] = USUAL_RRF_K
    return {**found, "mode": mode}


def with_configuration(
    collection: Collection, name: str, configuration: Configuration
) -> Collection:
    """The collection as if its settings had this configuration under a name."""
    settings = collection.settings
    if settings.configurations.get(name) == configuration:
        return collection
    every = {**settings.configurations, name: configuration}
    return replace(collection, settings=settings.model_copy(update={"configurations": every}))


@dataclass(frozen=True)
class View:
    """A collection as one run sees it: what is eligible, and the labels of that.

    `loaded` is the collection as its files are, `filters` the filter of the run.
    """

    loaded: Loaded
    corpus: Corpus
    labels: Labels
    filters: Filter

    @property
    def filtered(self) -> bool:
        """Whether the filter is another than the collection's."""
        return self.corpus is not self.loaded.corpus


def view_of(loaded: Loaded, filters: Filter | None = None) -> View:
    """A collection under its own filter, or under another for one run.

    Raises InvalidInput for a field its filter does not have (others are not read from the source),
    for a value no chunk has, and where nothing would be eligible.
    """
    own = loaded.collection.settings.filters
    if filters is None or _same(filters, own):
        return View(loaded, loaded.corpus, loaded.labels, own)
    values = values_of(loaded.corpus, tuple(own))
    problems = [
        Problem(f"the filter has no field {name}", PLACE, f"Fields: {', '.join(own) or 'none'}")
        for name in filters
        if name not in own
    ]
    problems += [
        Problem(
            f"no chunk has {name} = {canonical(value)}",
            PLACE,
            f"Values: {', '.join(map(canonical, values[name]))}",
        )
        for name, allowed in filters.items()
        for value in allowed
        if name in own and canonical(value) not in map(canonical, values[name])
    ]
    if problems:
        raise InvalidInput.of(problems)
    wanted = {name: list(allowed) for name, allowed in filters.items() if allowed}
    corpus = _filtered(loaded.corpus, canonical(wanted))
    if not corpus.eligible:
        raise InvalidInput(
            "none of the chunks passes this filter", place=PLACE, remedy="Allow other values"
        )
    return View(loaded, corpus, loaded.labels.within(corpus), wanted)


def _same(one: Filter, other: Filter) -> bool:
    return canonical({k: list(v) for k, v in one.items()}) == canonical(
        {k: list(v) for k, v in other.items()}
    )


@lru_cache(maxsize=4)
def _filtered(corpus: Corpus, written: str) -> Corpus:
    """The corpus with another filter, written as JSON; kept, for a page asks at every rerun."""
    filters = json.loads(written)
    chunks = {
        key: chunk
        if chunk.eligible == (passes := is_eligible(chunk.fields, filters))
        else replace(chunk, eligible=passes)
        for key, chunk in corpus.chunks.items()
    }
    return Corpus(chunks, corpus.documents)


@lru_cache(maxsize=8)
def values_of(corpus: Corpus, fields: tuple[str, ...]) -> Mapping[str, list[Value]]:
    """The values every eligibility field has in a corpus, sorted; those of lists one by one."""
    found: dict[str, dict[str, Value]] = {name: {} for name in fields}
    for chunk in corpus.chunks.values():
        for name in fields:
            value = chunk.fields.get(name)
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    found[name][canonical(one)] = one
    return {name: [known[text] for text in sorted(known)] for name, known in found.items()}

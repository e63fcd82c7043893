"""The questions of a collection in an order to inspect them: as they stand, or worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from app.core.model import ScoringSettings
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.loading import Loaded
from app.flows.means import METRIC_OF
from app.flows.scored import QuestionScore
from app.flows.stored_scoring import score_execution
from app.flows.wording import METRIC_WORDS, with_bounds
from app.settings import split_metric

Order = Literal["file", "worst"]


@dataclass(frozen=True, slots=True)
class Case:
    """A question to pick, with what it scored in words where an execution was chosen."""

    question: str
    words: str


def cases(
    loaded: Loaded, category: str | None = None, execution: Execution | None = None
) -> list[Case]:
    """The questions of a category (all unless named), by their place in the file.

    With an execution, worst first by the collection's primary metric: failed ones, then the lowest
    score (open pairs as grade 0), then those without a score; ones it did not ask are left out.
    """
    kept = [q for q in loaded.questions.values() if category in (None, q.category)]
    if execution is None:
        return [Case(one.id, f"{one.id}: {one.text}") for one in kept]
    scores = _scores(loaded, execution)
    primary, k = split_metric(loaded.collection.settings.scoring.primary)
    metric = METRIC_OF[primary]
    known = [one for one in kept if one.id in scores]
    ranked = sorted(known, key=lambda one: _worst(scores[one.id], metric))
    name = f"{METRIC_WORDS[metric]}@{k}"
    return [
        Case(one.id, f"{_words(scores[one.id], metric, name)} · {one.id}: {one.text}")
        for one in ranked
    ]


def scorable(loaded: Loaded, found: Sequence[Execution]) -> list[Execution]:
    """Those executions that speak of the corpus as it is now, and reach the primary cut-off."""
    _, k = split_metric(loaded.collection.settings.scoring.primary)
    return [
        one
        for one in found
        if one.corpus_revision == loaded.corpus.revision and (one.imported or one.depth >= k)
    ]


def _worst(score: QuestionScore, metric: str) -> tuple[int, float]:
    if score.outcome == "failed":
        return 0, 0.0
    return (1, score.as_zero[metric]) if score.outcome == "scored" else (2, 0.0)


def _words(score: QuestionScore, metric: str, name: str) -> str:
    if score.outcome != "scored":
        return "failed" if score.outcome == "failed" else str(score.reason)
    return f"{name} {with_bounds(score.values[metric], score.known_bounds.get(metric))}"


def _scores(loaded: Loaded, execution: Execution) -> Mapping[str, QuestionScore]:
    """The scores at the primary cut-off."""
    _, k = split_metric(loaded.collection.settings.scoring.primary)
    scoring = loaded.collection.settings.scoring_settings([k])
    return _kept(_Of(execution.id, loaded.labels.revision, scoring, loaded, execution))


@dataclass(frozen=True)
class _Of:
    """What scores depend on, and what they are read from."""

    execution_id: str
    labels: str
    scoring: ScoringSettings
    loaded: Loaded = field(compare=False)
    execution: Execution = field(compare=False)


@lru_cache(maxsize=8)
def _kept(of: _Of) -> Mapping[str, QuestionScore]:
    """Kept, for a page asks at every rerun."""
    store = Store.at(of.loaded.collection.workspace.store_path)
    scored = score_execution(store, of.execution, of.loaded, of.scoring)
    return {one.question: one for one in scored.questions}

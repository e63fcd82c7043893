"""Compare two executions over the questions both have, under one set of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from app.core.errors import InvalidInput
from app.core.text import shown
from app.engines import executions
from app.engines.executions import Execution
from app.engines.points import is_own_name
from app.engines.store import Store
from app.flows.evaluating import Evaluation, rescore
from app.flows.loading import Loaded, load
from app.flows.means import MEAN_NAMES, METRIC_OF, ends_of_mean
from app.flows.scored import QuestionScore
from app.flows.wording import value_or_range, with_bounds
from app.workspace import Workspace

#: Deltas no larger than this are ties.
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Case:
    """One question at one K in both executions; `deltas` is None where a side has no number."""

    question: str
    category: str
    k: int
    baseline: QuestionScore
    candidate: QuestionScore
    deltas: Mapping[str, float | None]

    @property
    def both_scored(self) -> bool:
        """Whether both sides have a score."""
        return self.baseline.outcome == self.candidate.outcome == "scored"


@dataclass(frozen=True, slots=True)
class Delta:
    """The mean of paired differences of one metric, candidate - baseline, over `n` questions.

    `undecided` questions are scored on both sides but provisional on one: the means are None then.
    """

    k: int
    category: str | None
    metric: str
    n: int
    baseline: float | None
    candidate: float | None
    delta: float | None
    wins: int
    losses: int
    ties: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two executions. `differs` lists what was set differently."""

    baseline: Evaluation
    candidate: Evaluation
    differs: tuple[tuple[str, Any, Any], ...]
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    deltas: tuple[Delta, ...]
    cases: tuple[Case, ...]

    def mean(self, k: int, metric: str, *, named: bool = False) -> tuple[str, str]:
        """The means of baseline and candidate over the questions both have, or their ranges.

        `named`: a range is called provisional.
        """
        words = with_bounds if named else value_or_range
        values, ends = self.values(k, metric), self.ends(k, metric)
        return words(values[0], ends[0]), words(values[1], ends[1])

    def _scored(self, k: int, category: str | None) -> list[Case]:
        """The cases at K, of one category where it is named, that both sides have a score for."""
        at_k = (case for case in self.cases if case.k == k and case.both_scored)
        return [case for case in at_k if category in (None, case.category)]

    def values(
        self, k: int, metric: str, category: str | None = None
    ) -> tuple[float | None, float | None]:
        """The means of baseline and candidate over the questions both have, each for itself.

        None on a side where a question is provisional.
        """
        name = METRIC_OF[metric]
        both = self._scored(k, category)
        return (
            _mean([c.baseline.values[name] for c in both]),
            _mean([c.candidate.values[name] for c in both]),
        )

    def ends(
        self, k: int, metric: str, category: str | None = None
    ) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
        """The lowest and highest the means of baseline and candidate can be, None over no case."""
        name = METRIC_OF[metric]
        both = self._scored(k, category)
        return (
            ends_of_mean([c.baseline.known_bounds[name] for c in both]),
            ends_of_mean([c.candidate.known_bounds[name] for c in both]),
        )

    def delta(self, k: int, metric: str, category: str | None = None) -> Delta:
        """The delta of one metric; `metric` as means name it."""
        return next(d for d in self.deltas if (d.k, d.metric, d.category) == (k, metric, category))


def find_execution(store: Store, name: str, collection: str | None = None) -> Execution:
    """The execution an id, the beginning of one, or a configuration's name means.

    A configuration's name is its newest complete execution, of `collection` where that is given.
    Raises InvalidInput where there is none or more than one.
    """
    found = executions.listed(store, name=name) if name else []
    named = [e for e in found if name == e.configuration and collection in (None, e.collection)]
    complete = [e for e in named if e.status != "incomplete"]
    exact = [e for e in found if name == e.id] or complete or named
    if exact:
        return exact[0]
    if len(found) == 1:
        return found[0]
    found = [e for e in found if e.id.startswith(name)]
    reason = "there is no execution" if not found else f"{len(found)} executions begin with"
    raise InvalidInput(f"{reason} {shown(name)}", remedy="See them: desk executions")


def compare(
    workspace: Workspace, baseline: str, candidate: str, collection: str | None = None
) -> Comparison:
    """Compare two executions, named as `find_execution` takes them, of `collection` where given.

    Raises InvalidInput where they cannot be compared: another collection, another corpus
    revision, or an incomplete execution.
    """
    store = Store.at(workspace.store_path)
    if not workspace.store_path.exists():
        raise InvalidInput("there is no execution yet", remedy="Make one: desk evaluate COLLECTION")
    if collection is not None:
        workspace.require(collection)
    first = find_execution(store, baseline, collection)
    second = find_execution(store, candidate, first.collection)
    if first.id == second.id:
        raise InvalidInput(
            f"{shown(baseline)} and {shown(candidate)} are one and the same execution, {first.id}",
            remedy="Name two: desk executions",
        )
    if first.collection != second.collection:
        raise InvalidInput(
            f"{first.id} is of {first.collection}, {second.id} of {second.collection}",
            remedy="Compare executions of one collection",
        )
    found = compare_executions(load(workspace.collection(first.collection)), first, second)
    named = executions.listed(store, name=baseline) if collection is None else []
    several = sorted({one.collection for one in named if one.configuration == baseline})
    if len(several) > 1 and first.id != baseline:
        told = (
            f"{', '.join(several)} have a configuration {baseline}; compared are the newest, of "
            f"{first.collection}. Name another one with --collection."
        )
        notices = (told, *found.baseline.notices)
        found = replace(found, baseline=replace(found.baseline, notices=notices))
    return found


def compare_executions(
    loaded: Loaded, first: Execution, second: Execution, cutoffs: Sequence[int] | None = None
) -> Comparison:
    """Compare two executions of one collection, rescored under the labels as they are now."""
    for execution in (first, second):
        if execution.status == "incomplete":
            again = f"desk evaluate {execution.collection} --configuration "
            again = f"Run it again: {again}{execution.configuration}"
            raise InvalidInput(
                f"the execution {execution.id} is incomplete: a question failed or it was stopped",
                remedy="Mend the run and import it again" if execution.imported else again,
            )
    if first.corpus_revision != second.corpus_revision:
        raise InvalidInput(
            f"{first.id} and {second.id} were run on different revisions of the corpus "
            f"({first.corpus_revision[:12]}, {second.corpus_revision[:12]})",
            remedy=f"Run both again: desk evaluate {first.collection}",
        )
    asked = cutoffs or loaded.collection.settings.scoring.cutoffs
    before, after = rescore(loaded, first, asked), rescore(loaded, second, asked)
    left = {(q.question, q.k): q for q in before.scored.questions}
    right = {(q.question, q.k): q for q in after.scored.questions}
    cases = [_case(left[at], right[at]) for at in left if at in right]
    return Comparison(
        baseline=before,
        candidate=after,
        differs=tuple(_differences(first, second)),
        only_baseline=tuple(dict.fromkeys(q for q, k in left if (q, k) not in right)),
        only_candidate=tuple(dict.fromkeys(q for q, k in right if (q, k) not in left)),
        deltas=tuple(_deltas(cases)),
        cases=tuple(cases),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, None over no value or where one is missing."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


def _case(before: QuestionScore, after: QuestionScore) -> Case:
    deltas: dict[str, float | None] = {}
    for metric, name in MEAN_NAMES.items():
        a, b = before.values.get(metric), after.values.get(metric)
        deltas[name] = None if a is None or b is None else b - a
    return Case(before.question, before.category, before.k, before, after, deltas)


def _deltas(cases: Sequence[Case]) -> list[Delta]:
    categories = dict.fromkeys(case.category for case in cases)
    cutoffs = dict.fromkeys(case.k for case in cases)
    return [
        _delta([c for c in cases if c.k == k and category in (None, c.category)], k, category, name)
        for k in cutoffs
        for category in (None, *categories)
        for name in MEAN_NAMES.values()
    ]


def _delta(cases: Sequence[Case], k: int, category: str | None, name: str) -> Delta:
    metric = METRIC_OF[name]
    both = [c for c in cases if c.both_scored]
    known = [delta for case in both if (delta := case.deltas[name]) is not None]
    decided = len(known) == len(both)

    def mean(values: Sequence[float | None]) -> float | None:
        return _mean(values) if decided else None

    return Delta(
        k=k,
        category=category,
        metric=name,
        n=len(both),
        baseline=mean([c.baseline.values[metric] for c in both]),
        candidate=mean([c.candidate.values[metric] for c in both]),
        delta=mean(known),
        wins=sum(delta > TIE for delta in known),
        losses=sum(delta < -TIE for delta in known),
        ties=sum(abs(delta) <= TIE for delta in known),
        undecided=len(both) - len(known),
    )


def _differences(first: Execution, second: Execution) -> list[tuple[str, Any, Any]]:
    """What was set differently, field by field."""
    found: list[tuple[str, Any, Any]] = []
    if first.configuration != second.configuration:
        found.append(("configuration name", first.configuration, second.configuration))
    for part in ("configuration", "filters", "embedder", "engine"):
        before, after = first.provenance.get(part) or {}, second.provenance.get(part) or {}
        for name in dict.fromkeys((*before, *after)):
            of_ours = all(is_own_name(str(one.get(name))) for one in (before, after))
            if (part, name) == ("engine", "collection") and of_ours:
                continue  # made of corpus and embedder, which are told themselves
            if before.get(name) != after.get(name):
                found.append((f"{part}.{name}", before.get(name), after.get(name)))
    # What was embedded can be told apart only where both embed alike; else the embedder is told.
    alike = first.provenance.get("embedder") == second.provenance.get("embedder")
    for part in ("depth", "program", *(["content"] if alike else [])):
        before, after = first.provenance.get(part), second.provenance.get(part)
        if before != after:
            found.append((part, before, after))
    # Behind one address there may be another program by now.
    names = [
        ", ".join(e.provenance.get("checks", {}).get("pipelines", [])) for e in (first, second)
    ]
    if names[0] != names[1]:
        found.append(("pipeline", names[0] or None, names[1] or None))
    return found

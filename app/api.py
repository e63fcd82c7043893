"""Relevance Desk from Python, for notebooks and scripts.

    from app import api

    scores = api.evaluate("runbooks", k=[1, 3])
    scores.means                 # a DataFrame: one row per configuration, K and category
    scores.questions             # one row per configuration, question and K
    scores.hits                  # one row per hit, with its grade
    api.compare("dense", "hybrid").means
    api.score_run("my.run", qrels="my.qrels", k=[10])
    api.labels("runbooks")

`workspace` is the folder with `data` and `labels`, the current one unless given. What the command
line tells in a sentence is raised here as `DeskError`, with the same sentence. Every result has
`records`, the plain values of the command's `--json`, beside its DataFrames; its `notices` say what
was noticed on the way. Where a value does not exist (provisional, not applicable, failed) it is
NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from app.core.errors import DeskError, InvalidInput
from app.core.model import ScoringSettings
from app.core.scale import Scale, parse_scale
from app.flows import comparing, contract, frames
from app.flows.comparing import Comparison
from app.flows.evaluating import Evaluation
from app.flows.evaluating import evaluate as evaluate_collection
from app.flows.exchange import plain_values
from app.flows.exchange.plain import RunScores, score_under_labels, score_under_qrels
from app.flows.exchange.plain_files import Row, trec_qrels, trec_run
from app.flows.exchange.run_rows import Order
from app.flows.loading import load
from app.settings import DEEPEST, METRIC_NAMES, check_cutoffs
from app.workspace import Collection, Workspace

__all__ = ["Compared", "DeskError", "RunResult", "Scores", "compare", "evaluate", "labels",
           "score_run"]  # fmt: skip

_SIDES = ("baseline", "candidate", "delta")
Run = str | Path | pd.DataFrame | Mapping[str, Sequence[str] | Mapping[str, float]]
Qrels = str | Path | pd.DataFrame | Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Scores:
    """Executions of a collection with their scores."""

    evaluations: tuple[Evaluation, ...]

    @property
    def records(self) -> dict[str, Any]:
        """What `desk evaluate --json` prints."""
        return contract.evaluations(self.evaluations)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was noticed, in sentences."""
        return tuple(notice for one in self.evaluations for notice in one.notices)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means by configuration, K and category (None: all questions), values 0 to 1."""
        return frames.means(
            (one.execution.configuration, one.execution.id, one.means) for one in self.evaluations
        )

    @cached_property
    def questions(self) -> pd.DataFrame:
        """Scores by configuration, question and K; `outcome` says why there is none."""
        return frames.questions(
            (one.execution.configuration, one.execution.id, one.scored) for one in self.evaluations
        )

    @cached_property
    def hits(self) -> pd.DataFrame:
        """Every hit within the largest K: rank from 1, key, score, grade (NaN: none), state."""
        return frames.hits(
            (one.execution.configuration, one.execution.id, one.scored) for one in self.evaluations
        )


@dataclass(frozen=True)
class RunResult:
    """The scores of one run."""

    name: str
    scores: RunScores

    @property
    def notices(self) -> tuple[str, ...]:
        """What was noticed, in sentences."""
        return self.scores.notices

    @property
    def records(self) -> dict[str, Any]:
        """Means and outcomes as plain values, shaped as in `desk evaluate --json`."""
        return contract.run(self.scores.means, self.scores.scored)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means by K and category (None: all questions), values 0 to 1."""
        return frames.means([(self.name, None, self.scores.means)])

    @cached_property
    def questions(self) -> pd.DataFrame:
        """Scores by question and K; `outcome` says why there is none."""
        return frames.questions([(self.name, None, self.scores.scored)])

    @cached_property
    def hits(self) -> pd.DataFrame:
        """Every hit within the largest K, with its grade."""
        return frames.hits([(self.name, None, self.scores.scored)])


@dataclass(frozen=True)
class Compared:
    """Two executions over the questions both have; deltas are candidate - baseline."""

    comparison: Comparison

    @property
    def records(self) -> dict[str, Any]:
        """What `desk compare --json` prints."""
        return contract.comparison(self.comparison)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was noticed, in sentences."""
        return (*self.comparison.baseline.notices, *self.comparison.candidate.notices)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Both means and their delta by metric, K and category, with wins, losses and ties."""
        return frames.numeric(pd.DataFrame(self.records["means"]), _SIDES)

    @cached_property
    def questions(self) -> pd.DataFrame:
        """The delta of every metric by question and K."""
        rows = [
            {name: value for name, value in {**row, **row["deltas"]}.items() if name != "deltas"}
            for row in self.records["questions"]
        ]
        return frames.numeric(pd.DataFrame(rows), METRIC_NAMES)


def evaluate(
    collection: str,
    *,
    workspace: str | Path = ".",
    configurations: Iterable[str] | None = None,
    k: Iterable[int] | None = None,
    split: str | None = None,
    reuse: bool = False,
) -> Scores:
    """Search for every question of an indexed collection, keep the executions, score them.

    `configurations` and the cut-offs `k` are the collection's own unless given; `split` scores only
    the questions of one split. `reuse` takes a stored execution where nothing that decides it has
    changed. Raises DeskError: unknown names, refused labels, a collection that is not indexed.
    """
    here = _collection(workspace, collection)
    names = None if configurations is None else list(configurations)
    cutoffs = None if k is None else list(_cutoffs(k))
    found = evaluate_collection(here, names, cutoffs=cutoffs, split=split, reuse=reuse)
    return Scores(tuple(found))


def score_run(
    run: Run,
    *,
    qrels: Qrels | None = None,
    collection: str | None = None,
    workspace: str | Path = ".",
    k: Iterable[int] = (1, 3, 5, 10),
    order: Order = "rank",
    grades: str | Scale | None = None,
    threshold: int = 1,
    highest: int = 2,
    name: str = "run",
) -> RunResult:
    """Score a run under `qrels`, or under the labels of a `collection`; nothing is stored.

    `run` is a TREC file, a DataFrame (columns question, chunk, and rank or score), or a mapping of
    questions to chunks in order or to scores by chunk. `qrels` is a TREC file, a DataFrame
    (question, chunk, grade) or a mapping. `order` "score" ranks by score (descending, then by key)
    instead of the rank column; scores by chunk have no other order. `grades` maps another scale,
    such as "0=0,1=1,2=1,3=2". `threshold` and `highest` say what is relevant and the highest grade
    (a collection has its own). Raises DeskError.
    """
    if (qrels is None) == (collection is None):
        raise InvalidInput("one of qrels and collection is needed", remedy="Give one of the two")
    cutoffs = _cutoffs(k)
    rows, ranked, noticed = _rows(run, order)
    if collection is not None:
        loaded = load(_collection(workspace, collection))
        settings = loaded.collection.settings.scoring_settings(list(cutoffs))
        found = score_under_labels(loaded, rows, settings, ranked)
        return RunResult(name, replace(found, notices=(*noticed, *found.notices)))
    if not 1 <= threshold <= highest:
        raise InvalidInput(
            f"threshold {threshold} is outside 1..{highest}",
            remedy="Say from which grade on a chunk is relevant",
        )
    scale = parse_scale(grades, highest) if isinstance(grades, str) else grades
    for theirs, ours in (scale or {}).items():
        if ours is not None and not 0 <= ours <= highest:
            raise InvalidInput(
                f"the grade {theirs} is mapped to {ours}, which is outside 0..{highest}",
                remedy=f"Map to a grade from 0 to {highest}, or to None to leave it out",
            )
    settings = ScoringSettings(threshold=threshold, cutoffs=cutoffs, highest=highest)
    if isinstance(qrels, str | Path):
        judged, said = trec_qrels(Path(qrels))
    else:
        judged, said = plain_values.qrels(qrels), ()
    found = score_under_qrels(judged, rows, settings, ranked, scale)
    return RunResult(name, replace(found, notices=(*said, *noticed, *found.notices)))


def _cutoffs(k: Any) -> tuple[int, ...]:
    try:
        numbers = list(k)
        if any(isinstance(one, bool) or not isinstance(one, int) for one in numbers):
            raise ValueError(f"needs whole numbers from 1 to {DEEPEST}")
        return tuple(check_cutoffs(numbers))
    except (TypeError, ValueError) as error:
        words = error if isinstance(error, ValueError) else "is no list of numbers"
        raise InvalidInput(f"k {words}", remedy="For example k=[1, 3, 5]") from error


def _rows(run: Any, order: Order) -> tuple[list[Row], Order, tuple[str, ...]]:
    """The rows of a run, by which column they are ordered, and what was noticed."""
    if order not in ("rank", "score"):
        raise InvalidInput(f"order is {order!r}", remedy='Say "rank" or "score"')
    if isinstance(run, str | Path):
        rows, noticed = trec_run(Path(run), order)
        return rows, order, noticed
    rows, by_score = plain_values.run_rows(run)
    return rows, "score" if by_score else order, ()


def compare(
    baseline: str, candidate: str, *, collection: str | None = None, workspace: str | Path = "."
) -> Compared:
    """Compare two stored executions: ids, beginnings of one, or configurations' names.

    `collection` says which one's, where a configuration's name means executions of several.
    Both are scored under the labels as they are now. Raises DeskError where they cannot be
    compared.
    """
    here = Workspace.at(Path(workspace))
    return Compared(comparing.compare(here, baseline, candidate, collection))


def labels(collection: str, *, workspace: str | Path = ".") -> pd.DataFrame:
    """The effective labels of a collection, one row per listed (question, chunk).

    Columns: question, document, version, chunk, state, grade (NaN: none), low and high (the
    possible grades), departed (the chunk is not in the corpus). Raises DeskError with every label
    that is refused.
    """
    return frames.labels(load(_collection(workspace, collection)).labels)


def _collection(workspace: str | Path, name: Any) -> Collection:
    if not isinstance(name, str):
        raise InvalidInput(f"{name!r} is no name of a collection", remedy="Give its name")
    return Workspace.at(Path(workspace)).collection(name)

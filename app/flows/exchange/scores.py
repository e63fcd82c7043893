"""Scores of what was just imported."""

from __future__ import annotations

from collections.abc import Sequence

from app.engines.executions import Execution
from app.flows.evaluating import Evaluation, keep_scores
from app.flows.loading import load
from app.workspace import Collection


def imported_scores(collection: Collection, executions: Sequence[Execution]) -> list[Evaluation]:
    """Score executions at the collection's cut-offs under its labels, and keep the scores.

    Those of another corpus revision, or that kept too few ranks, are left out.
    """
    loaded = load(collection)
    deepest = max(collection.settings.scoring.cutoffs)
    return [
        keep_scores(loaded, execution)
        for execution in executions
        if execution.corpus_revision == loaded.corpus.revision
        and (execution.imported or execution.depth >= deepest)
    ]

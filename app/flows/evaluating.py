"""Evaluate: run configurations over all questions, keep the executions, score them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.errors import EngineError, InvalidInput, NotReady
from app.core.model import ScoringSettings
from app.engines import executions, scores
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.filling import embedded
from app.flows.loading import Loaded, load, require_questions
from app.flows.manifests import missing_vectors
from app.flows.means import Mean, means
from app.flows.noticing import check_notices, run_notices
from app.flows.progress import Progress, marked, silent
from app.flows.running import Run
from app.flows.scored import Scored
from app.flows.searching import Fill, fresh_engine, open_searcher
from app.flows.stored_scoring import score_execution, score_row
from app.settings import check_cutoffs
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An execution with its scores under the labels as they are now.

    `reused`: it was there before. `interrupted`: Ctrl-C or a server ended the work after it.
    """

    execution: Execution
    label_revision: str
    scoring: ScoringSettings
    scored: Scored
    means: tuple[Mean, ...]
    reused: bool
    notices: tuple[str, ...]
    interrupted: bool = False


def evaluate(
    collection: Collection,
    configurations: Sequence[str] | None = None,
    *,
    cutoffs: Sequence[int] | None = None,
    split: str | None = None,
    reuse: bool = False,
    resume: bool = False,
    progress: Progress = silent,
    engine_for: Fill = fresh_engine,
    who: str | None = None,
) -> list[Evaluation]:
    """Run configurations (all unless named) over all questions, store and score the executions.

    `reuse` takes an execution with the same fingerprint instead of a new one. `resume` does so,
    too, and goes on where one broke off: only its failed questions are asked again. `split` keeps
    only that split's questions in the scores; every question is searched all the same. Ctrl-C keeps
    what was searched as an execution marked incomplete. `who` asked for it, where that is not the
    account that runs the program.

    Raises InvalidInput, NotReady, EmbedderError before the first search, StoreError after it.
    """
    scoring = collection.settings.scoring_settings(_cutoffs(cutoffs))
    names = list(dict.fromkeys(configurations or collection.settings.configurations))
    for name in names:
        collection.configuration(name)
    loaded = load(collection)
    require_questions(loaded)
    loaded.labels  # noqa: B018 - labels are validated before the first search
    _require_split(loaded, split)
    store = Store.at(collection.workspace.store_path)
    found: list[Evaluation] = []
    with marked(collection.workspace.running, f"Evaluating {collection.name}") as left_over:
        searchers = {
            name: open_searcher(collection, name, loaded.corpus, engine_for) for name in names
        }
        for name, searcher in [] if reuse or resume else searchers.items():
            digest = searcher.embedder.digest if searcher.embedder else None
            if reason := missing_vectors(collection, name, loaded.corpus, digest):
                raise NotReady(reason, remedy=f"Index it: desk index {collection.name}")
        if not reuse and not resume:
            # What cannot be reached ends the work before any of it is done, and is not done twice.
            for name, searcher in searchers.items():
                if not embedded(collection, name):
                    searcher.engine  # noqa: B018
        for name, searcher in searchers.items():
            run = Run(loaded, name, searcher, scoring, store, progress, who)
            try:
                execution, reused = run.execution(reuse=reuse, resume=resume)
            except (EngineError, NotReady) as error:
                if not found:
                    raise
                told = (*found[-1].notices, f"{name} and what follows it was not run: {error}")
                found[-1] = replace(found[-1], notices=told, interrupted=True)
                break
            evaluation = _stored(loaded, execution, scoring, split, store, reused)
            notices = (*run.notices, *evaluation.notices)
            found.append(replace(evaluation, interrupted=run.interrupted, notices=notices))
            if run.interrupted:
                break
    conflicts = tuple(str(conflict) for conflict in loaded.labels.conflicts)
    origin = () if loaded.origin is None else (loaded.origin,)
    notices = (*left_over, *origin, *loaded.labels.notices, *conflicts, *found[0].notices)
    found[0] = replace(found[0], notices=notices)
    return found


def rescore(
    loaded: Loaded, execution: Execution, cutoffs: Sequence[int], split: str | None = None
) -> Evaluation:
    """Score a stored execution under the labels as they are now.

    Raises InvalidInput where it is of another corpus revision, or kept fewer ranks than a K needs.
    """
    # An imported run is all there is of it; what it does not list did not come back.
    if max(cutoffs) > execution.depth and not execution.imported:
        raise InvalidInput(
            f"the execution {execution.id} kept {execution.depth} ranks, too few for K = "
            f"{max(cutoffs)}",
            remedy=f"Run it again: desk evaluate {execution.collection}",
        )
    if execution.corpus_revision != loaded.corpus.revision:
        raise InvalidInput(
            f"the execution {execution.id} was run on another revision of the corpus of "
            f"{execution.collection}",
            remedy=f"Run it again: desk evaluate {execution.collection}",
        )
    scoring = loaded.collection.settings.scoring_settings(sorted(set(cutoffs)))
    store = Store.at(loaded.collection.workspace.store_path)
    evaluation = _evaluation(loaded, execution, scoring, split, store, reused=True)[0]
    texts = {question.id: question.text for question in loaded.questions.values()}
    notices = tuple(
        f"{name} was worded otherwise when {execution.id} was run and is left out."
        for name in sorted(executions.reworded(store, execution, texts))
    )
    return replace(evaluation, notices=(*notices, *run_notices(execution), *evaluation.notices))


def keep_scores(loaded: Loaded, execution: Execution) -> Evaluation:
    """Score an execution at the collection's own cut-offs, and keep the scores."""
    scoring = loaded.collection.settings.scoring_settings()
    store = Store.at(loaded.collection.workspace.store_path)
    evaluation = _stored(loaded, execution, scoring, None, store, reused=False)
    conflicts = tuple(str(conflict) for conflict in loaded.labels.conflicts)
    notices = (*loaded.labels.notices, *conflicts, *evaluation.notices)
    return replace(evaluation, notices=notices)


def _cutoffs(cutoffs: Sequence[int] | None) -> list[int] | None:
    if cutoffs is None:
        return None
    try:
        return check_cutoffs(cutoffs)
    except ValueError as error:
        raise InvalidInput(f"K {error}", remedy="For example --k 1,3,5") from error


def _require_split(loaded: Loaded, split: str | None) -> None:
    splits = {question.split for question in loaded.questions.values()}
    if split is not None and split not in splits:
        raise InvalidInput(
            f"no question has the split {split}", remedy=f"Splits here: {', '.join(sorted(splits))}"
        )


def _stored(
    loaded: Loaded,
    execution: Execution,
    scoring: ScoringSettings,
    split: str | None,
    store: Store,
    reused: bool,
) -> Evaluation:
    """The evaluation of one split, kept for all questions."""
    evaluation, whole = _evaluation(loaded, execution, scoring, split, store, reused=reused)
    rows = [score_row(question) for question in whole.questions]
    scores.save(store, execution, loaded.labels, scoring, rows)
    return evaluation


def _evaluation(
    loaded: Loaded,
    execution: Execution,
    scoring: ScoringSettings,
    split: str | None,
    store: Store,
    *,
    reused: bool,
) -> tuple[Evaluation, Scored]:
    whole = score_execution(store, execution, loaded, scoring)
    scored = whole.of_split(split)
    evaluation = Evaluation(
        execution=execution,
        label_revision=loaded.labels.revision,
        scoring=scoring,
        scored=scored,
        means=tuple(means(scored, complete=execution.status != "incomplete")),
        reused=reused,
        notices=tuple(check_notices(execution)),
    )
    return evaluation, whole

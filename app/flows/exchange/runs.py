"""TREC runs in: streamed from the file to the store as an execution marked `imported`."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from app import __version__
from app.core.errors import InvalidInput
from app.core.ids import execution_id
from app.core.judgments import now
from app.core.keys import Ids
from app.core.text import digest, shown
from app.engines import executions, runs
from app.engines.executions import Execution
from app.engines.git import git_state
from app.engines.store import Store
from app.flows.exchange.keymaps import map_for
from app.flows.exchange.outcome import Outcome
from app.flows.exchange.run_rows import Order, Parsed, spool_rows
from app.flows.loading import Loaded, load_asked
from app.flows.progress import Progress, silent
from app.flows.provenance import user
from app.flows.wording import count
from app.workspace import Collection

#: Names longer than this fit no table.
_LONGEST = 60
Missing = Literal["empty", "failed"]


def import_run(
    collection: Collection,
    path: Path,
    *,
    name: str | None = None,
    order: Order = "rank",
    missing: Missing = "empty",
    keys: Path | None = None,
    dry_run: bool = False,
    skip_refused: bool = False,
    progress: Progress = silent,
) -> Outcome:
    """Take a TREC run as an execution; `result` of the outcome is the execution.

    `name` is its configuration's, else the run's tag. Hits are ordered by the rank column, or by
    score (descending, then by key) with `order` "score". A chunk that is named twice keeps its
    first rank. Chunks unknown here are hits without a text. Questions without a row got nothing
    back, or with `missing` "failed" are failures; a question of which a row is refused is a failure
    in any case. Raises InvalidInput where the file cannot be read.
    """
    loaded = load_asked(collection, "this run")
    loaded.labels  # noqa: B018 - scored at once: labels that are refused must be mended before
    found = Outcome(f"hits of a run of {collection.name}", path.name)
    ids = Ids(loaded.questions, loaded.corpus, collection.settings.version, map_for(path, keys))
    parsed = Parsed(ids)
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder) / "rows.parquet"
        failed = spool_rows(path, spool, parsed, found, order, progress)
        if not found.read:
            raise InvalidInput("the run is empty", place=path.name, remedy="Name another file")
        if len(found.refused) == found.read:
            return found
        facts = runs.facts(spool, order, len(parsed.names), found.read)
        found.new = facts["hits"]
        if facts["duplicates"]:
            found.left_out["named before, first rank kept"] = facts["duplicates"]
        unasked = [name for name in loaded.questions if name not in parsed.names]
        _tell(found, parsed, facts, order, unasked, missing)
        if len(found.refused) and not skip_refused:
            return found
        if not (loaded.corpus.chunks.keys() & parsed.keys.keys()):
            raise InvalidInput(
                f"not one of the {len(parsed.keys):,} ids of the run is a chunk of "
                f"{collection.name}, {next(iter(parsed.keys)).short()} for one",
                place=path.name,
                remedy="Run and corpus must share their ids; a map file translates them: --map",
            )
        failures = dict.fromkeys(unasked, "not in the run") if missing == "failed" else {}
        failures |= failed
        configuration = _name(name, path, parsed)
        if configuration in collection.settings.configurations:
            raise InvalidInput(
                f"{collection.name} has a configuration called {configuration} itself",
                place=path.name,
                remedy="Call the run otherwise: --name NAME",
            )
        execution = _execution(loaded, path, configuration, order, parsed, facts, failed=failures)
        store = Store.at(collection.workspace.store_path)
        if same := _same(store, execution):
            found.known, found.new = found.new, 0
            return found.finish(lambda: same, dry_run=dry_run, skip_refused=skip_refused)
        texts = {question.id: question.text for question in loaded.questions.values()}

        def write() -> Execution:
            runs.save(
                store,
                execution,
                spool,
                order,
                found.read,
                list(parsed.names),
                list(parsed.keys),
                failures,
                texts,
                loaded.corpus,
                retain_text=collection.settings.retain_text,
            )
            return execution

        return found.finish(write, dry_run=dry_run, skip_refused=skip_refused)


def _tell(
    found: Outcome,
    parsed: Parsed,
    facts: dict[str, int],
    order: Order,
    unasked: list[str],
    missing: Missing,
) -> None:
    if parsed.more:
        found.notes.append(f"{count(parsed.more, 'line')} with more columns than 6, not used.")
    if parsed.unknown:
        found.notes.append(
            f"Chunks without a text here: {parsed.unknown:,}. They are hits without a text, "
            "unjudged unless somebody labeled them."
        )
    if facts["disagreeing"]:
        found.notes.append(
            f"Questions whose scores and ranks disagree: {facts['disagreeing']:,}. The rank column "
            "decides."
        )
    if facts["tied"] and order == "score":
        found.notes.append(
            f"Questions with equal scores: {facts['tied']:,}. They are ordered by key; where K "
            "falls between them the bounds show what another order could give."
        )
    if facts["same_rank"] and order == "rank":
        found.notes.append(
            f"Questions with two hits at one rank: {facts['same_rank']:,}, kept in the file's "
            "order."
        )
    if unasked:
        what = "They got nothing back" if missing == "empty" else "They count as failed"
        found.notes.append(
            f"Questions without a row: {len(unasked):,}, {unasked[0]} for one. {what}."
        )


def _name(name: str | None, path: Path, parsed: Parsed) -> str:
    """The configuration's name: as given, the run's one tag, or the file's name."""
    tag = next(iter(parsed.tags)).decode("utf-8", "replace") if len(parsed.tags) == 1 else ""
    words = name or tag or path.stem
    cleaned = re.sub(r"[^a-z0-9._-]+", "-", words.lower()).strip("-._")
    cleaned = cleaned[:_LONGEST]
    if name is not None and cleaned != name:
        raise InvalidInput(
            f"the name {shown(name)} may have a-z, 0-9, '.', '_' and '-' only, {_LONGEST} at most",
            remedy=f"For example --name {cleaned or 'run'}",
        )
    return cleaned or "run"


def _same(store: Store, execution: Execution) -> Execution | None:
    """An execution of the same file under the same questions and corpus, or None."""
    if not store.path.exists():
        return None
    there = executions.listed(store, execution.collection)
    return next((one for one in there if one.fingerprint == execution.fingerprint), None)


def digest_of_file(path: Path) -> str:
    """Sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _execution(
    loaded: Loaded,
    path: Path,
    name: str,
    order: Order,
    parsed: Parsed,
    facts: dict[str, int],
    *,
    failed: Mapping[str, str],
) -> Execution:
    collection, made = loaded.collection, now()
    run = {
        "file": path.name,
        "tags": sorted(tag.decode("utf-8", "replace") for tag in parsed.tags),
        "without_text": parsed.unknown,
        "duplicates": facts["duplicates"],
        "disagreeing": facts["disagreeing"],
        "unasked": len(loaded.questions) - len(parsed.names),
    }
    identity = {
        "imported": run | {"file": digest_of_file(path)},
        "name": name,
        "order": order,
        "corpus": loaded.corpus.revision,
        "chunks": [str(key) for key in parsed.keys],
        "questions": [[name, question.text] for name, question in loaded.questions.items()],
        "failed": dict(failed),
        "retain_text": collection.settings.retain_text,
    }
    return Execution(
        id=execution_id(),
        collection=collection.name,
        configuration=name,
        fingerprint=digest(identity),
        status="incomplete" if failed else "imported",
        corpus_revision=loaded.corpus.revision,
        points=len(loaded.corpus.chunks),
        eligible=len(loaded.corpus.eligible),
        started=made,
        finished=made,
        provenance={
            "configuration": {"mode": "imported"},
            "filters": collection.settings.filters,
            "depth": facts["depth"],
            "order": order,
            "retain_text": collection.settings.retain_text,
            "run": run,
            "embedder": None,
            "engine": None,
            "checks": {},
            "program": __version__,
            "git": git_state(collection.workspace.root),
            "user": user(),
        },
    )

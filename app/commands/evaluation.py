"""Index, evaluate, check, list, compare."""

from __future__ import annotations

from pathlib import Path

import click

from app.commands.base import (
    cutoffs_option,
    json_option,
    open_workspace,
    print_json,
    print_notices,
    progress,
    workspace_option,
)
from app.flows import checking, comparison_report, contract, report
from app.flows.comparing import compare
from app.flows.evaluating import Evaluation, evaluate
from app.flows.indexing import IndexReport, index
from app.flows.listing import list_executions
from app.flows.starting import init
from app.flows.syncing import SyncReport, sync
from app.flows.wording import count
from app.workspace import Collection


def print_scores(collection: Collection, found: list[Evaluation]) -> None:
    """Notices and score tables of a collection."""
    for one in found:
        print_notices(one.notices)
    click.echo(report.score_tables(found, collection.settings.scoring.primary))
    click.echo()


def exit_code(found: list[Evaluation]) -> int:
    """2 where an execution is incomplete, or was not made."""
    return 2 if any(one.execution.status == "incomplete" or one.interrupted for one in found) else 0


@click.command("index")
@click.argument("collection")
@workspace_option
def index_command(collection: str, workspace: str | None) -> None:
    """Cut and embed a collection's source texts; only what is new is embedded."""
    here = open_workspace(workspace).collection(collection)
    for one in index(here, progress=progress):
        print_notices(one.notices)
        click.echo(_index_line(one))


def _index_line(one: IndexReport) -> str:
    manifest = one.manifest
    embedder = manifest.embedder or "no embedder"
    return (
        f"{one.collection}: indexed {count(manifest.points, 'chunk')}, {manifest.eligible:,} "
        f"eligible, for {', '.join(one.configurations)} ({embedder}); "
        f"{one.embedded} embedded, {one.reused} as they were"
        + ("" if one.uploaded is None else f"; {one.uploaded:,} brought to the server")
    )


@click.command("sync")
@click.argument("collection")
@json_option
@workspace_option
def sync_command(collection: str, as_json: bool, workspace: str | None) -> None:
    """Read what a foreign Qdrant collection holds; nothing is written to it."""
    found = sync(open_workspace(workspace).collection(collection), progress)
    if as_json:
        print_json(contract.sync(found))
    else:
        print_notices(found.notices)
        click.echo(sync_line(found))


def sync_line(one: SyncReport) -> str:
    """What a sync found, in a line."""
    return (
        f"{one.collection}: read {count(one.sync.points, 'point')} of {one.sync.collection}, "
        f"{one.eligible:,} eligible; {one.new:,} new, {one.changed:,} changed, {one.removed:,} "
        "gone" + (f"; {one.sync.left_out:,} without a chunk left out" if one.sync.left_out else "")
    )


@click.command("evaluate")
@click.argument("collection")
@click.option("--configuration", "-c", "configurations", multiple=True, help="All unless given.")
@cutoffs_option
@click.option("--split", help="Score only the questions of this split.")
@click.option("--resume", is_flag=True, help="Go on where a run broke off; ask what failed again.")
@json_option
@workspace_option
@click.pass_context
def evaluate_command(
    ctx: click.Context,
    collection: str,
    configurations: tuple[str, ...],
    cutoffs: list[int] | None,
    split: str | None,
    resume: bool,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Search for every question, keep the execution, score it."""
    here = open_workspace(workspace).collection(collection)
    found = evaluate(
        here, configurations, cutoffs=cutoffs, split=split, resume=resume, progress=progress
    )
    if as_json:
        print_json(contract.evaluations(found))
    else:
        print_scores(here, found)
        click.echo(report.LEGEND)
    ctx.exit(exit_code(found))


@click.command("check")
@click.argument("collection")
@click.option("--vectors", is_flag=True, help="Embed 20 stored chunks again and compare.")
@json_option
@workspace_option
@click.pass_context
def check_command(
    ctx: click.Context, collection: str, vectors: bool, as_json: bool, workspace: str | None
) -> None:
    """Check settings, corpus, questions, labels and index; change nothing."""
    here = open_workspace(workspace)
    found = checking.check(here, collection, vectors=vectors, progress=progress)
    if as_json:
        print_json(checking.as_json(found))
    else:
        click.echo(checking.as_text(found))
    ctx.exit(found.exit_code)


@click.command("executions")
@click.argument("collection", required=False)
@json_option
@workspace_option
def executions_command(collection: str | None, as_json: bool, workspace: str | None) -> None:
    """List the executions, newest first."""
    found = list_executions(open_workspace(workspace), collection)
    if as_json:
        print_json(contract.execution_list(found))
    elif found:
        click.echo(comparison_report.execution_table(found))
    else:
        click.echo("No execution yet. Make one: desk evaluate COLLECTION")


@click.command("compare")
@click.argument("baseline")
@click.argument("candidate")
@click.option("--collection", help="Where a configuration's name means executions of several.")
@json_option
@workspace_option
def compare_command(
    baseline: str, candidate: str, collection: str | None, as_json: bool, workspace: str | None
) -> None:
    """Compare two executions: by id, the beginning of one, or a configuration's name."""
    here = open_workspace(workspace)
    found = compare(here, baseline, candidate, collection)
    print_notices((*found.baseline.notices, *found.candidate.notices))
    if as_json:
        print_json(contract.comparison(found))
    else:
        settings = here.collection(found.baseline.execution.collection).settings
        click.echo(comparison_report.comparison_text(found, settings.scoring.primary))


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--bare", is_flag=True, help="Without a collection: imports bring theirs.")
def init_command(folder: Path, bare: bool) -> None:
    """Make an empty, commented workspace."""
    for name in init(folder, bare=bare):
        click.echo(f"made {folder / name}")
    if bare:
        click.echo(f"\nNext: desk import NAME corpus FILE --workspace {folder}")
        return
    click.echo(
        f"\nNext: put texts into {folder}/data/my-collection/corpus, questions into "
        f"{folder}/labels/my-collection/questions.jsonl, then: desk --workspace {folder}"
    )


COMMANDS = (
    index_command,
    sync_command,
    evaluate_command,
    check_command,
    executions_command,
    compare_command,
    init_command,
)

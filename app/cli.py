"""The `desk` command: parse, call, print."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from app import __version__
from app.core.errors import DeskError, InvalidInput
from app.flows import checking, comparison_report, contract, report
from app.flows.comparing import compare
from app.flows.evaluating import Evaluation, evaluate
from app.flows.indexing import IndexReport, index
from app.flows.listing import list_executions
from app.flows.starting import init
from app.launch import choose_port, serve
from app.log import record, record_cause
from app.workspace import Collection, Workspace

F = TypeVar("F", bound=Callable[..., Any])


class Desk(click.Group):
    """Every error is a sentence. Exit codes: 0 fine, 1 a check failed, 2 invalid or incomplete."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong is told, and a traceback goes to the log."""
        try:
            return super().invoke(ctx)
        except DeskError as error:
            record_cause(error, _root(ctx))
            tell(error)
            ctx.exit(2)
        except (KeyboardInterrupt, click.Abort):
            click.echo("stopped. What was finished is kept.", err=True)
            ctx.exit(2)
        except (click.ClickException, click.exceptions.Exit, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in a sentence
            where = record(error, _root(ctx))
            click.echo(f"error: unexpected {type(error).__name__}: {error}. See {where}.", err=True)
            ctx.exit(2)


def tell(error: DeskError) -> None:
    """Print every problem of an error, at most 20."""
    for problem in error.problems[:20]:
        click.echo(f"error: {problem}", err=True)
    if len(error.problems) > 20:
        click.echo(f"error: and {len(error.problems) - 20} more.", err=True)


def _root(ctx: click.Context) -> Path:
    """The folder of the workspace a command opened, or was to open."""
    root: Path | None = ctx.find_root().obj
    return root or Path(ctx.find_root().params.get("workspace") or ".")


def workspace_option(command: F) -> F:
    """`--workspace DIR`, also behind a command's name."""
    return click.option(
        "--workspace", "-w", type=click.Path(file_okay=False),
        help="Folder of the workspace (the current one unless given).",
    )(command)  # fmt: skip


def json_option(command: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(
        command
    )


def _open(workspace: str | None) -> Workspace:
    root = click.get_current_context().find_root()
    root.obj = Path(workspace or root.params.get("workspace") or ".")
    return Workspace.at(root.obj)


def _print_json(value: Any) -> None:
    escaped = (sys.stdout.encoding or "").replace("-", "").lower() != "utf8"
    click.echo(json.dumps(value, ensure_ascii=escaped, indent=2, allow_nan=False))


def _progress(what: str, done: int, total: int) -> None:
    """One line that counts up, on a terminal only."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done >= total else ""
        click.echo(f"\r\x1b[K{what}: {done} of {total}{end}", nl=False, err=True)


def _notices(notices: tuple[str, ...]) -> None:
    for notice in notices:
        click.echo(f"note: {notice}", err=True)


@click.group(cls=Desk, invoke_without_command=True)
@workspace_option
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the dashboard (8501 on).")
@click.option("--address", default="localhost", show_default=True, help="Address to listen on.")
@click.option("--no-serve", is_flag=True, help="End after the score table.")
@click.version_option(__version__, prog_name="desk")
@click.pass_context
def desk(
    ctx: click.Context, workspace: str | None, port: int | None, address: str, no_serve: bool
) -> None:
    """Find out whether retrieval works: labels, scores and comparisons.

    Without a command: index and evaluate every collection of the workspace, print the scores and
    open the dashboard. What has not changed since the last time is not run again.
    """
    if ctx.invoked_subcommand is not None:
        return
    here = _open(workspace)
    free = None if no_serve else choose_port(address, port)
    code = 0 if here.names() else 2
    if not here.names():
        click.echo("error: there is no collection in data. Make one: desk init DIR.", err=True)
    for name in here.names():
        try:
            collection = here.collection(name)
            for indexed in index(collection, progress=_progress):
                _notices(indexed.notices)
            found = evaluate(collection, reuse=True, progress=_progress)
            _print_scores(collection, found)
            code = max(code, _exit_code(found))
            if found[-1].interrupted:
                ctx.exit(2)
        except DeskError as error:
            record_cause(error, here.root)
            tell(error)
            code = 2
    click.echo(report.LEGEND)
    if free is None:
        ctx.exit(code)
    if address not in ("localhost", "127.0.0.1", "::1"):
        click.echo("note: there is no sign-in: whoever reaches this address can grade.", err=True)
    host = f"[{address}]" if ":" in address else address
    click.echo(f"\nDashboard: http://{host}:{free}  (Ctrl-C ends it)")
    serve(here, address, free)


def _print_scores(collection: Collection, found: list[Evaluation]) -> None:
    for one in found:
        _notices(one.notices)
    click.echo(report.score_tables(found, collection.settings.scoring.primary))
    click.echo()


def _exit_code(found: list[Evaluation]) -> int:
    return 2 if any(one.execution.status == "incomplete" for one in found) else 0


@desk.command("index")
@click.argument("collection")
@workspace_option
def index_command(collection: str, workspace: str | None) -> None:
    """Cut and embed a collection's source texts; only what is new is embedded."""
    here = _open(workspace).collection(collection)
    for one in index(here, progress=_progress):
        _notices(one.notices)
        click.echo(_index_line(one))


def _index_line(one: IndexReport) -> str:
    manifest = one.manifest
    embedder = manifest.embedder or "no embedder"
    return (
        f"{one.collection}: indexed {manifest.points} chunks, {manifest.eligible} eligible, for "
        f"{', '.join(one.configurations)} ({embedder}); {one.embedded} embedded, {one.reused} as "
        "they were"
    )


def _cutoffs(ctx: click.Context, option: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter("K are whole numbers with commas between: 1,3,5") from None


@desk.command("evaluate")
@click.argument("collection")
@click.option("--configuration", "-c", "configurations", multiple=True, help="All unless given.")
@click.option("--k", "cutoffs", callback=_cutoffs, help="Cut-offs, such as 1,3,5.")
@click.option("--split", help="Score only the questions of this split.")
@json_option
@workspace_option
@click.pass_context
def evaluate_command(
    ctx: click.Context,
    collection: str,
    configurations: tuple[str, ...],
    cutoffs: list[int] | None,
    split: str | None,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Search for every question, keep the execution, score it."""
    here = _open(workspace).collection(collection)
    found = evaluate(here, configurations, cutoffs=cutoffs, split=split, progress=_progress)
    if as_json:
        _print_json(contract.evaluations(found))
    else:
        _print_scores(here, found)
        click.echo(report.LEGEND)
    ctx.exit(_exit_code(found))


@desk.command("check")
@click.argument("collection")
@json_option
@workspace_option
@click.pass_context
def check_command(
    ctx: click.Context, collection: str, as_json: bool, workspace: str | None
) -> None:
    """Check settings, corpus, questions, labels and index; change nothing."""
    found = checking.check(_open(workspace), collection)
    if as_json:
        _print_json(checking.as_json(found))
    else:
        click.echo(checking.as_text(found))
    ctx.exit(found.exit_code)


@desk.command("executions")
@click.argument("collection", required=False)
@json_option
@workspace_option
def executions_command(collection: str | None, as_json: bool, workspace: str | None) -> None:
    """List the executions, newest first."""
    found = list_executions(_open(workspace), collection)
    if as_json:
        _print_json(contract.execution_list(found))
    elif found:
        click.echo(comparison_report.execution_table(found))
    else:
        click.echo("No execution yet. Make one: desk evaluate COLLECTION")


@desk.command("compare")
@click.argument("baseline")
@click.argument("candidate")
@json_option
@workspace_option
def compare_command(baseline: str, candidate: str, as_json: bool, workspace: str | None) -> None:
    """Compare two executions: by id, the beginning of one, or a configuration's name."""
    here = _open(workspace)
    found = compare(here, baseline, candidate)
    _notices((*found.baseline.notices, *found.candidate.notices))
    if as_json:
        _print_json(contract.comparison(found))
    else:
        settings = here.collection(found.baseline.execution.collection).settings
        click.echo(comparison_report.comparison_text(found, settings.scoring.primary))


@desk.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
def init_command(folder: Path) -> None:
    """Make an empty, commented workspace."""
    for name in init(folder):
        click.echo(f"made {folder / name}")
    click.echo(
        f"\nNext: put texts into {folder}/data/my-collection/corpus, questions into "
        f"{folder}/labels/my-collection/questions.jsonl, then: desk --workspace {folder}"
    )


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        desk(prog_name="desk")
    except OSError as error:
        remedy = "Remove what is in the way, or mend the permissions"
        place = str(error.filename or "")
        tell(InvalidInput(error.strerror or str(error), place=place, remedy=remedy))
        sys.exit(2)

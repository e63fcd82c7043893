"""The `desk` command: all commands under one name, and what it does without any."""

from __future__ import annotations

import gc
import io
import os
import sys
import threading

import click

from app import __version__
from app.commands import agreement, evaluation, exchange, publishing, searching, upkeep
from app.commands.base import Desk, open_workspace, print_notices, progress, tell, workspace_option
from app.commands.evaluation import exit_code, print_scores
from app.core.errors import DeskError, InvalidInput
from app.flows import report
from app.flows.evaluating import evaluate
from app.flows.syncing import prepare
from app.launch import choose_port, exposure, require_sign_in, serve
from app.log import record_cause
from app.team import read_team


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
    here = open_workspace(workspace)
    team = read_team(here.data)
    if not no_serve:
        require_sign_in(here.root, team.sign_in)
    free = None if no_serve else choose_port(address, port)
    code = 0 if here.names() else 2
    if not here.names():
        click.echo("error: there is no collection in data. Make one: desk init DIR.", err=True)
    for name in here.names():
        try:
            collection = here.collection(name)
            for prepared in prepare(collection, progress):
                print_notices(prepared.notices)
            found = evaluate(collection, reuse=True, progress=progress)
            print_scores(collection, found)
            code = max(code, exit_code(found))
            if found[-1].interrupted:
                ctx.exit(2)
        except DeskError as error:
            record_cause(error, here.root)
            tell(error)
            code = 2
    click.echo(report.LEGEND)
    if free is None:
        ctx.exit(code)
    exposed = exposure(address, team.sign_in)
    print_notices([*team.notices, *([exposed] if exposed else [])])
    host = f"[{address}]" if ":" in address else address
    click.echo(f"\nDashboard: http://{host}:{free}  (Ctrl-C ends it)")
    serve(here, address, free, team.sign_in)


for command in (
    *evaluation.COMMANDS,
    *searching.COMMANDS,
    *agreement.COMMANDS,
    *exchange.COMMANDS,
    *publishing.COMMANDS,
    *upkeep.COMMANDS,
):
    desk.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    # A command reads much that stays: to look for cycles as often as usual is a third of its time.
    gc.set_threshold(100_000, 50, 100)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        desk(prog_name="desk")
    except SystemExit as ended:
        _leave(ended)
    except OSError as error:
        remedy = "Remove what is in the way, or mend the permissions"
        place = str(error.filename or "")
        tell(InvalidInput(error.strerror or str(error), place=place, remedy=remedy))
        sys.exit(2)


def _leave(ended: SystemExit) -> None:
    """End now, also where a request that was given up still waits for its time-out."""
    waiting = [one for one in threading.enumerate() if one is not threading.main_thread()]
    if all(one.daemon for one in waiting):
        raise ended
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended.code if isinstance(ended.code, int) else 0)

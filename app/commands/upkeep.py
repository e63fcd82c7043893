"""Back up, examine, delete, prune."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click

from app.commands.base import (
    json_option,
    open_workspace,
    print_json,
    print_notices,
    workspace_option,
)
from app.core.errors import InvalidInput
from app.flows.upkeep import backup, deleting, doctor, pruning


@click.command("backup")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
@workspace_option
def backup_command(file: Path | None, force: bool, as_json: bool, workspace: str | None) -> None:
    """Write what cannot be made again into one .zip file: executions, labels, settings."""
    here = open_workspace(workspace)
    made = backup.back_up(here, file, force=force)
    print_notices(made.notices)
    if as_json:
        print_json(backup.as_json(made))
    else:
        click.echo(backup.as_text(made, here))


@click.command("doctor")
@json_option
@workspace_option
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool, workspace: str | None) -> None:
    """Examine program, workspace, store and collections; change nothing."""
    with suppress(InvalidInput):  # without a workspace there still is the program to examine
        open_workspace(workspace)
    found = doctor.examine(ctx.find_root().obj)
    if as_json:
        print_json(doctor.as_json(found))
    else:
        click.echo(doctor.as_text(found))
    ctx.exit(found.exit_code)


def _agreed(about: str) -> bool:
    """Whether the person at the terminal agrees; raises InvalidInput where there is nobody."""
    if not sys.stdin.isatty():
        raise InvalidInput("nothing was deleted: nobody can be asked", remedy="Add --yes")
    return click.confirm(f"{about}\nDelete for good?".lstrip())


@click.command("delete")
@click.argument("executions", metavar="EXECUTION...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and end.")
@click.option("--compact", is_flag=True, help="Make the store's file smaller afterwards.")
@workspace_option
def delete_command(
    executions: tuple[str, ...], yes: bool, dry_run: bool, compact: bool, workspace: str | None
) -> None:
    """Delete executions, by id or the beginning of one, with all that belongs to them."""
    here = open_workspace(workspace)
    found = deleting.find(here, executions)
    click.echo(deleting.found_text(found))
    if dry_run:
        click.echo("Nothing was deleted.")
        return
    if not yes and not _agreed(""):
        click.echo("Nothing was deleted.")
        return
    click.echo(deleting.delete(here, found, to_compact=compact))
    if compact:
        click.echo(deleting.compact(here))


@click.command("prune")
@click.argument("collection")
@click.option("--server", is_flag=True, help="Its collections on the Qdrant server instead.")
@click.option("--yes", is_flag=True, help="With --server: do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and end.")
@json_option
@workspace_option
def prune_command(
    collection: str, server: bool, yes: bool, dry_run: bool, as_json: bool, workspace: str | None
) -> None:
    """Remove vectors that no configuration needs for the corpus as it is now."""
    here = open_workspace(workspace).collection(collection)
    if server:
        found = pruning.prune_server(here, dry_run=True)
        # Others may share the server, with another revision or a collection of the same name.
        if not dry_run and found.removed and not yes and not _agreed(pruning.server_text(found)):
            click.echo("Nothing was deleted.")
            return
        removed = found if dry_run else pruning.prune_server(here)
        print_notices(removed.notices)
        if as_json:
            print_json(pruning.server_json(removed))
        else:
            click.echo(pruning.server_text(removed))
        return
    report = pruning.prune(here, dry_run=dry_run)
    print_notices(report.notices)
    if as_json:
        print_json(pruning.as_json(report))
    else:
        click.echo(pruning.as_text(report))


COMMANDS = (backup_command, doctor_command, delete_command, prune_command)

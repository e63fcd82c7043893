"""Labels for others: what is unpublished, a commit of it, a file of it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from app.commands.base import (
    json_option,
    open_workspace,
    print_json,
    print_notices,
    workspace_option,
)
from app.flows.sharing import publishing, publishing_words
from app.flows.sharing.bundling import bundle
from app.flows.sharing.publication import status
from app.flows.wording import count


@click.group("labels")
def labels_group() -> None:
    """Say what of the labels is unpublished, commit it, or pack it into a file."""


@labels_group.command("status")
@click.argument("collection", required=False)
@json_option
@workspace_option
def status_command(collection: str | None, as_json: bool, workspace: str | None) -> None:
    """Say what is not committed yet, of all collections or of one; change nothing."""
    found = status(open_workspace(workspace), collection)
    if as_json:
        print_json(publishing_words.status_json(found))
    else:
        click.echo(publishing_words.status_text(found))


@labels_group.command("publish")
@click.argument("collection", required=False)
@click.option("--branch", "-b", help="Commit onto this branch, without checking it out.")
@click.option("--push", is_flag=True, help="Push the branch afterwards.")
@click.option("--remote", default="origin", show_default=True, help="Where to push.")
@click.option("--message", "-m", help="The commit's message, instead of what is counted.")
@json_option
@workspace_option
def publish_command(
    collection: str | None,
    branch: str | None,
    push: bool,
    remote: str,
    message: str | None,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Commit the labels of all collections or of one, and nothing else."""
    here = open_workspace(workspace)
    made = publishing.publish(
        here, collection, branch=branch, push=push, remote=remote, message=message
    )
    print_notices(made.notices)
    if as_json:
        print_json(publishing_words.published_json(made))
    else:
        click.echo(publishing_words.published_text(made))


@labels_group.command("bundle")
@click.argument("collection")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@workspace_option
def bundle_command(collection: str, file: Path, force: bool, workspace: str | None) -> None:
    """Pack the labels of a collection into one .zip, to be sent."""
    made = bundle(open_workspace(workspace), collection, file, force=force)
    counts, name = made.counts, shlex.quote(file.name)
    click.echo(
        f"{file}: {count(counts['events'], 'event')} of {count(counts['reviewers'], 'reviewer')} "
        f"and {count(counts['questions'], 'question')} of {collection}.\n"
        f"Whoever gets the file takes it in with: desk import {collection} labels {name}"
    )


COMMANDS = (labels_group,)

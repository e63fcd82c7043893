"""Search: one question in the terminal."""

from __future__ import annotations

import click

from app.commands.base import (
    json_option,
    open_workspace,
    print_json,
    print_notices,
    workspace_option,
)
from app.flows import search_report
from app.flows.loading import load


@click.command("search")
@click.argument("collection")
@click.argument("question")
@click.option(
    "--configuration",
    "-c",
    "configurations",
    multiple=True,
    help="One, or two side by side; the first unless given.",
)
@click.option("--k", type=click.IntRange(1, 10_000), help="The cut-off; the primary one's.")
@json_option
@workspace_option
@click.pass_context
def search_command(
    ctx: click.Context,
    collection: str,
    question: str,
    configurations: tuple[str, ...],
    k: int | None,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Ask one question, by id or in words: hits, scores, and where lost evidence went."""
    loaded = load(open_workspace(workspace).collection(collection))
    report = search_report.search(loaded, question, configurations, k)
    print_notices([loaded.origin] if loaded.origin else [])
    if as_json:
        print_json(search_report.as_json(report))
    else:
        click.echo(search_report.as_text(report))
    ctx.exit(2 if report.failed else 0)


COMMANDS = (search_command,)

"""How far the reviewers of a collection agree."""

from __future__ import annotations

from datetime import datetime

import click

from app.commands.base import json_option, open_workspace, print_json, workspace_option
from app.core.errors import InvalidInput
from app.core.text import shown
from app.flows import agreement_report
from app.flows.agreeing import agreement, first_judgments
from app.flows.loading import load


@click.command("agreement")
@click.argument("collection")
@click.option("--category", help="Only the questions of this category.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only judgments from this day on.")
@json_option
@workspace_option
def agreement_command(
    collection: str,
    category: str | None,
    since: datetime | None,
    as_json: bool,
    workspace: str | None,
) -> None:
    """How far reviewers agree on what they graded blind: kappa, alpha, bias, overlap."""
    loaded = load(open_workspace(workspace).collection(collection))
    categories = dict.fromkeys(question.category for question in loaded.questions.values())
    if category is not None and category not in categories:
        raise InvalidInput(
            f"no question of {collection} has the category {shown(category)}",
            remedy=f"Categories there: {', '.join(categories) or 'none'}",
        )
    day = f"{since:%Y-%m-%d}" if since else None
    found = agreement(loaded, first_judgments(loaded, day), category, day)
    if as_json:
        print_json(agreement_report.as_json(found))
    else:
        click.echo(agreement_report.as_text(found))


COMMANDS = (agreement_command,)

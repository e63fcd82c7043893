"""Import and export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from app.commands.base import (
    cutoffs_option,
    json_option,
    open_workspace,
    print_json,
    print_notices,
    progress,
    tell,
    workspace_option,
)
from app.core.errors import InvalidInput
from app.core.scale import OURS, parse_scale
from app.flows import contract, report
from app.flows.exchange import exporting, plain
from app.flows.exchange.columns import parse_columns
from app.flows.exchange.importing import KINDS, TAKES, Options, bring_in
from app.flows.exchange.labels import IMPORTED
from app.flows.exchange.outcome import Outcome, outcome_json, outcome_text
from app.flows.exchange.run_rows import Order
from app.flows.exchange.scores import imported_scores
from app.flows.exchange.trec_out import Scores
from app.flows.listing import Execution
from app.flows.wording import count

order_option = click.option(
    "--order",
    type=click.Choice(["rank", "score"]),
    default="rank",
    show_default=True,
    help="Which column orders a run.",
)
grades_option = click.option(
    "--grades", metavar="A=B,...", help="Map another scale: 0=0,1=1,2=1,3=2; -1=skip."
)


@click.command("import")
@click.argument("collection")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--skip-refused", is_flag=True, help="Write the rest where rows are refused.")
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="Name a column.")
@click.option("--category", default="general", show_default=True, help="For questions without.")
@click.option("--update", is_flag=True, help="Replace questions that are there.")
@grades_option
@click.option(
    "--reviewer",
    default=IMPORTED,
    show_default=True,
    help="Who judged, where the file does not say.",
)
@click.option(
    "--not-blind",
    "blind",
    is_flag=True,
    callback=lambda ctx, option, value: not value,
    help="The labels were given in sight of a ranking.",
)
@click.option("--unknown", type=click.Choice(["keep", "skip", "refuse"]), help="Unknown chunks.")
@click.option("--map", "keys", type=click.Path(path_type=Path), help="What the file's ids mean.")
@click.option("--complete", is_flag=True, help="Labels are complete for this corpus.")
@click.option("--all-questions", is_flag=True, help="BEIR: also questions without judgments.")
@click.option("--name", help="Name of a run's configuration (its tag unless given).")
@order_option
@click.option(
    "--missing",
    type=click.Choice(["empty", "failed"]),
    default="empty",
    show_default=True,
    help="Questions without a row in a run.",
)
@json_option
@workspace_option
def import_command(
    collection: str,
    kind: str,
    path: Path,
    as_json: bool,
    workspace: str | None,
    columns: Sequence[str],
    grades: str | None,
    **words: Any,
) -> None:
    """Take in texts, questions, labels, a run, a BEIR folder or an execution.

    The whole file is read first, and nothing is written where a row is refused.

    \b
    desk import docs corpus chunks.jsonl --column chunk=id
    desk import docs questions questions.xlsx
    desk import docs labels qrels.trec --grades 0=0,1=1,2=1,3=2
    desk import docs run bm25.run --dry-run
    desk import scifact beir ../scifact
    """
    here = open_workspace(workspace)
    _require_fitting(kind)
    options = Options(
        columns=parse_columns(columns),
        grades=None if grades is None else parse_scale(grades),
        progress=progress,
        **words,
    )
    found = bring_in(here, collection, kind, path, options)
    if as_json:
        print_json({"format": 1, "imports": [outcome_json(one) for one in found]})
    else:
        _print(found)
    failed = not all(one.ok for one in found)
    executions = [one.result for one in found if isinstance(one.result, Execution)]
    if executions:
        target = here.collection(collection)
        scores = imported_scores(target, executions)
        if scores and not as_json:
            print_notices(scores[0].notices)
            click.echo("\n" + report.score_tables(scores, target.settings.scoring.primary))
    click.get_current_context().exit(2 if failed else 0)


def _require_fitting(kind: str) -> None:
    """Raise InvalidInput for an option that means nothing for this kind of file."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        fitting = [one for one in KINDS if name in TAKES[one]]
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and fitting and kind not in fitting:
            raise InvalidInput(
                f"{max(parameter.opts, key=len)} means nothing for {kind}",
                remedy=f"It is for {', '.join(fitting)}; leave it out",
            )


def _print(found: Sequence[Outcome]) -> None:
    for one in found:
        if one.refused.problems:
            tell(InvalidInput.of(one.refused.problems))
        print_notices(one.notes)
        click.echo(outcome_text(one))


@click.command("export")
@click.argument("collection")
@click.argument("kind", type=click.Choice(exporting.KINDS))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--execution", help="Which execution: an id, or a configuration's name.")
@click.option("--grades", metavar="A=B,...", help="Qrels on another scale: 0=0,1=1,2=3.")
@click.option(
    "--order",
    type=click.Choice(["score", "rank"]),
    default="score",
    show_default=True,
    help="Score column of a run: the scores, or numbers that fall with the rank.",
)
@click.option("--force", is_flag=True, help="Write over what is there.")
@json_option
@workspace_option
def export_command(
    collection: str,
    kind: str,
    path: Path,
    execution: str | None,
    grades: str | None,
    order: Scores,
    force: bool,
    as_json: bool,
    workspace: str | None,
) -> None:
    """Give out questions, labels, a run, a BEIR folder or an execution.

    \b
    desk export docs labels labels.jsonl     every event, lossless
    desk export docs labels labels.xlsx      the same for people
    desk export docs labels qrels.trec       effective grades
    desk export docs run dense.run --execution dense
    desk export docs execution run.parquet --execution dense
    desk export docs beir folder
    """
    here = open_workspace(workspace).collection(collection)
    scale = OURS if grades is None else parse_scale(grades, highest=1000)
    if missing := [str(grade) for grade in OURS if grade not in scale]:
        raise InvalidInput(
            f"--grades says nothing of {', '.join(missing)}",
            remedy="Map every grade, or leave it out: 2=skip",
        )
    choice = exporting.Choice(execution, scale, order, force)
    found = exporting.send_out(here, kind, path, choice)
    if as_json:
        print_json(
            {
                "format": 1,
                "files": [str(file) for file in found.files],
                "lines": found.lines,
                "left_out": dict(found.left_out),
                "notes": found.notes,
            }
        )
        return
    print_notices(found.notes)
    out = "".join(f"; {number:,} left out ({what})" for what, number in found.left_out.items())
    click.echo(f"{', '.join(str(file) for file in found.files)}: {count(found.lines, 'row')}{out}.")


@click.command("score")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("qrels", type=click.Path(path_type=Path))
@cutoffs_option
@grades_option
@order_option
@json_option
def score_command(
    run: Path,
    qrels: Path,
    cutoffs: list[int] | None,
    grades: str | None,
    order: Order,
    as_json: bool,
) -> None:
    """Score a TREC run under TREC qrels; needs no workspace and keeps nothing."""
    scale = None if grades is None else parse_scale(grades)
    found = plain.score_files(run, qrels, cutoffs or [1, 3, 5, 10], order, scale)
    print_notices(found.notices)
    if as_json:
        print_json({"format": 1, **contract.run(found.means, found.scored)})
    else:
        click.echo(f"{report.mean_tables([(run.stem, found.means)])}\n\n{report.LEGEND}")


COMMANDS = (import_command, export_command, score_command)

"""What all commands share: errors as sentences, common options, printing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from app.core.errors import DeskError, Problem
from app.log import note, record, record_cause
from app.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])

#: Commands that only look; they leave no line in the log.
_LOOKING = frozenset({"agreement", "check", "compare", "doctor", "executions", "score", "search"})


class Desk(click.Group):
    """Every error is a sentence. Exit codes: 0 fine, 1 a check failed, 2 invalid or incomplete."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they were typed, for the log."""
        ctx.meta["desk.words"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong is told, and a traceback goes to the log."""
        began = time.monotonic()
        code = 0
        try:
            return super().invoke(ctx)
        except DeskError as error:
            code = 2
            record_cause(error, _root(ctx))
            tell(error)
            ctx.exit(2)
        except (KeyboardInterrupt, click.Abort):
            code = 2
            click.echo("stopped. What was finished is kept.", err=True)
            ctx.exit(2)
        except click.exceptions.Exit as ended:
            code = ended.exit_code
            raise
        except (click.ClickException, OSError):
            code = 2
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in a sentence
            code = 2
            where = record(error, _root(ctx))
            click.echo(f"error: unexpected {type(error).__name__}: {error}. See {where}.", err=True)
            ctx.exit(2)
        finally:
            if ctx.invoked_subcommand not in _LOOKING:
                # Line ends in a word would make two lines of one.
                words = " ".join(" ".join(ctx.meta["desk.words"]).split())
                took = time.monotonic() - began
                note(f"desk {words}".rstrip() + f": exit {code}, {took:.1f} s", _root(ctx))


def tell(error: DeskError) -> None:
    """Print every problem of an error once, with the places it was met at; at most 20."""
    places: dict[tuple[str, str], list[str]] = {}
    for problem in error.problems:
        places.setdefault((problem.message, problem.remedy), []).append(problem.place)
    for (message, remedy), found in list(places.items())[:20]:
        click.echo(f"error: {Problem(f'{message}{_also(found)}', found[0], remedy)}", err=True)
    if len(places) > 20:
        click.echo(f"error: and {len(places) - 20:,} more.", err=True)


def _also(places: Sequence[str]) -> str:
    """The other places of a problem, of the first file by their lines alone."""
    file = places[0].rpartition(":")[0]
    others = [place.removeprefix(f"{file}:") for place in places[1:]]
    if not others:
        return ""
    rest = f" and {len(others) - 8:,} more" if len(others) > 8 else ""
    return f" (also at {', '.join(others[:8])}{rest})"


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


def cutoffs_option(command: F) -> F:
    """`--k 1,3,5`."""
    return click.option("--k", "cutoffs", callback=_cutoffs, help="Cut-offs, such as 1,3,5.")(
        command
    )


def _cutoffs(ctx: click.Context, option: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter("K are whole numbers with commas between: 1,3,5") from None


def open_workspace(workspace: str | None) -> Workspace:
    """The workspace a command was told to work in."""
    root = click.get_current_context().find_root()
    root.obj = Path(workspace or root.params.get("workspace") or ".")
    return Workspace.at(root.obj)


def print_json(value: Any) -> None:
    """A JSON value on stdout, in characters the terminal can show."""
    escaped = (sys.stdout.encoding or "").replace("-", "").lower() != "utf8"
    click.echo(json.dumps(value, ensure_ascii=escaped, indent=2, allow_nan=False))


def progress(what: str, done: int, total: int) -> None:
    """One line that counts up, on a terminal only."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done >= total else ""
        click.echo(f"\r\x1b[K{what}: {done} of {total}{end}", nl=False, err=True)


def print_notices(notices: Iterable[str]) -> None:
    """Notices on stderr, one a line."""
    for notice in notices:
        click.echo(f"note: {notice}", err=True)

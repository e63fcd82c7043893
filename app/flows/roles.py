"""Who may do what; asked before anything is written to a ledger."""

from __future__ import annotations

from app.core.errors import InvalidInput
from app.team import PLACE, read_team
from app.workspace import Workspace


def require_grader(workspace: Workspace, reviewer: str) -> None:
    """Raise InvalidInput unless a reviewer may grade, or where `data/desk.toml` is refused."""
    if not read_team(workspace.data).may_grade(reviewer):
        raise InvalidInput(
            f"you may read but not grade: roles.reviewers in {PLACE} does not have {reviewer}",
            remedy="Ask whoever keeps this workspace to add the name",
        )


def require_adjudicator(workspace: Workspace, author: str) -> None:
    """Raise InvalidInput unless an author may adjudicate, or where `data/desk.toml` is refused."""
    if not read_team(workspace.data).may_adjudicate(author):
        raise InvalidInput(
            f"you may read but not adjudicate: roles.adjudicators in {PLACE} does not have "
            f"{author}",
            remedy="Ask whoever keeps this workspace to add the name",
        )


def sees_unjudged(workspace: Workspace, viewer: str) -> bool | None:
    """Whether a viewer sees others' grades of what they have not judged: adjudicators do.

    None where nobody is named as adjudicator, so that everybody may adjudicate: they may ask to.
    """
    team = read_team(workspace.data)
    return None if team.roles.adjudicators is None else team.may_adjudicate(viewer)

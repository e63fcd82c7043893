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

"""`data/desk.toml`: how people sign in, and who may do what. Without the file anybody may grade."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from app.core.errors import InvalidInput
from app.core.judgments import reviewer_id
from app.core.tomlfiles import keys_of, read_toml
from app.core.validation import Record

PLACE = "data/desk.toml"
#: The environment variable by which a server knows the sign-in it was started with.
STARTED_WITH = "DESK_SIGN_IN"

#: What a header may be called. More is legal, but nginx drops names with an underscore.
_HEADER = re.compile(r"[A-Za-z0-9-]+")


def _name(value: str) -> str:
    try:
        return reviewer_id(value)
    except InvalidInput as error:
        raise ValueError(f"cannot be a reviewer: {error.problems[0].message}") from None


def _names(value: list[str]) -> list[str]:
    if not value:
        raise ValueError("is empty, so that nobody has the role; name somebody, or remove it")
    return value


Names = Annotated[list[Annotated[str, AfterValidator(_name)]], AfterValidator(_names)]


class SignIn(Record):
    """Who somebody is: what a reverse proxy says in a header, or OpenID Connect."""

    kind: Literal["proxy", "oidc"]
    header: str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> SignIn:
        if self.kind == "oidc" and self.header is not None:
            raise ValueError("header is for kind 'proxy'; remove it")
        if self.kind == "proxy" and self.header is None:
            raise ValueError("kind 'proxy' needs header, such as \"X-Forwarded-Email\"")
        if self.header is not None and not _HEADER.fullmatch(self.header):
            raise ValueError(f"header '{self.header}' may have letters, digits and '-' only")
        return self

    def __str__(self) -> str:
        """What a server was started with, to tell whether the file still says the same."""
        return f"{self.kind} {self.header or ''}".strip()


class Roles(Record):
    """Who may grade and who may adjudicate; everybody where there is no list."""

    reviewers: Names | None = None
    adjudicators: Names | None = None


class Team(Record):
    """All of `data/desk.toml`."""

    format: Literal[1]
    sign_in: SignIn | None = None
    roles: Roles = Roles()

    @property
    def notices(self) -> tuple[str, ...]:
        """What is allowed, and does not do what one may think."""
        if self.sign_in is None and self.roles != Roles():
            return (
                f"The roles in {PLACE} protect nothing without a sign-in: anybody can enter any "
                "name.",
            )
        return ()

    def may_grade(self, reviewer: str) -> bool:
        """Whether a reviewer, by identity, may grade."""
        return self.roles.reviewers is None or reviewer in self.roles.reviewers

    def may_adjudicate(self, author: str) -> bool:
        """Whether an author, by identity, may adjudicate."""
        return self.roles.adjudicators is None or author in self.roles.adjudicators


#: Every model of `data/desk.toml`.
MODELS: tuple[type[Record], ...] = (Team, SignIn, Roles)
_KNOWN_KEYS = keys_of(MODELS)


def read_team(data: Path) -> Team:
    """What `desk.toml` in the folder `data` says now; all is open where there is no such file.

    Raises InvalidInput with key and remedy of every problem.
    """
    path = data / "desk.toml"
    return read_toml(Team, path, PLACE, _KNOWN_KEYS) if path.exists() else Team(format=1)

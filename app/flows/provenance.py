"""Where an execution comes from: everything that could have made it differ."""

from __future__ import annotations

import getpass
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import __version__
from app.core.model import ScoringSettings
from app.core.text import digest
from app.engines.git import git_state
from app.flows.searching import Searcher

#: Version of how rankings are made; part of the fingerprint, so that an execution of an older
#: program is not taken for one of this program.
RANKING_VERSION = 2


def user() -> str:
    """The account that ran the program, or `unknown`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def embedder_of(searcher: Searcher) -> dict[str, Any] | None:
    """Name, digest and dimension of the embedder, with its templates; None for sparse search."""
    if searcher.embedder is None:
        return None
    question, document = searcher.configuration.templates
    return {
        "name": searcher.embedder.name,
        "digest": searcher.embedder.digest,
        "dimension": searcher.embedder.dimension,
        "question_template": question,
        "document_template": document,
    }


def provenance(
    searcher: Searcher,
    folder: Path,
    depth: int,
    label_revision: str,
    scoring: ScoringSettings,
    checks: dict[str, Any],
    *,
    engine: Mapping[str, Any],
    resumed: str | None,
    retain_text: bool,
    who: str | None,
) -> dict[str, Any]:
    """What is stored with an execution beside its corpus revision and times.

    `engine` is what searched, `resumed` the execution whose rankings were kept, `who` asked for it,
    where that is not the account that runs the program.
    """
    return {
        "retain_text": retain_text,
        "configuration": searcher.configuration.model_dump(),
        "filters": searcher.filters,
        "depth": depth,
        "content": searcher.content,
        "embedder": embedder_of(searcher),
        "engine": dict(engine),
        # An engine that orders hits itself is scored in its order, whatever its scores say.
        **({"order": "rank"} if searcher.engine.ordered else {}),
        "resumed": resumed,
        "label_revision": label_revision,
        "scoring": scoring.as_json(),
        "checks": checks,
        "program": __version__,
        "python": platform.python_version(),
        "git": git_state(folder),
        "user": who or user(),
    }


def fingerprint(
    searcher: Searcher,
    collection: str,
    name: str,
    depth: int,
    texts: dict[str, str],
    *,
    retain_text: bool,
    cutoffs: tuple[int, ...],
) -> str:
    """What decides a ranking and what is kept of it: with one fingerprint both are the same."""
    ignored = {"timeout", "deadline", "concurrency", "authorization_env"}
    return digest(
        {
            "version": RANKING_VERSION,
            "collection": collection,
            "name": name,
            "configuration": searcher.configuration.model_dump(exclude=ignored),
            "filters": searcher.filters,
            "depth": depth,
            "corpus": searcher.corpus.revision,
            "content": searcher.content,
            "embedder": embedder_of(searcher),
            "engine": dict(searcher.kind),
            "questions": texts,
            "retain_text": retain_text,
            "checked": cutoffs if _has_checks(searcher) else None,
        }
    )


def _has_checks(searcher: Searcher) -> bool:
    """Whether second searches are made, whose results belong to their cut-offs."""
    return searcher.configuration.prefix_check or searcher.configuration.exact_twin

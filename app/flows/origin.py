"""What one search was run with, in words: everything that could have made it differ."""

from __future__ import annotations

import time

from app import __version__
from app.core.text import canonical
from app.flows.one_search import OneSearch
from app.flows.provenance import embedder_of


def origin_rows(search: OneSearch) -> list[tuple[str, str]]:
    """Name and value of each part, for a table.

    Raises EngineError where the engine does not say what it is.
    """
    view, searcher = search.view, search.searcher
    settings = search.configuration
    said = {name: value for name, value in settings.model_dump().items() if value is not None}
    mode = said.pop("mode")
    embedder = embedder_of(searcher)
    unused = {"timeout", "deadline", "concurrency", "embedder"}
    rows = [
        ("configuration", f"{search.name} ({mode})"),
        ("settings", ", ".join(f"{k} {_word(v)}" for k, v in said.items() if k not in unused)),
        ("depth of this search", str(search.depth)),
        ("filter", canonical(dict(view.filters)) if view.filters else "none"),
        ("eligible chunks", f"{len(view.corpus.eligible):,} of {len(view.corpus.chunks):,}"),
    ]
    if embedder is not None:
        rows += [
            ("embedder", f"{embedder['name']}, digest {str(embedder['digest'])[:24]}"),
            ("question template", str(embedder["question_template"])),
            ("document template", str(embedder["document_template"])),
        ]
    rows += [
        ("engine", ", ".join(f"{_word(v)}" if k == "engine" else f"{k} {_word(v)}"
                             for k, v in search.description.items())),
        ("corpus revision", view.loaded.corpus.revision[:12]),
        ("label revision", view.labels.revision[:12]),
        ("program", __version__),
        ("asked (UTC)", time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(search.asked))),
    ]  # fmt: skip
    return [row for row in rows if row[1]]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else canonical(value)

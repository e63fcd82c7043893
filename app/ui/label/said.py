"""What reviewers said of a chunk, and links between the views: parts of several views."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from app.core.grades import PairLabel
from app.core.judgments import Judgment
from app.core.model import ChunkKey
from app.core.trec import key_token
from app.ui.text import badge, escape


def said(by: str, event: Judgment, scale: Mapping[int, str]) -> str:
    """One judgment as HTML: who, the grade or why there is none, the note, the quoted evidence."""
    if event.kind == "grade":
        value = event.value
        what = badge(PairLabel("judged", value, value, value), scale)
    else:
        label = PairLabel("cannot-judge", None, 0, max(scale))
        what = f"{badge(label, scale)} {escape(event.reason or '')}"
    note = f" {escape(event.note)}" if event.note else ""
    seen = "" if event.blind or event.adjudication else " (given while not blind)"
    quotes = "".join(
        f'<p class="desk-quote">{escape(one.quote)}'
        + (
            f' <span class="desk-meta">supports {escape(", ".join(one.facts))}</span>'
            * bool(one.facts)
        )
        + "</p>"
        for one in event.evidence
    )
    return (
        f'<p class="desk-said"><span class="desk-said-by">{escape(by)}</span>{what}{seen}{note}</p>'
        f"{quotes}"
    )


def link(
    words: str,
    collection: str,
    reviewer: str,
    view: str,
    question: str,
    key: ChunkKey | None = None,
) -> str:
    """A link to a view of page Label, as HTML; it names the chunk where one is given."""
    asked = {"collection": collection, "view": view, "reviewer": reviewer, "question": question}
    if key is not None:
        asked["chunk"] = key_token(key)
    return f'<a href="?{escape(urlencode(asked))}">{escape(words)}</a>'

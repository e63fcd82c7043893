"""Text on screen. Source text is data: always escaped, never Markdown, HTML or LaTeX."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

import streamlit as st

from app.core.grades import PairLabel
from app.core.model import Chunk
from app.flows.scored import GradedHit
from app.ui.prose import prose
from app.ui.static import static

#: Characters of a text that are shown at once: where it is judged, and in a ranking.
_JUDGED, _RANKED = 20_000, 1_200


def style() -> None:
    """The few rules that Streamlit's theme has no setting for."""
    st.html(f"<style>{static('style.css')}</style>")


def plain_label(words: str) -> str:
    """Words for a button, whose label is Markdown: its marks taken literally."""
    return re.sub(r"([\\`*_{}\[\]()#+.!:$~<>|-])", r"\\\1", words)


def escape(words: str) -> str:
    """Text as HTML; what cannot be sent, such as half of a surrogate pair, is spelled out."""
    return html.escape(words.encode("utf-8", "backslashreplace").decode())


def problem(sentence: str) -> None:
    """An error on the page, as literal text."""
    st.html(
        '<p role="alert" style="border-left:4px solid light-dark(#b3261e,#f2857d);'
        f'padding:.5rem .8rem;margin:.2rem 0">{escape(sentence)}</p>'
    )


def notice(sentence: str) -> None:
    """Something worth knowing, as literal text."""
    st.html(notice_of(sentence))


def saved(words: str, more: str | None = None) -> None:
    """That something is on the disk, said quietly and to screen readers; `more` under the mouse."""
    title = f' title="{escape(more)}"' if more else ""
    st.html(f'<p class="desk-saved" role="status"{title}>{escape(words)}</p>')


def title(words: str) -> None:
    """A heading of level 1, where a page has nothing else to show."""
    st.html(f'<h1 class="desk-question">{escape(words)}</h1>')


def caption(words: str) -> None:
    """What stands above a fact, or beside it."""
    st.html(f'<p class="desk-meta">{escape(words)}</p>', width="content")


def fact(words: str) -> None:
    """What would stand in a field, where it cannot be changed."""
    st.html(f'<p class="desk-fact">{escape(words)}</p>')


def section(words: str) -> None:
    """A heading of level 2 above a part of the page."""
    st.html(f'<h2 class="desk-section">{escape(words)}</h2>')


def heading(text: str, below: str | None = None) -> None:
    """A question as a heading of level 2, and a line below it."""
    st.html(heading_of(text, below))


def heading_of(text: str, below: str | None = None) -> str:
    """The same as HTML."""
    second = f'<p class="desk-need">{escape(below)}</p>' if below else ""
    return f'<h2 class="desk-question">{escape(text)}</h2>{second}'


def notice_of(sentence: str) -> str:
    """Something worth knowing, as HTML."""
    return f'<p class="desk-meta" role="note">{escape(sentence)}</p>'


def badge(label: PairLabel, scale: Mapping[int, str]) -> str:
    """The grade or state of a pair as HTML; the word is always there, never colour alone.

    `scale` is what the grades mean.
    """
    if label.state in ("judged", "implicit", "retired", "unsettled") and label.grade is not None:
        kind, words = f"g{min(label.grade, 2)}", f"{label.grade} {scale[label.grade]}"
        if label.state == "implicit":
            words = "0 not listed (labels are complete)"
        elif label.state == "unsettled":
            words += f" ({label.low} or {label.high})"
        elif label.state == "retired":
            words = "retired"
    elif label.state == "disputed":
        kind, words = "disputed", f"disputed: {label.low} to {label.high}"
    elif label.state == "stale":
        kind, words = "stale", "stale: judge again"
    else:
        kind = "unjudged"
        words = "cannot be judged" if label.state == "cannot-judge" else "unjudged"
    return f'<span class="desk-badge desk-{kind}">{escape(words)}</span>'


def origin(title: str, section: str, document: str) -> str:
    """Title, section and document id of a chunk, escaped, on one line."""
    place = " › ".join(part for part in (title, section) if part)
    return escape(f"{place} · {document}" if place else document)


def literal(text: str, most: int) -> str:
    """A chunk's text as HTML, escaped; what goes beyond `most` characters is one click away."""
    if len(text) <= most:
        return escape(text)
    return (
        f"{escape(text[:most])}<details><summary>Show the other {len(text) - most:,} characters"
        f"</summary>{escape(text[most:])}</details>"
    )


def plain(words: str) -> None:
    """Longer prose as it is written."""
    st.html(f'<div class="desk-plain">{escape(words)}</div>')


def guidelines(words: str, *, key: str | None = None) -> None:
    """How to grade, folded; with the key that folds and unfolds it, unfolded where it has one."""
    mark = f"<kbd>{escape(key)}</kbd> " if key else ""
    st.html(
        f'<details class="desk-guide"{" open" if key else ""}><summary>{mark}How to grade</summary>'
        f'<div class="desk-prose">{prose(words)}</div></details>'
    )


def chunk_text(text: str, title: str, section: str, document: str) -> None:
    """One chunk's literal text with its origin above it."""
    st.html(
        f'<p class="desk-meta">{origin(title, section, document)}</p>'
        f'<div class="desk-chunk desk-reading" data-testid="chunk">{literal(text, _JUDGED)}</div>'
    )


def hit(graded: GradedHit, chunk: Chunk | None, scale: Mapping[int, str]) -> str:
    """One ranked hit as HTML: rank, grade, score, origin, text; no chunk: a hit without a text."""
    rank, score, key = graded.hit.rank, graded.hit.score, graded.hit.key.short()
    title, section = (chunk.title, chunk.section) if chunk else ("", "")
    shown = (
        f'<div class="desk-chunk">{literal(chunk.text, _RANKED)}</div>'
        if chunk
        else '<p class="desk-meta">No text here: an imported run returned it.</p>'
    )
    return (
        '<section class="desk-hit"><div class="desk-row">'
        f'<span class="desk-rank">{rank}</span>{badge(graded.label, scale)}'
        f'<span class="desk-meta desk-score">score {score:.4f}</span>'
        f'<span class="desk-meta">{origin(title, section, key)}</span></div>{shown}</section>'
    )


def cut_line(words: str) -> str:
    """Where K or a threshold cuts the ranking, as HTML."""
    return f'<div class="desk-cut">{escape(words)}</div>'


def table(header: list[str], rows: list[list[str]], words: frozenset[int] = frozenset()) -> None:
    """A small table with a row head; columns in `words` hold prose."""
    kinds = [' class="desk-words"' if column in words else "" for column in range(len(header))]
    head = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>'
        for kind, cell in zip(kinds, header, strict=True)
    )
    body = ""
    for first, *cells in rows:
        body += f'<tr><th scope="row">{escape(first)}</th>'
        body += "".join(
            f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds[1:], cells, strict=True)
        )
        body += "</tr>"
    st.html(
        f'<table class="desk-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )

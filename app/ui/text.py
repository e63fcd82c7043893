"""Text on screen. Source text is data: always escaped, never Markdown, HTML or LaTeX."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

import streamlit as st

from app.core.grades import PairLabel
from app.core.model import Chunk
from app.flows.scored import GradedHit

#: Characters of a text that are shown at once: where it is judged, and in a ranking.
_JUDGED, _RANKED = 20_000, 1_200
_STYLE = """
<style>
.desk-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); }
.desk-section { font-size: 1.05rem; font-weight: 600; margin: 1rem 0 .25rem; padding: 0; }
.desk-question { font-size: 1.35rem; font-weight: 600; line-height: 1.35; margin: 0 0 .25rem;
  padding: .25rem 0 0; }
.desk-need, .desk-meta { color: light-dark(#51606e, #a9b6c2); font-size: .9rem; margin: 0; }
.desk-fact { margin: .25rem 0 0; overflow-wrap: anywhere; }
.st-key-sign-out button { min-height: 0; padding: 0; text-decoration: underline; }
.desk-chunk { max-width: 46rem; font-size: 1.06rem; line-height: 1.6; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: .5rem 0 .75rem; }
.desk-hit { border-top: 1px solid light-dark(#d5dce3, #33404d); padding: .7rem 0 .1rem; }
.desk-hit .desk-chunk { font-size: .98rem; line-height: 1.5; margin: .35rem 0 .5rem; }
.desk-row { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; }
.desk-rank { font-variant-numeric: tabular-nums; font-weight: 600; min-width: 1.6rem; }
.desk-score { font-variant-numeric: tabular-nums; }
.desk-cut { border-top: 2px dashed light-dark(#1f5f99, #6fb1ea); margin-top: .4rem;
  padding-top: .2rem; font-size: .85rem; color: light-dark(#1f5f99, #6fb1ea); }
.desk-badge { display: inline-block; font-size: .8rem; line-height: 1.3; padding: .1rem .5rem;
  border-radius: .6rem; border: 1.5px solid transparent; white-space: nowrap; }
.desk-g2 { background: light-dark(#1f5f99, #6fb1ea); color: light-dark(#ffffff, #10161c); }
.desk-g1 { border-color: light-dark(#1f5f99, #6fb1ea); color: light-dark(#1f5f99, #6fb1ea); }
.desk-g0 { background: light-dark(#e4e8ec, #333d48); color: light-dark(#3d4a57, #c6d0d9); }
.desk-unjudged { border: 1.5px dashed light-dark(#6a7783, #93a1ae);
  color: light-dark(#51606e, #a9b6c2); }
.desk-disputed { border-color: light-dark(#9a5b00, #e6a84d); color: light-dark(#8a5200, #e6a84d); }
.desk-stale { border-color: light-dark(#6a4fa3, #b8a6e6); color: light-dark(#5f4497, #b8a6e6); }
.desk-table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.desk-table th, .desk-table td { text-align: right; padding: .28rem .7rem; font-weight: 400;
  border-bottom: 1px solid light-dark(#e3e8ed, #2a343f); vertical-align: baseline; }
.desk-table th { color: light-dark(#51606e, #a9b6c2); font-size: .88rem; }
.desk-table th[scope=row], .desk-table th:first-child { text-align: left; padding-left: 0; }
.desk-reading { min-height: 9rem; max-height: max(9rem, calc(100vh - 29rem)); overflow-y: auto; }
.desk-plain { white-space: pre-wrap; max-width: 46rem; font-size: .95rem; line-height: 1.5; }
.desk-table .desk-words { text-align: left; font-size: .85rem;
  color: light-dark(#51606e, #a9b6c2); }
</style>
"""


def style() -> None:
    """The few rules that Streamlit's theme has no setting for."""
    st.html(_STYLE)


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
    st.html(f'<p class="desk-meta" role="note">{escape(sentence)}</p>')


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
    second = f'<p class="desk-need">{escape(below)}</p>' if below else ""
    st.html(f'<h2 class="desk-question">{escape(text)}</h2>{second}')


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

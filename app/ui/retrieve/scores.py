"""Scores beside the evidence: values with their arithmetic, and the same ranking elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.flows.inspecting import Inspection
from app.flows.lost import Lost
from app.flows.score_rows import ScoreRow
from app.flows.trying import View
from app.flows.wording import METRIC_WORDS, acceptance_words, number, outcome_words, signed
from app.ui import text
from app.ui.retrieve import grading
from app.ui.retrieve.quotes import Marks, marked


def draw(found: Inspection, rows: Sequence[ScoreRow], k: int, mode: str) -> None:
    """Every metric at K with its arithmetic in words; acceptance for an unsupported question.

    `mode` is that of the search.
    """
    text.section(f"Scores at K = {k}")
    if not _unscored(found, mode):
        table = [[row.name, row.shown, row.how] for row in rows]
        text.table(["metric", "value", "how"], table, words=frozenset({2}))
        _provisional(found)


def draw_both(
    names: Sequence[str],
    found: Sequence[Inspection],
    rows: Sequence[Sequence[ScoreRow]],
    k: int,
    modes: Sequence[str],
) -> None:
    """The scores of two configurations side by side, with their difference."""
    text.section(f"Scores at K = {k}")
    if all(rows):
        table = [
            [
                first.name,
                first.shown,
                second.shown,
                signed(_difference(first, second)),
                f"{first.how} | {second.how}" if first.how != second.how else first.how,
            ]
            for first, second in zip(*rows, strict=True)
        ]
        head = ["metric", *names, f"{names[1]} - {names[0]}", f"how: {names[0]} | {names[1]}"]
        text.table(head, table, words=frozenset({4}))
        for name, one in zip(names, found, strict=True):
            _provisional(one, f"{name}: ")
        return
    for name, one, mine, mode in zip(names, found, rows, modes, strict=True):
        if not mine:
            _unscored(one, mode, f"{name}: ")
        else:
            text.notice(f"{name}: " + ", ".join(f"{row.name} {row.shown}" for row in mine))


def _difference(first: ScoreRow, second: ScoreRow) -> float | None:
    if first.value is None or second.value is None:
        return None
    return second.value - first.value


def _unscored(found: Inspection, mode: str, before: str = "") -> bool:
    """Say why there is no score; whether there is none."""
    if found.ranking.failure is not None:
        text.notice(f"{before}The search failed: there is no score.")
        return True
    if found.score is None:
        text.notice(
            f"{before}This is no question of the collection: nobody has judged what is relevant to "
            "it, so there is nothing to score."
        )
        return True
    if found.acceptance is not None:
        text.notice(before + acceptance_words(found.acceptance, fused=mode == "hybrid"))
        return True
    if found.score.outcome != "scored":
        kept_out = found.lost and all(one.cause == "not eligible" for one in found.lost)
        words = "Not applicable: the filter of this run keeps every relevant chunk out."
        text.notice(before + (words if kept_out else outcome_words(found.score)))
        return True
    return False


def _provisional(found: Inspection, before: str = "") -> None:
    score = found.score
    if score is None:
        return
    if score.provisional:
        as_zero = ", ".join(
            f"{METRIC_WORDS[name]} {number(value)}" for name, value in score.as_zero.items()
        )
        text.notice(
            f"{before}Provisional: open pairs may still change it. Unjudged as 0: {as_zero}"
        )
    if score.tied:
        text.notice(
            f"{before}Equal scores lie across K: another order of them would score otherwise."
        )


def lost(found: Sequence[Lost], view: View, question: str, marks: Marks) -> None:
    """Every relevant chunk that is not within K, where it went, and its text to be unfolded."""
    text.section("Lost evidence")
    if not found:
        text.notice("None: every relevant chunk is within K.")
        return
    items = "".join(_lost(one, view, question, marks) for one in found)
    st.html(f'<ul class="desk-lost">{items}</ul>')


def _lost(one: Lost, view: View, question: str, marks: Marks) -> str:
    chunk, key = view.corpus.chunks.get(one.key), one.key
    link = grading.link_to_chunk(view.loaded.collection.name, question, key)
    head = (
        f'<a href="{link}" target="_self">{text.escape(key.short())}</a> '
        f'<span class="desk-badge desk-g{min(one.grade, 2)}">{one.grade}</span> '
        f"{text.escape(one.words)}"
    )
    if chunk is None:
        return f"<li>{head}</li>"
    title = " › ".join(part for part in (chunk.title, chunk.section) if part)
    return (
        f"<li>{head}<details><summary>{text.escape(title or 'Its text')}"
        f'</summary><div class="desk-chunk">{marked(chunk.text, marks.get(key))}</div></details>'
        "</li>"
    )

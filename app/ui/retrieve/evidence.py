"""Ranked evidence: every hit with its grade, text and quotes, and where K and a threshold cut."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from app.core.diagnosis import RankShare
from app.core.facts import EvidenceOf
from app.core.model import Chunk, ChunkKey
from app.core.text import canonical
from app.flows.inspecting import MOST_SHOWN, Evidence, Inspection
from app.flows.moves import Move
from app.flows.wording import count
from app.ui import text
from app.ui.retrieve import grading
from app.ui.retrieve.quotes import Marks, piece, quoted

#: Characters of a text that are shown at once, and how many more are not worth folding.
_SHOWN, _LITTLE = 420, 200


@dataclass(frozen=True, slots=True)
class Beside:
    """What is told of every hit beside its rank: quotes, moves, shares of nDCG at its rank.

    `foreign` are hits that only the filter of this run lets pass.
    """

    marks: Marks
    moves: Mapping[ChunkKey, Move]
    shares: Sequence[RankShare]
    foreign: Container[ChunkKey] = ()


def draw(
    found: Inspection,
    beside: Beside,
    k: int,
    threshold: float | None,
    place: grading.Place | None,
    scale: Mapping[int, str],
) -> None:
    """The ranking. `place` is where a grade can be given; None where there is none to give."""
    if found.ranking.failure is not None:
        return
    if not found.kept:
        scored = found.score is not None and found.score.outcome == "scored"
        text.notice(
            (
                "Nothing is left: the threshold cuts every hit."
                if found.cut
                else "Nothing came back."
            )
            + (" That is a scored miss, not a failure." if scored else "")
        )
    parts: list[str] = []
    drawn_k = drawn_threshold = False
    for one in found.evidence:
        if not drawn_k and not one.cut and one.graded.hit.rank == k + 1:
            parts.append(text.cut_line(f"K = {k}: what follows is not scored"))
            drawn_k = True
        if one.cut and not drawn_threshold:
            parts.append(text.cut_line(f"Threshold {threshold:g}: what scores below it is cut"))
            drawn_threshold = True
        parts.append(_hit(one, beside, scale))
        if place is not None and place.offers(one):
            st.html("".join(parts))
            parts = []
            grading.draw(place, one, scale)
    if parts:
        st.html("".join(parts))
    if k > MOST_SHOWN:
        text.notice(f"The first {MOST_SHOWN} ranks are shown; all {k} are scored.")
    if found.cut:
        verb = "was" if found.cut == 1 else "were"
        text.notice(f"{count(found.cut, 'hit')} below the threshold {verb} cut.")


def _hit(one: Evidence, beside: Beside, scale: Mapping[int, str]) -> str:
    """One hit as HTML."""
    graded, chunk = one.graded, one.chunk
    hit, marks = graded.hit, beside.marks.get(graded.hit.key)
    rank = "cut" if one.cut else str(hit.rank)
    said = [f"score {hit.score:.4f}"]
    if one.tied is not None:
        said.append(f"equal score at ranks {one.tied[0]} to {one.tied[1]}")
    if (move := beside.moves.get(hit.key)) is not None and not one.cut:
        said.append(move.words)
    if not one.cut and hit.rank <= len(beside.shares):
        said.append(_share(beside.shares[hit.rank - 1]))
    said += [f"{name} {plain_value(value)}" for name, value in chunk.fields.items()]
    if hit.key in beside.foreign:
        said.append("kept out by the collection's own filter, so it cannot be judged")
    if marks is not None and marks.facts:
        said.append(f"supports {', '.join(sorted(marks.facts))}")
    kind = "desk-hit desk-cut-off" if one.cut else "desk-hit"
    if one.tied is not None:
        kind += " desk-tied"
    move_kind = f' data-move="{move.kind}"' if move is not None else ""
    return (
        f'<section class="{kind}"{move_kind}><div class="desk-row">'
        f'<span class="desk-rank">{rank}</span>{text.badge(graded.label, scale)}'
        f'<span class="desk-meta">{text.origin(chunk.title, chunk.section, hit.key.short())}</span>'
        f'</div><p class="desk-meta desk-figures">{text.escape(" · ".join(said))}</p>'
        f"{_text(chunk, marks)}</section>"
    )


def _share(share: RankShare) -> str:
    if share.grade is None:
        return "adds nothing to nDCG until it is judged"
    words = f"adds {share.actual:.3f} to nDCG"
    off = abs(share.loss) > 0.0005
    return words + (f" ({-share.loss:+.3f} against the best order)" if off else "")


def _text(chunk: Chunk, marks: EvidenceOf | None) -> str:
    """The literal text with its quotes marked; what is long is folded, in place."""
    spans = quoted(chunk.text, marks)
    if len(chunk.text) <= _SHOWN + _LITTLE:
        return f'<div class="desk-chunk">{piece(chunk.text, 0, len(chunk.text), spans)}</div>'
    end = chunk.text.rfind(" ", 0, _SHOWN)
    end = end if end > _SHOWN // 2 else _SHOWN
    more = " with a quote" if any(span.end > end for span in spans) else ""
    return (
        f'<div class="desk-chunk">{piece(chunk.text, 0, end, spans)}<details><summary>'
        f"Show the other {len(chunk.text) - end:,} characters{more}</summary>"
        f"{piece(chunk.text, end, len(chunk.text), spans)}</details></div>"
    )


def plain_value(value: object) -> str:
    """An eligibility field's value; text as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical(value)

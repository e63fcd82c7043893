"""History of one item: its events in order, as far as the viewer may see them."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.core.events import Example, Restoration
from app.core.grades import PairLabel
from app.core.judgments import Judgment, Retirement
from app.core.model import HIGHEST_GRADE, ChunkKey
from app.flows.item_history import ItemHistory, Standing, Step, item_history
from app.flows.loading import Loaded
from app.flows.question_list import Entry
from app.flows.sight import Sight
from app.flows.wording import count
from app.ui import identity, seen, text
from app.ui.label.leaving import take_out
from app.ui.label.said import link
from app.ui.label.times import when

_SHOWN = 1_200
STYLE = """<style>
ol.desk-history { list-style: none; margin: .3rem 0 0; padding: 0; max-width: 60rem; }
ol.desk-history > li { display: grid; grid-template-columns: 10.5rem 1fr; gap: .2rem 1rem;
  margin: 0; padding: .5rem 0 .4rem; border-top: 1px solid light-dark(#d5dce3, #33404d); }
.desk-history p { margin: 0 0 .1rem; overflow-wrap: anywhere; }
.desk-history a, .desk-onward a { color: light-dark(#1f5f99, #6fb1ea); }
.desk-history .desk-when { font-size: .84rem; font-variant-numeric: tabular-nums;
  color: light-dark(#51606e, #a9b6c2); line-height: 1.6; }
.desk-history .desk-note { white-space: pre-wrap; font-size: .95rem; }
.desk-history .desk-gone { color: light-dark(#51606e, #a9b6c2); font-size: .9rem; }
@media (max-width: 640px) { ol.desk-history > li { grid-template-columns: 1fr; } }
</style>"""


def show(loaded: Loaded, reviewer: str, question: str, key: ChunkKey) -> None:
    """The item: question, text, who said what when."""
    found = item_history(loaded, reviewer, question, key)
    name = loaded.collection.name
    asked = found.question
    text.heading(asked.text if asked else question, asked.need if asked else None)
    if asked is None:
        text.notice("This question is no longer here.")
    elif question not in loaded.questions:
        text.notice("This question is retired.")
    _chunk(found)
    with st.container(horizontal=True, vertical_alignment="center"):
        if found.judgeable:
            grade = link("Open it under Grade", name, reviewer, "grade", question, key)
            st.html(f'<p class="desk-meta desk-onward">{grade}</p>', width="content")
        st.button("All your judgments", key="history-own", type="tertiary", on_click=leave)
    _hidden(loaded, reviewer, found, question)
    text.section(count(len(found.steps), "event") + ("" if found.judged else " shown"))
    if not found.steps:
        text.notice("Nothing to show." if found.judged else "You have said nothing of it.")
        return
    # That a pair was brought back tells nothing of its grade.
    words = [one.what for one in found.steps if not isinstance(one.what, Entry | Restoration)]
    seen.mark(name, reviewer, Sight(loaded).told(reviewer, words))
    body = "".join(_step(loaded, step) for step in found.steps)
    st.html(
        f'<ol class="desk-history" aria-label="Events of this item, the first first">{body}</ol>'
    )


def leave() -> None:
    """Take the item out of the address: what is shown then is no longer of it."""
    take_out("question", "chunk")


def _chunk(found: ItemHistory) -> None:
    chunk, key = found.chunk, found.key
    if chunk is None:
        text.notice(f"{key.short()}: its text is no longer here.")
        return
    st.html(
        f'<p class="desk-meta">{text.origin(chunk.title, chunk.section, key.short())}</p>'
        f'<div class="desk-chunk" dir="auto">{text.literal(chunk.text, _SHOWN)}</div>'
    )
    if not chunk.eligible:
        text.notice("It does not pass the collection's filter, so it is not judged.")


def _hidden(loaded: Loaded, reviewer: str, found: ItemHistory, question: str) -> None:
    """Why others' judgments are not shown, and what to do."""
    if found.elsewhere:
        text.notice(
            "Judgments of a text that stands elsewhere now, and that you have not judged there, "
            "are hidden."
        )
    if found.judged:
        return
    why = "What others said of it is hidden, for it would sway you"
    if not found.judgeable:
        text.notice(f"{why}. It cannot be judged now; who is named as adjudicator sees it.")
    elif identity.why_not_grade(reviewer) is not None:
        text.notice(f"{why}. Who may grade sees it after judging it.")
    else:
        first = link(
            "Judge it first", loaded.collection.name, reviewer, "grade", question, found.key
        )
        st.html(f'<p class="desk-meta desk-onward" role="note">{text.escape(why)}. {first}.</p>')


def _step(loaded: Loaded, step: Step) -> str:
    """One event: when, who, what, why."""
    event, scale = step.what, loaded.collection.settings.grade_words
    more = ""
    if isinstance(event, Judgment):
        kind = "adjudicated " if event.adjudication else ""
        seen = "" if event.blind or event.adjudication else "given while not blind"
        said = f"{kind}{what(event, scale)}{standing_words(step.standing)} {seen}"
        note, more = event.note, quotes(event)
    elif isinstance(event, Retirement):
        said, note = "retired the pair", event.note
    elif isinstance(event, Restoration):
        said, note = "brought the pair back", None
    elif isinstance(event, Example):
        grade = min(int(event.grade), HIGHEST_GRADE)
        said = f"proposed it as an example of {graded(grade, scale)}"
        note = event.note
    else:
        counts = "" if event.counts else " (does not count)"
        said, note = text.escape(f"the question: {event.words}{counts}"), event.note
    told = f'<p class="desk-note">{text.escape(note)}</p>' if note else ""
    return (
        f'<li><p class="desk-when">{text.escape(when(step.time))}</p><div>'
        f'<p class="desk-row"><b>{text.escape(step.author)}</b> {said}</p>{told}{more}</div></li>'
    )


def graded(grade: int, scale: Mapping[int, str]) -> str:
    """A grade as its badge."""
    return text.badge(PairLabel("judged", grade, grade, grade), scale)


def what(event: Judgment, scale: Mapping[int, str]) -> str:
    """What a judgment says, as HTML: a grade as its badge, all else in words."""
    if event.kind == "grade":
        return graded(event.value, scale)
    words = {
        "cannot-judge": f"cannot judge: {event.reason}",
        "later": "later",
        "withdraw": "took it back",
    }[event.kind]
    return f'<span class="desk-badge desk-unjudged">{text.escape(words)}</span>'


def standing_words(standing: Standing | None) -> str:
    """How a judgment stands, as HTML; the word is always there."""
    if standing is None:
        return ""
    why = f": {standing.why}" if standing.why else ""
    words = text.escape(f"{standing.state}{why}".replace("replaced: by", "replaced by"))
    if standing.state == "stale":
        return f'<span class="desk-badge desk-stale">{words}</span>'
    return f'<span class="desk-gone">{words}</span>'


def quotes(event: Judgment) -> str:
    """The evidence of a judgment as HTML: quoted sentences, and the facts they support."""
    parts = []
    for one in event.evidence:
        facts = f"supports {', '.join(one.facts)}" if one.facts else ""
        told = f' <span class="desk-meta">{text.escape(facts)}</span>' if facts else ""
        parts.append(f'<p class="desk-quote">{text.escape(one.quote)}{told}</p>')
    return "".join(parts)

"""A grade given beside the ranking. Rank and score were seen, so it is kept as not blind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from app.core.model import ChunkKey
from app.core.trec import items_token
from app.flows.inspecting import Evidence
from app.flows.labeling import Said, item
from app.flows.loading import Loaded
from app.flows.lost import Lost
from app.ui import identity, seen, state, text


@dataclass(frozen=True, slots=True)
class Place:
    """Where a grade is given: a question of a collection, in one of the rankings on screen."""

    loaded: Loaded
    question: str
    side: str

    def offers(self, one: Evidence) -> bool:
        """Whether a grade can be given of a hit: nobody has given one that stands.

        Another filter of a run may let a chunk pass that the collection's own keeps out.
        """
        here = one.graded.hit.key in self.loaded.corpus.eligible
        return here and one.graded.label.state in ("unjudged", "stale", "cannot-judge")


def draw(place: Place, one: Evidence, scale: Mapping[int, str]) -> None:
    """A button under an open hit, and once it is pressed the grades."""
    key = one.graded.hit.key
    name = f"{place.side}-{one.chunk.text_hash[:12]}-{key.short()}"
    if st.session_state.get("grading-here") != (place.question, name):
        st.button(
            "Grade here",
            key=f"grade-{place.question}-{name}",
            type="tertiary",
            on_click=_open,
            args=(place.question, name),
        )
        return
    if place.loaded.collection.settings.labels.evidence == "required":
        text.notice("This collection asks for quoted evidence: grade it on page Label.")
        st.button("Close", key=f"close-{name}", type="tertiary", on_click=_close)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width=190):
            reviewer = identity.pick_reviewer()
        reason = identity.why_not_grade(reviewer) if reviewer else "Enter your name to grade."
        for grade in sorted(scale, reverse=True):
            st.button(
                text.plain_label(f"{grade} {scale[grade]}"),
                key=f"give-{grade}-{name}",
                disabled=reason is not None,
                on_click=_give,
                args=(place.loaded.collection.name, reviewer, place.question, key,
                      one.chunk.text_hash, grade),
            )  # fmt: skip
        st.button("Cancel", key=f"close-{name}", type="tertiary", on_click=_close)
    text.notice(
        reason
        or "You have seen its rank and score: the grade is kept as not blind, and counts until "
        "there is a blind one."
    )


def _open(question: str, name: str) -> None:
    st.session_state["grading-here"] = (question, name)
    # The field for the name forgets it while it is not drawn.
    if (known := state.typed_name()) and not st.session_state.get("reviewer"):
        st.session_state["reviewer"] = known


def _close() -> None:
    st.session_state.pop("grading-here", None)


def _give(
    collection: str, reviewer: str, question: str, key: ChunkKey, text_hash: str, grade: int
) -> None:
    with state.acting():
        identity.confirm(reviewer)
        bench = state.bench(collection)
        shown = item(bench.loaded, question, key)
        own = bench.own(reviewer)
        before = own.fresh.get(shown.pair)
        saved, _ = bench.say(
            reviewer,
            shown,
            Said("grade", grade),
            reopened=before.event if before else None,
            blind=False,
        )
        _close()
        st.session_state["graded-here"] = f"Saved: {grade} for {key.short()}, as not blind." + (
            f" {saved.notice}" if saved.notice else ""
        )


def told() -> None:
    """What was saved last, once."""
    if (words := st.session_state.pop("graded-here", None)) is not None:
        text.saved(words)


def link_to_label(place: Place, open_ones: Sequence[ChunkKey]) -> None:
    """A link to page Label with exactly the open hits, but for those it cannot show."""
    open_ones = [key for key in open_ones if key in place.loaded.corpus.eligible]
    if not open_ones:
        return
    asked = {
        "collection": place.loaded.collection.name,
        "question": place.question,
        "items": items_token(open_ones),
    }
    if (name := state.typed_name()) is not None:
        asked["reviewer"] = name
    one = len(open_ones) == 1
    words = "Judge the open hit" if one else f"Judge the {len(open_ones)} open hits"
    st.html(
        f'<p class="desk-meta"><a href="/?{text.escape(urlencode(asked))}" target="_self">{words} '
        "blind</a>, on page Label, where rank and score are not shown.</p>"
    )


def mark_seen(place: Place, hits: Iterable[Evidence], lost: Iterable[Lost]) -> None:
    """Whoever is at the screen has now been told what others said of these hits, and of what is
    listed as lost.
    """
    reviewer = identity.at_screen()
    if reviewer is None:
        return
    told_of = [
        (place.question, one.chunk.text_hash)
        for one in hits
        if one.graded.label.state not in ("unjudged", "implicit")
    ]
    chunks = place.loaded.corpus.chunks
    told_of += [(place.question, chunks[one.key].text_hash) for one in lost if one.key in chunks]
    seen.mark(place.loaded.collection.name, reviewer, told_of)

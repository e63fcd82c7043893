"""A grade given beside the ranking. Rank and score were seen, so it is kept as not blind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from app.core.errors import InvalidInput
from app.core.model import ChunkKey
from app.core.trec import items_token, key_token
from app.flows.inspecting import Evidence
from app.flows.labeling import Item, Said, item
from app.flows.loading import Loaded
from app.flows.lost import Lost
from app.flows.scored import GradedHit
from app.flows.sight import Sight
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
    name = f"{place.side}-{key_token(one.graded.hit.key)}"
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
    # Made now: what is saved speaks of the text and the question that are on screen.
    shown = item(place.loaded, place.question, one.graded.hit.key)
    collection = place.loaded.collection.name
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width=190):
            reviewer = identity.pick_reviewer()
        reason = identity.why_not_grade(reviewer) if reviewer else None
        own = state.bench(collection).own(reviewer).fresh.get(shown.pair) if reviewer else None
        for grade in sorted(scale, reverse=True):
            st.button(
                text.plain_label(f"{grade} {scale[grade]}"),
                key=f"give-{grade}-{name}",
                disabled=reason is not None,
                on_click=_give,
                args=(collection, reviewer, shown, grade, own.event if own else None),
            )
        st.button("Cancel", key=f"close-{name}", type="tertiary", on_click=_close)
    text.notice(
        reason
        or ("" if reviewer else "Enter your name to grade. ")
        + "You have seen its rank and score: the grade is kept as not blind, and counts until "
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
    collection: str, known: str | None, shown: Item, grade: int, reopened: str | None
) -> None:
    with state.acting():
        # A name that was just typed comes with the press that followed it.
        reviewer = known or identity.at_screen()
        if reviewer is None:
            raise InvalidInput("your name is missing", remedy="Enter it, then grade")
        identity.confirm(reviewer)
        saved, _ = state.bench(collection).say(
            reviewer, shown, Said("grade", grade), reopened=reopened, blind=False
        )
        _close()
        st.session_state["graded-here"] = (
            f"Saved: {grade} for {shown.key.short()}, as not blind."
            + (f" {saved.notice}" if saved.notice else "")
        )


def told() -> None:
    """What was saved last, once."""
    if (words := st.session_state.pop("graded-here", None)) is not None:
        text.saved(words)


def link_to_label(place: Place, open_ones: Sequence[GradedHit]) -> None:
    """A link to page Label with exactly the open hits, but for those it cannot show."""
    open_ones = [one for one in open_ones if one.hit.key in place.loaded.corpus.eligible]
    if not open_ones:
        return
    back = {name: st.query_params[name] for name in state.BACK if st.query_params.get(name)}
    asked = {
        "items": items_token([one.hit.key for one in open_ones]),
        **({"back": urlencode(back)} if back else {}),
    }
    words = "the open hit" if len(open_ones) == 1 else f"the {len(open_ones)} open hits"
    # Of others, what was said has been seen here.
    blind = " blind" if all(one.label.state == "unjudged" for one in open_ones) else ""
    link = to_label(place.loaded.collection.name, place.question, asked)
    st.html(
        f'<p class="desk-meta"><a href="{link}" target="_self">Judge {words}{blind}</a>, on page '
        "Label, where rank and score are not shown.</p>"
    )


def link_to_chunk(collection: str, question: str, key: ChunkKey) -> str:
    """The address of a chunk on page Label, for HTML."""
    return to_label(collection, question, {"chunk": key_token(key)})


def to_label(collection: str, question: str, more: Mapping[str, str]) -> str:
    """An address on page Label, for HTML; it takes along who is at the screen."""
    asked = {"collection": collection, "question": question, **more}
    reviewer = identity.at_screen()
    asked |= {"seen": seen.token()} if reviewer is None else {"reviewer": reviewer}
    return text.escape(f"/?{urlencode(asked)}")


def mark_seen(
    loaded: Loaded, question: str, hits: Iterable[Evidence], lost: Iterable[Lost]
) -> None:
    """Whoever is at the screen has now been told what others said of these hits, and of what is
    listed as lost.
    """
    collection, chunks = loaded.collection, loaded.corpus.chunks
    texts = {
        one.chunk.text_hash
        for one in hits
        if one.graded.label.state not in ("unjudged", "implicit")
    }
    texts |= {chunks[one.key].text_hash for one in lost if one.key in chunks}
    reviewer = identity.at_screen()
    if reviewer is not None:
        seen.name_given(collection.name, reviewer)
    if not texts:
        return
    said = (one.event for one in collection.ledger.read().events)
    told_of = Sight(loaded).told(
        reviewer or "", (event for event in said if event.question == question)
    )
    shown = {pair for pair in told_of if pair[1] in texts}
    if reviewer is None:
        seen.mark_nameless(collection.name, shown)
    else:
        seen.mark(collection.name, reviewer, shown)

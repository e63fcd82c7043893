"""What a reviewer has begun to say of an item: a note, sentences, facts. Kept per item, so that
nothing leaks into the next one and nothing is lost on the way past.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from app.core.documents import document_of
from app.core.evidence import evidence_of
from app.core.judgments import Evidence, Judgment
from app.core.sentences import sentences
from app.flows.labeling import Item
from app.flows.loading import Loaded
from app.ui.text import plain_label


@dataclass
class Draft:
    """`of` is the judgment it was begun from, where the item had been judged."""

    of: str | None = None
    note: str = ""
    sentences: list[int] = field(default_factory=list)
    facts: dict[int, list[str]] = field(default_factory=dict)


def draft_of(item: Item) -> Draft:
    """The draft of an item in this browser session."""
    drafts: dict[str, Draft] = st.session_state.setdefault("drafts", {})
    return drafts.setdefault(item.id, Draft())


def forget(item: Item) -> None:
    """What was said is saved."""
    st.session_state.get("drafts", {}).pop(item.id, None)


def begin(item: Item, own: Judgment | None) -> Draft:
    """The draft of what is on screen: begun from the reviewer's own judgment of it, if any."""
    draft = draft_of(item)
    event = own.event if own else None
    if draft.of == event:
        return draft
    draft = st.session_state["drafts"][item.id] = Draft(of=event)
    if own is not None:
        draft.note = own.note or ""
        spans = sentences(item.text)
        for evidence in own.evidence:
            for number, span in enumerate(spans):
                if evidence.quote in item.text[span.start : span.end]:
                    draft.sentences.append(number)
                    draft.facts[number] = list(evidence.facts)
                    break
    for name in list(st.session_state):
        if isinstance(name, str) and name.endswith(f"-of-{item.id}"):
            del st.session_state[name]
    return draft


def evidence_in(loaded: Loaded, item: Item) -> list[Evidence]:
    """The sentences chosen as evidence, each with the facts it supports."""
    draft = draft_of(item)
    if not draft.sentences:
        return []
    chunk, spans = loaded.corpus.chunks[item.key], sentences(item.text)
    document = document_of(loaded.corpus, loaded.collection.source(), item.key)
    chosen = [(spans[n], draft.facts.get(n, [])) for n in sorted(draft.sentences)]
    return evidence_of(chunk, document, chosen)


def note_field(item: Item, draft: Draft) -> None:
    """The note; what is typed there grades nothing."""
    key = f"note-of-{item.id}"
    st.session_state.setdefault(key, draft.note)
    st.text_area(
        "Note",
        key=key,
        height=80,
        max_chars=2_000,
        placeholder="Why this grade, for those who read it later. Esc returns to the keys.",
        on_change=take_note,
        args=(item,),
    )


def take_note(item: Item) -> None:
    """Keep what stands in the field; also before an act, which may come with it."""
    words = st.session_state.get(f"note-of-{item.id}")
    if isinstance(words, str):
        draft_of(item).note = words.strip()


def toggle_sentence(item: Item, number: object) -> None:
    """A sentence was clicked: it is chosen, or no more."""
    if isinstance(number, int) and 0 <= number < len(sentences(item.text)):
        draft = draft_of(item)
        kept = [n for n in draft.sentences if n != number]
        draft.sentences = kept if number in draft.sentences else sorted([*kept, number])
        st.session_state[f"sentences-of-{item.id}"] = draft.sentences


def evidence_fields(loaded: Loaded, item: Item, draft: Draft) -> None:
    """The same choice by keyboard, and the facts each chosen sentence supports."""
    spans = sentences(item.text)
    key = f"sentences-of-{item.id}"
    st.session_state.setdefault(key, draft.sentences)
    st.multiselect(
        "Evidence: click the sentences that answer, or pick them here",
        list(range(len(spans))),
        key=key,
        format_func=lambda n: _short(item.text[spans[n].start : spans[n].end]),
        placeholder="No sentence chosen",
        on_change=_take_sentences,
        args=(item,),
    )
    facts = {fact.id: fact.text for fact in loaded.questions[item.question].facts}
    for number in draft.sentences if facts else ():
        name = f"facts-{number}-of-{item.id}"
        st.session_state.setdefault(name, draft.facts.get(number, []))
        st.pills(
            "Facts that "
            + plain_label(f"“{_short(item.text[spans[number].start : spans[number].end], 50)}”")
            + " supports",
            list(facts),
            key=name,
            selection_mode="multi",
            format_func=lambda one: plain_label(_short(facts[one])),
            on_change=_take_facts,
            args=(item, number),
        )


def _take_sentences(item: Item) -> None:
    draft_of(item).sentences = sorted(st.session_state[f"sentences-of-{item.id}"])


def _take_facts(item: Item, number: int) -> None:
    draft_of(item).facts[number] = list(st.session_state[f"facts-{number}-of-{item.id}"])


def _short(words: str, limit: int = 70) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"

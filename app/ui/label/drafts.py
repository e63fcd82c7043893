"""What a reviewer has begun to say of an item: a note, sentences, facts.

Kept per reviewer and item, so that nothing leaks into the next one or is lost on the way past.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import streamlit as st

from app.core.documents import document_of
from app.core.evidence import evidence_of
from app.core.judgments import Evidence, Judgment
from app.core.sentences import Span, behind_mark, sentences
from app.flows.labeling import Item
from app.flows.loading import Loaded
from app.ui.text import plain_label


@dataclass
class Draft:
    """`of` is the judgment it was begun from, where the item had been judged.

    `name` is in the keys of its fields: another draft has other fields.
    """

    of: str | None = None
    note: str = ""
    sentences: list[int] = field(default_factory=list)
    facts: dict[int, list[str]] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid4().hex[:12])


def draft_from(loaded: Loaded, item: Item, said: Judgment, of: str | None) -> Draft:
    """A draft that begins with what was said of an item before."""
    draft = Draft(of=of, note=said.note or "")
    spans = sentences(item.text)
    for evidence in said.evidence:
        number = _number_of(loaded, item, spans, evidence)
        if number is not None and number not in draft.sentences:
            draft.sentences.append(number)
            draft.facts[number] = list(evidence.facts)
    draft.sentences.sort()
    return draft


def _number_of(loaded: Loaded, item: Item, spans: Sequence[Span], evidence: Evidence) -> int | None:
    """The sentence that evidence quotes; where several read alike, the one in its place."""
    alike = [
        number
        for number, span in enumerate(spans)
        if item.text[behind_mark(item.text, span) : span.end] == evidence.quote
    ]
    if len(alike) > 1 and evidence.start is not None:
        chunk = loaded.corpus.chunks[item.key]
        document = document_of(loaded.corpus, loaded.collection.source(), item.key)
        for number in alike:
            (made,) = evidence_of(chunk, document, [(spans[number], [])])
            if made.start == evidence.start:
                return number
    return alike[0] if alike else None


def evidence_in(loaded: Loaded, item: Item, draft: Draft) -> list[Evidence]:
    """The sentences chosen as evidence, each with the facts it supports."""
    if not draft.sentences:
        return []
    chunk, spans = loaded.corpus.chunks[item.key], sentences(item.text)
    document = document_of(loaded.corpus, loaded.collection.source(), item.key)
    chosen = [(spans[n], draft.facts.get(n, [])) for n in sorted(draft.sentences)]
    return evidence_of(chunk, document, chosen)


def note_field(draft: Draft) -> None:
    """The note; what is typed there grades nothing."""
    key = f"note-{draft.name}"
    st.session_state.setdefault(key, draft.note)
    st.text_area(
        "Note",
        key=key,
        height=80,
        max_chars=2_000,
        placeholder="Why this grade, for those who read it later. Esc returns to the keys.",
        on_change=take_note,
        args=(draft,),
    )


def take_note(draft: Draft) -> None:
    """Keep what stands in the field; also before an act, which may come with it."""
    words = st.session_state.get(f"note-{draft.name}")
    if isinstance(words, str):
        draft.note = words.strip()


def toggle_sentence(item: Item, draft: Draft, number: object) -> None:
    """A sentence was clicked: it is chosen, or no more."""
    if isinstance(number, int) and 0 <= number < len(sentences(item.text)):
        kept = [n for n in draft.sentences if n != number]
        draft.sentences = kept if number in draft.sentences else sorted([*kept, number])
        st.session_state[f"sentences-{draft.name}"] = draft.sentences


def evidence_fields(loaded: Loaded, item: Item, draft: Draft) -> None:
    """The same choice by keyboard, and the facts each chosen sentence supports."""
    spans = sentences(item.text)
    key = f"sentences-{draft.name}"
    st.session_state.setdefault(key, draft.sentences)
    st.multiselect(
        "Evidence: click the sentences that answer, or pick them here",
        list(range(len(spans))),
        key=key,
        # With its number: two sentences may read alike.
        format_func=lambda n: f"{n + 1}. {_short(item.text[spans[n].start : spans[n].end])}",
        placeholder="No sentence chosen",
        on_change=_take_sentences,
        args=(draft,),
    )
    facts = {fact.id: fact.text for fact in loaded.questions[item.question].facts}
    for number in draft.sentences if facts else ():
        name = f"facts-{number}-{draft.name}"
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
            args=(draft, number),
        )


def _take_sentences(draft: Draft) -> None:
    draft.sentences = sorted(st.session_state[f"sentences-{draft.name}"])


def _take_facts(draft: Draft, number: int) -> None:
    draft.facts[number] = list(st.session_state[f"facts-{number}-{draft.name}"])


def _short(words: str, limit: int = 70) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"

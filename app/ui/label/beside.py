"""What a grade is decided by, for views that show others' judgments: facts and guidelines."""

from __future__ import annotations

import streamlit as st

from app.core.judgments import Judgment
from app.core.questions import Question
from app.ui import text
from app.workspace import Collection


def facts(question: Question) -> None:
    """The facts a complete answer states, each with the id by which quotes name it."""
    if not question.facts:
        return
    rows = "".join(
        f"<li><b>{text.escape(fact.id)}</b>: {text.escape(fact.text)}</li>"
        for fact in question.facts
    )
    st.html(
        '<p class="desk-meta">A complete answer states:</p>'
        f'<ul class="desk-facts" style="margin-bottom:.5rem">{rows}</ul>'
    )


def guidelines(collection: Collection) -> None:
    """How to grade, one click away; nothing where the collection has no guidelines."""
    if words := collection.guidelines():
        text.guidelines(words)


def with_facts(event: Judgment, question: Question | None) -> Judgment:
    """The judgment to be shown, with the text of each fact its quotes support beside the id.

    A fact the question no longer has keeps its id alone.
    """
    texts = {fact.id: f"{fact.id} ({fact.text})" for fact in question.facts} if question else {}
    told = [
        one.model_copy(update={"facts": [texts.get(name, name) for name in one.facts]})
        for one in event.evidence
    ]
    return event.model_copy(update={"evidence": told})

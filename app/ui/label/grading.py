"""Grade: one question, one chunk's literal text, three grades, a durable save."""

import streamlit as st

from app.flows import labeling
from app.flows.labeling import Item
from app.flows.loading import Loaded, require_questions
from app.ui import identity, state, text


def save(collection: str, reviewer: str, shown: Item, grade: int) -> None:
    """Save the grade of the item that was on screen; files are read anew."""
    with state.acting():
        identity.confirm(reviewer)
        saved = labeling.grade(state.load_collection(collection), reviewer, shown, grade)
        words = f"Saved {saved.event.time[11:19]} UTC: {grade} for {shown.key.short()}."
        state.set_last_saved(collection, reviewer, words, saved.notice)


def undo(collection: str, reviewer: str, event: str) -> None:
    """Take back the last grade, and show its item's question."""
    with state.acting():
        identity.confirm(reviewer)
        taken = labeling.undo(state.load_collection(collection), reviewer, event)
        words = f"Taken back {taken.event.time[11:19]} UTC: {taken.event.key.short()}."
        state.set_last_saved(collection, reviewer, words, taken.notice)
        state.show_question(taken.event.question)


def status(loaded: Loaded, reviewer: str, judged: labeling.Own) -> None:
    """What was saved last and undo, which steps back judgment by judgment; or what failed."""
    state.show_failures()
    saved = state.last_saved(loaded.collection.name, reviewer)
    last = labeling.last_judgment(loaded, reviewer, judged)
    with st.container(horizontal=True, vertical_alignment="center"):
        if saved is not None:
            st.text(saved["words"])
        if last is not None:
            st.button(
                "Undo",
                key="undo",
                type="tertiary",
                icon=":material/undo:",
                help="Takes back your last judgment; press again for the one before.",
                on_click=undo,
                args=(loaded.collection.name, reviewer, last.event),
            )
        if (waiting := state.unpublished(loaded.collection)) is not None:
            st.caption(waiting.words, help=waiting.help, width="content")
    if saved is not None and saved["notice"]:
        text.notice(saved["notice"])


def reading(loaded: Loaded, reviewer: str, name: str, reason: str) -> None:
    """The same question and chunk for who may not grade, and why."""
    state.show_failures()
    text.notice(reason)
    question = loaded.questions[name]
    text.heading(question.text, question.need)
    shown = labeling.next_item(loaded, reviewer, name)
    if shown is not None:
        text.chunk_text(shown.text, shown.title, shown.section, shown.key.short())


def grading(loaded: Loaded, reviewer: str, name: str) -> None:
    """The question, its next chunk and the three buttons."""
    question = loaded.questions[name]
    text.heading(question.text, question.need)
    judged = labeling.own(loaded, reviewer)
    counted = labeling.progress(loaded, reviewer, name, judged)
    st.caption(
        f"{counted.question_done} of {counted.question_total} chunks of this question judged by "
        f"you, {counted.done} of {counted.total} in the collection"
    )
    if guidelines := loaded.collection.guidelines():
        with st.expander("How to grade"):
            text.plain(guidelines)
    shown = labeling.next_item(loaded, reviewer, name, judged)
    if shown is None:
        done = counted.done == counted.total
        where = "the collection" if done else "this question"
        st.text(f"You have judged every chunk of {where}.")
        following = None if done else labeling.next_question(loaded, reviewer, name, judged)
        if following is not None:
            st.button(
                "Next question", type="primary", on_click=state.show_question, args=(following,)
            )
        status(loaded, reviewer, judged)
        return
    text.chunk_text(shown.text, shown.title, shown.section, shown.key.short())
    with st.container(horizontal=True):
        for grade, words in loaded.collection.settings.grade_words.items():
            st.button(
                f"**{grade}** {text.plain_label(words)}",
                key=f"grade-{grade}-{shown.question}-{shown.text_hash}",
                on_click=save,
                args=(loaded.collection.name, reviewer, shown, grade),
            )
    status(loaded, reviewer, judged)


def show(loaded: Loaded, reviewer: str) -> None:
    """The view."""
    require_questions(loaded)
    name = state.pick_question(loaded)
    state.settle()
    state.show_doubts(loaded)
    if (reason := identity.why_not_grade(reviewer)) is None:
        grading(loaded, reviewer, name)
    else:
        reading(loaded, reviewer, name, reason)

"""Label: grading, and what goes with it; each view is a file of its own."""

import streamlit as st

from app.ui import identity, seen, shell, state, text
from app.ui.label import agreement, disputes, exchange, grading, history, leaving, questions

VIEWS = {
    "grade": ("Grade", grading.show),
    "questions": ("Questions", questions.show),
    "agreement": ("Agreement", agreement.show),
    "disputes": ("Disputes", disputes.show),
    "history": ("History", history.show),
    "exchange": ("Import and export", exchange.show),
}

shell.enter("Label")
with state.guarded():
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = st.container(width=210) if state.several() else None
        loaded = state.pick_collection(first)
        with st.container(width=190):
            reviewer = identity.pick_reviewer()
        with st.container(width="content"):
            view = state.pick_view({name: words for name, (words, _) in VIEWS.items()})
    if reviewer is None:
        state.settle()
        text.heading(
            "Grade what searches return",
            "You read one question and one passage at a time, and say whether the passage answers. "
            "Enter your name to begin; new reviewers can practise first.",
        )
        if st.query_params.get("compare"):
            text.notice("What can still decide the comparison of the link comes first then.")
        text.notice("A name is not a sign-in: whoever can open this page can enter any name.")
        st.stop()
    seen.name_given(loaded.collection.name, reviewer)
    leaving.change_seat(loaded.collection.name, reviewer)
    for sentence in identity.notices():
        text.notice(sentence)
    VIEWS[view][1](loaded, reviewer)

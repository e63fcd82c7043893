"""Label: grading, and what goes with it; each view is a file of its own."""

import streamlit as st

from app.ui import identity, shell, state, text
from app.ui.label import agreement, disputes, exchange, grading, history, questions

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
    several = state.several()
    *first, middle, right = st.columns(
        [1, 1, 3.6] if several else [1, 4.6], vertical_alignment="bottom"
    )
    loaded = state.pick_collection(first[0] if first else None)
    with middle:
        reviewer = identity.pick_reviewer()
    with right:
        view = state.pick_view({name: words for name, (words, _) in VIEWS.items()})
    if reviewer is None:
        state.settle()
        text.notice(
            "Enter your name to grade. A name is not a sign-in: whoever can open this page can "
            "enter any name."
        )
        st.stop()
    for sentence in identity.notices():
        text.notice(sentence)
    VIEWS[view][1](loaded, reviewer)

"""The dashboard's entry: page configuration and navigation, nothing else."""

import streamlit as st

from app.ui.text import style

st.set_page_config(page_title="Relevance Desk", layout="wide")
style()
st.navigation(
    [
        st.Page("pages/label.py", title="Label", default=True),
        st.Page("pages/retrieve.py", title="Retrieve"),
        st.Page("pages/review.py", title="Review"),
    ],
    position="top",
).run()

"""Retrieve: ranked evidence beside its scores, for one question and one configuration."""

from collections.abc import Mapping

import streamlit as st

from app.core.labels import Labels
from app.flows.inspecting import MOST_SHOWN, Inspection, inspect_question
from app.flows.loading import Loaded, require_questions
from app.flows.wording import (
    METRIC_WORDS,
    acceptance_words,
    arithmetic,
    count,
    number,
    outcome_words,
    with_bounds,
)
from app.ui import shell, state, text


def evidence(found: Inspection, k: int, scale: Mapping[int, str]) -> None:
    """The ranking, with the cut at K drawn where it falls."""
    if found.ranking.failure is not None:
        text.problem(f"The search failed: {found.ranking.failure}")
        return
    parts: list[str] = []
    for place, one in enumerate(found.evidence, start=1):
        if place == k + 1:
            parts.append(text.cut_line(f"K = {k}: what follows is not scored"))
        parts.append(text.hit(one.graded, one.chunk, scale))
    if not parts:
        # Where a threshold cut all there was, that is told below.
        text.notice(
            ("Nothing is left. " if found.cut else "Nothing came back. ")
            + ("" if found.acceptance else "That is a scored miss, not a failure.")
        )
    st.html("".join(parts) or "<span></span>")
    if k > MOST_SHOWN:
        text.notice(f"The first {MOST_SHOWN} ranks are shown; all {k} are scored.")
    if found.cut:
        verb = "was" if found.cut == 1 else "were"
        text.notice(f"{count(found.cut, 'hit')} below the threshold {verb} cut.")


def scores(found: Inspection, k: int, labels: Labels) -> None:
    """Every metric at K with its arithmetic in words; acceptance for an unsupported question."""
    text.section(f"Scores at K = {k}")
    score = found.score
    if found.acceptance is not None:
        st.text(acceptance_words(found.acceptance))
        return
    if score.outcome != "scored":
        st.text(outcome_words(score))
        return
    rows = [
        [f"{METRIC_WORDS[name]}@{k}", with_bounds(value, score.known_bounds.get(name)),
         arithmetic(name, score, labels.scoring.threshold)]
        for name, value in score.values.items()
    ]  # fmt: skip
    rows.append(
        [f"Judged@{k}", number(score.judged), "hits with a settled grade / hits among the first K"]
    )
    text.table(["metric", "value", "how"], rows, words=frozenset({2}))
    if score.provisional:
        text.notice(
            "Provisional: open pairs may still change it. Unjudged as 0: "
            + ", ".join(
                f"{METRIC_WORDS[name]} {number(value)}" for name, value in score.as_zero.items()
            )
        )
    if score.tied:
        text.notice("Equal scores lie across K: another order of them would score otherwise.")
    if found.missed:
        text.section("Relevant, not among the first K")
        for name, where in found.missed:
            st.text(f"{name}: {where}")


def page(loaded: Loaded) -> None:
    """Question, configuration and K above; evidence left, scores right."""
    settings = loaded.collection.settings
    left, middle, right = st.columns([4, 2, 2])
    with left:
        name = state.pick_question(loaded)
    with middle:
        configuration = state.pick("Configuration", list(settings.configurations), "configuration")
    with right:
        k = state.pick_number("K", settings.scoring.cutoffs, "k", settings.scoring.primary)
    state.settle()
    question = loaded.questions[name]
    text.heading(question.text, question.need)
    with st.spinner("Searching"):
        found = inspect_question(loaded, configuration, name, k, state.kept().engine)
    embeds = settings.configurations[configuration].embedder_name is not None
    embedded = f"question embedded in {found.ranking.embed_ms:.0f} ms, " if embeds else ""
    text.notice(
        f"{question.category} · {found.kind} · {embedded}searched in "
        f"{found.ranking.search_ms:.0f} ms"
    )
    if loaded.origin is not None:
        text.notice(loaded.origin)
    beside, main = st.columns([2, 3])
    with main:
        evidence(found, k, settings.grade_words)
    with beside:
        scores(found, k, loaded.labels)


shell.enter("Retrieve")
with state.guarded():
    collection = state.pick_collection()
    require_questions(collection)
    page(collection)

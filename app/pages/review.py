"""Review: two executions side by side, by category, by question, by case."""

from urllib.parse import urlencode

import streamlit as st

from app.flows import charts
from app.flows.comparing import Comparison, compare_executions
from app.flows.listing import Execution, list_executions
from app.flows.loading import Loaded
from app.flows.scored import QuestionScore
from app.flows.tables import case_rows, case_words, execution_rows, mean_rows
from app.flows.wording import METRIC_WORDS, outcome_words, signed
from app.settings import METRIC_NAMES, split_metric
from app.ui import shell, state, text


def label_of(execution: Execution) -> str:
    """An execution in a picker."""
    return f"{execution.configuration} · {execution.id} · {execution.finished[:16]} UTC"


def side(score: QuestionScore, loaded: Loaded) -> None:
    """The evidence of one question in one execution, within K."""
    scale = loaded.collection.settings.grade_words
    if score.outcome != "scored":
        st.text(outcome_words(score))
    parts = [
        text.hit(graded, loaded.corpus.chunks.get(graded.hit.key), scale)
        for graded in score.ranking
    ]
    st.html("".join(parts) or '<p class="desk-meta">Nothing came back.</p>')


def cases(found: Comparison, metric: str, k: int, loaded: Loaded) -> None:
    """Deltas per question, lowest first, and the evidence of the one picked."""
    text.section("Questions")
    rows = case_rows(found, metric, k)
    name = f"{METRIC_WORDS[metric]}@{k}"
    st.dataframe(
        rows,
        hide_index=True,
        placeholder="-",
        alt=f"{name} of every question in both executions, largest loss first",
        column_config={
            "baseline": st.column_config.TextColumn(alignment="right"),
            "candidate": st.column_config.TextColumn(alignment="right"),
            "delta": st.column_config.NumberColumn(format="%+.3f"),
        },
    )
    text.section("One case")
    chosen = state.pick("Case", [row["question"] for row in rows], "case")
    state.settle()
    case = next(c for c in found.cases if c.question == chosen and c.k == k)
    text.heading(loaded.questions[chosen].text, loaded.questions[chosen].need)
    text.notice(f"{name}: {case_words(case, metric)}")
    left, right = st.columns(2)
    with left:
        st.text(f"baseline · {found.baseline.execution.configuration}")
        side(case.baseline, loaded)
    with right:
        st.text(f"candidate · {found.candidate.execution.configuration}")
        side(case.candidate, loaded)


def comparison(loaded: Loaded, first: Execution, second: Execution) -> None:
    """Means, categories and cases of two executions."""
    scoring = loaded.collection.settings.scoring
    found = compare_executions(loaded, first, second)
    for sentence in (*found.baseline.notices, *found.candidate.notices):
        text.notice(sentence)
    if not found.cases:
        st.text("The two have no question in common that reads as it did when they were run.")
        return
    left, right, _ = st.columns([2, 1, 3])
    with left:
        primary = split_metric(scoring.primary)[0]
        metric = state.pick("Metric", [*METRIC_NAMES], "metric", primary, METRIC_WORDS)
    with right:
        k = state.pick_number("K", scoring.cutoffs, "k", scoring.primary)
    delta = found.delta(k, metric)
    text.section(f"Mean {METRIC_WORDS[metric]}@{k}, n {delta.n}")
    before, after = found.mean(k, metric, named=True)
    st.text(
        f"{before} baseline, {after} candidate"
        + (f", {signed(delta.delta)}" if delta.delta is not None else "")
        + f"; better on {delta.wins}, worse on {delta.losses}, same on {delta.ties}"
        + (f", open on {delta.undecided}" if delta.undecided else "")
    )
    rows = charts.category_rows(found, metric, k)
    if any(row["most"] > row["value"] for row in rows):
        text.notice("Pale: what chunks that are unjudged, stale or disputed may still add.")
    if rows:
        st.altair_chart(
            charts.category_chart(rows, metric, k),
            alt=f"Mean {METRIC_WORDS[metric]}@{k} by category, baseline and candidate",
        )
    with st.expander("All metrics and categories"):
        text.table(
            ["", "n", "baseline", "candidate", "delta", "better", "worse", "same", "open"],
            mean_rows(found, k),
        )
    cases(found, metric, k, loaded)


def page(loaded: Loaded) -> None:
    """The list of executions, two pickers, and what lies between the two picked."""
    listed = list_executions(loaded.collection.workspace, loaded.collection.name)
    found = [one.execution for one in listed]
    if loaded.origin is not None:
        text.notice(loaded.origin)
    text.section("Executions")
    if not found:
        st.text(f"No execution yet. Make one: desk evaluate {loaded.collection.name}")
        return
    st.dataframe(
        execution_rows(listed),
        hide_index=True,
        placeholder="-",
        height=min(38 + 35 * len(found), 423),
        alt="Executions, newest first",
    )
    usable = {
        e.id: e
        for e in found
        if e.status != "incomplete" and e.corpus_revision == loaded.corpus.revision
    }
    if len(usable) < 2:
        name = loaded.collection.name
        st.text(
            "To compare, two complete executions on the corpus as it is now are needed; those on "
            f"an earlier corpus do not count. Make them: desk index {name}, desk evaluate {name}"
        )
        return
    names = list(usable)
    words = {name: label_of(execution) for name, execution in usable.items()}
    left, right = st.columns(2)
    with right:
        second = state.pick("Candidate", names, "candidate", names[0], words)
    with left:
        # Unless picked: the newest of the first configuration, of another one, or the one before.
        others = [name for name in names if name != second]
        configuration = usable[second].configuration
        unlike = [n for n in others if usable[n].configuration != configuration]
        usual = next(iter(loaded.collection.settings.configurations))
        unlike.sort(key=lambda name: usable[name].configuration != usual)
        first = state.pick("Baseline", names, "baseline", (unlike or others)[0], words)
    state.settle()
    if first == second:
        st.text("Pick two different executions.")
        return
    asked = {"collection": loaded.collection.name, "compare": f"{first}..{second}"}
    if (reviewer := state.typed_name()) is not None:
        asked["reviewer"] = reviewer
    link = f"/?{urlencode(asked)}"
    st.html(
        f'<p class="desk-meta"><a href="{text.escape(link)}" target="_self">Judge the pairs '
        "that can still decide this comparison</a>, on page Label.</p>"
    )
    comparison(loaded, usable[first], usable[second])


shell.enter("Review")
with state.guarded():
    page(state.pick_collection())

"""Evaluate from page Retrieve: a button, how far it is, and what came of it.

The evaluation belongs to the process, not to a page: it goes on while others are read, and whoever
comes back finds it as far as it is.
"""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from app.flows.evaluating import Evaluation
from app.flows.jobs import Job
from app.flows.loading import Loaded
from app.flows.wording import METRIC_WORDS, count, with_bounds
from app.settings import split_metric
from app.ui import identity, state, text

#: Seconds between two looks at how far it is.
_EVERY = 0.5
#: Notices told at once.
_MOST_TOLD = 10


def draw(loaded: Loaded, configuration: str, *, changed: bool = False) -> None:
    """The panel; the button evaluates the configuration picked above, as it is saved.

    `changed`: for the question on screen it is changed, or the filter is.
    """
    name = loaded.collection.name
    job = state.kept().jobs.of(name)
    running = job is not None and job.state == "running"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _begin(loaded, configuration, job if running else None)
        if changed:
            text.caption("As configured: what is changed for this run is not part of it.")
    if job is not None and running:
        _watch(name)
    elif job is not None:
        _ended(loaded, job)


def _begin(loaded: Loaded, configuration: str, job: Job | None) -> None:
    """The button; `job` is what goes on already."""
    name = loaded.collection.name
    st.button(
        text.plain_label(
            f"Evaluate {count(len(loaded.questions), 'question')} with {configuration}"
        ),
        key=f"evaluate-{name}",
        disabled=job is not None,
        help=text.plain_label(f"{job.what} goes on: one evaluation of {name} at a time.")
        if job is not None
        else None,
        on_click=_start,
        args=(name, configuration),
    )


@st.fragment(run_every=_EVERY)
def _watch(name: str) -> None:
    """How far it is; at its end the page is drawn again, for there is something new."""
    with state.guarded():
        job = state.kept().jobs.of(name)
        if job is None or job.state != "running":
            st.rerun()
        words = f"{job.what}: {job.done:,} of {job.total:,}" if job.total else job.what
        words = f"Stopping. {words}" if job.cancelling else words
        st.progress(job.done / max(job.total, 1), text=text.plain_label(words))
        st.button(
            "Stop: keep what was searched",
            key=f"cancel-{name}",
            disabled=job.cancelling,
            on_click=job.cancel,
        )


def _ended(loaded: Loaded, job: Job) -> None:
    """What came of it, and what to do next; until it is dismissed."""
    if job.error is not None:
        # Once: every time would be a traceback in the log.
        job.told = job.told or tuple(state.sentences(job.error))
        text.problem(f"The evaluation with {', '.join(job.configurations)} failed.")
        for sentence in job.told:
            text.problem(sentence)
    elif not job.evaluations:
        text.notice("Stopped before anything was searched: nothing was stored.")
    for one in job.evaluations:
        _outcome(loaded, job, one)
    notices = [sentence for one in job.evaluations for sentence in one.notices]
    for sentence in notices[:_MOST_TOLD]:
        text.notice(sentence)
    if len(notices) > _MOST_TOLD:
        text.notice(f"And {len(notices) - _MOST_TOLD:,} more.")
    with st.container(horizontal=True):
        if any(one.execution.status == "incomplete" for one in job.evaluations):
            st.button(
                "Ask the rest",
                key=f"resume-{job.collection}",
                on_click=_start,
                args=(job.collection, *job.configurations),
                kwargs={"resume": True},
            )
        st.button(
            "Dismiss",
            type="tertiary",
            key=f"dismiss-{job.collection}",
            on_click=state.kept().jobs.dismiss,
            args=(job.collection,),
        )


def _outcome(loaded: Loaded, job: Job, one: Evaluation) -> None:
    """One execution in a sentence, with the way to page Review where that can compare it."""
    execution = one.execution
    if execution.status == "incomplete":
        # Who stopped it knows why; what failed is a problem.
        (text.notice if job.state == "cancelled" else text.problem)(_unfinished(job, one))
        return
    asked = {"collection": execution.collection, "candidate": execution.id}
    if (reviewer := identity.at_screen()) is not None:
        asked["reviewer"] = reviewer
    st.html(
        f'<p role="status">{text.escape(_finished(loaded, one))} '
        f'<a href="/review?{text.escape(urlencode(asked))}" target="_self">Compare it</a>, on page '
        "Review.</p>"
    )


def _finished(loaded: Loaded, one: Evaluation) -> str:
    """The execution, and its mean at the metric that decides."""
    metric, k = split_metric(loaded.collection.settings.scoring.primary)
    mean = next((m for m in one.means if m.category is None and m.k == k), None)
    head = (
        f"Finished with {one.execution.configuration}: execution {one.execution.id}, {_asked(one)}"
    )
    if mean is None or not mean.answerable:
        return (
            f"{head}. Nothing to score yet: no question has a relevant chunk with a settled grade."
        )
    value = with_bounds(mean.values[metric], mean.known_bounds[metric])
    return f"{head}, {METRIC_WORDS[metric]}@{k} {value}."


def _unfinished(job: Job, one: Evaluation) -> str:
    """Why an execution has no means, and what to do."""
    execution = one.execution
    failed = [str(asked.reason) for asked in one.scored.asked if asked.outcome == "failed"]
    many, kept = f"{len(failed):,} of {_asked(one)}", f"execution {execution.id}"
    if job.state == "cancelled":
        why = f"Stopped: {kept} is kept as incomplete, {many} were not searched"
    else:
        reason = next(iter(failed), "it is not told why").rstrip(".")
        why = f"Incomplete: in {kept} {many} failed ({reason})"
    again = f"desk evaluate {execution.collection} -c {execution.configuration} --resume"
    return f"{why}, so there are no means. Ask the rest here, or: {again}"


def _asked(one: Evaluation) -> str:
    return count(len(one.scored.asked), "question")


def _start(name: str, *configurations: str, resume: bool = False) -> None:
    with state.acting():
        kept = state.kept()
        collection = state.workspace().collection(name)
        who = identity.signed_in()
        kept.jobs.start(collection, configurations, kept.engine, resume=resume, who=who)

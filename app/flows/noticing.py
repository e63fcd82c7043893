"""Sentences about one execution: what was odd about a run, what its checks noticed."""

from __future__ import annotations

from app.engines.executions import Execution
from app.flows.wording import count

#: Searches that differ are told one by one up to this number.
_MOST_TOLD = 10


def run_notices(execution: Execution) -> list[str]:
    """What was odd about an imported run."""
    run = execution.provenance.get("run", {})
    odd = [
        f"{number:,} {words}"
        for number, words in (
            (run.get("without_text", 0), "chunks without a text here"),
            (run.get("duplicates", 0), "hits named before (first rank kept)"),
            (
                run.get("disagreeing", 0),
                "questions whose scores and ranks disagree (the rank column decides)",
            ),
            (run.get("unasked", 0), "questions without a row"),
        )
        if number
    ]
    name = f"{execution.configuration} was imported from {run.get('file')}"
    return [f"{name}: {'; '.join(odd)}."] if odd else []


def check_notices(execution: Execution) -> list[str]:
    """What was noticed while its questions were asked."""
    checks = execution.provenance.get("checks", {})
    differing = checks.get("prefix", {}).get("differing", [])
    notices = [
        f"{one['question']}: a search for {one['k']} hits returned others than the first "
        f"{one['k']} of the deeper search."
        for one in differing[:_MOST_TOLD]
    ]
    if more := len(differing) - len(notices):
        notices.append(f"And {more:,} more like these.")
    if cut := checks.get("cut"):
        notices.append(
            f"Questions longer than the embedder reads, searched by their beginning: {len(cut)}, "
            f"{cut[0]} for one."
        )
    if failed := checks.get("failed"):
        others = f" (and of {count(len(failed) - 1, 'other question')})" if failed[1:] else ""
        notices.append(
            f"{failed[0]['question']}{others}: the second search to check its ranking failed: "
            f"{failed[0]['reason']}"
        )
    if texts := checks.get("other_texts"):
        notices.append(
            f"Chunks whose text is another one where {execution.configuration} looked: "
            f"{len(texts)}, {texts[0]} for one. The grades are of the text here."
        )
    if len(pipelines := checks.get("pipelines", [])) > 1:
        notices.append(
            f"{execution.configuration} called itself by {len(pipelines)} names meanwhile, "
            f"{', '.join(pipelines[:3])} among them."
        )
    shares = checks.get("ann_recall", {})
    known = {k: share for k, share in shares.items() if share is not None}
    if means := ", ".join(f"{share:.3f} at {k}" for k, share in known.items()):
        notices.append(f"{execution.configuration}: share of the exact first K found: {means}.")
    return notices

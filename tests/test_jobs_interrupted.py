"""Evaluations in the background that wait for other programs: nobody waits for these in the end."""

import time

import pytest

from app.ui.kept import Kept
from tests import test_jobs
from tests.retrievers import HANG, alive, asleep, external, gone, hits, pids, python
from tests.test_jobs import LABELS, MANY, SPARSE_FIRST, ended, rankings, stored

jobs, endpoint = test_jobs.jobs, test_jobs.endpoint


def only_five(endpoint):
    """Answer the first five of MANY, and let the others wait."""
    wait = asleep(endpoint)

    def say(question, k):
        return hits("apple") if int(question.split()[1]) < 5 else wait(question, k)

    endpoint.say = say


def test_requests_under_way_are_interrupted(indexed, collection_of, jobs, endpoint, until):
    only_five(endpoint)
    settings = external(endpoint=endpoint.url, timeout=50, concurrency=4)
    root = indexed(questions=MANY, labels=LABELS, configurations=settings)
    job = jobs.start(collection_of(root), ["pipeline"], Kept().engine)
    until(lambda: len(endpoint.asked) >= 9, "all that can wait")
    began = time.monotonic()
    job.cancel()
    (found,) = ended(job).evaluations
    assert time.monotonic() - began < 10
    failures = [failure for _, _, failure in rankings(collection_of(root), found.execution)]
    assert 1 <= failures.count(None) <= 5
    assert set(failures) - {None} == {"not searched: the execution was stopped"}


def test_commands_under_way_are_ended(indexed, collection_of, jobs, until):
    root = indexed(configurations=SPARSE_FIRST)
    folder = root / "data/tiny"
    settings = external(command=python(folder, HANG), timeout=50)
    path = folder / "collection.toml"
    path.write_text(path.read_text().replace(SPARSE_FIRST, settings))
    job = jobs.start(collection_of(root), ["pipeline"])
    until(lambda: len(pids(folder)) >= 2, "a command")
    job.cancel()
    assert ended(job).state == "cancelled"
    assert gone(pids(folder)) and stored(root) == []


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_process_ends_although_a_job_waits(indexed, start, endpoint, interrupted, until):
    only_five(endpoint)
    settings = external(endpoint=endpoint.url, timeout=50, concurrency=4)
    root = indexed(questions=MANY, labels=LABELS, configurations=settings)
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom app.flows.jobs import Jobs\n"
        "from app.workspace import Workspace\n"
        "job = Jobs().start(Workspace.at(Path('.')).collection('tiny'), ['pipeline'])\n"
        "while job.done < 2: time.sleep(0.01)\n"
        "time.sleep(1)\n"
        f"{'raise KeyboardInterrupt' if interrupted else ''}"
    )
    process = start(["-c", program], cwd=root)
    until(lambda: len(endpoint.asked) >= 9, "all that can wait")
    began = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 10
    assert interrupted or not err
    # What was searched is kept, or nothing is: never a part of an execution.
    for execution in stored(root):
        assert execution.status == "incomplete"
    assert not alive(process.pid)

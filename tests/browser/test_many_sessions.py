"""Many sessions of one dashboard at once, over raw websockets: no label lost, none doubled, none on
another chunk than the one that was shown."""

import asyncio
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.workspace import Workspace
from tests.browser.conftest import serving
from tests.conftest import judgment, lines_of
from tests.sessions import Session

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SESSIONS, GRADES = 20, 50


@pytest.fixture
def workspace(tiny):
    """A workspace with more pairs than 20 sessions can grade."""
    root = tiny(
        texts={f"c{n}": f"Chunk number {n} says this and that." for n in range(60)},
        questions={f"q{n}": f"What does page {n} say?" for n in range(30)},
        labels=[],
        settings="[queue]\noverlap = 0.0\naudit = 0.0",
    )
    shutil.rmtree(root / "labels/tiny/judgments")
    return root


def run(job):
    """Run a coroutine to its end, in a thread of its own: a browser may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, job).result()


def events(root):
    files = sorted((root / "labels/tiny/judgments").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def items(root):
    """What the id of an item on screen stands for: question and chunk."""
    from app.flows.labeling import item
    from app.flows.loading import load

    loaded = load(Workspace.at(root).collection("tiny"))
    return {
        item(loaded, question, key).id: (question, key.chunk)
        for question in loaded.questions
        for key in loaded.corpus.eligible
    }


def query(name):
    # By a link to an item of no meaning, so that practice is not offered.
    return f"reviewer={name}&question=q{int(name[1:]) % 30}"


async def work(address, name, times, graded, told):
    async with Session(address, query(name)) as session:
        for number in range(times):
            shown = session.seen.item
            await session.press(f"grade-{number % 3}")
            assert session.seen.saved and session.seen.saved.startswith("Saved")
            graded.append((name, shown, number % 3))
            told.append(session.seen.saved)


def test_twenty_sessions_at_once_and_another_process(workspace, start):
    graded, told = [], []
    other = (
        "import sys, time; from pathlib import Path; from app.workspace import Workspace\n"
        "ledger = Workspace.at(Path(sys.argv[1])).collection('tiny').ledger\n"
        "import json\n"
        "for line in open(sys.argv[2]):\n"
        "    ledger.append('other.jsonl', json.loads(line)); time.sleep(0.005)\n"
    )
    ours = workspace / "ours.jsonl"
    theirs = [judgment(f"q{n % 30}", f"c{n % 60}", 1, f"other-{n}", author="other")
              for n in range(200)]  # fmt: skip
    ours.write_text(lines_of(theirs))

    async def crowd(address):
        names = [f"r{n}" for n in range(SESSIONS)]
        await asyncio.gather(*(work(address, name, GRADES, graded, told) for name in names))

    with serving(workspace) as (address, _):
        process = start(["-c", other, str(workspace), str(ours)])
        run(crowd(address))
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert len(graded) == SESSIONS * GRADES
    stands_for = items(workspace)
    shown = sorted((who, *stands_for[item], grade) for who, item, grade in graded)
    written = [e for e in events(workspace) if e["author"] != "other"]
    assert sorted((e["author"], e["question"], e["chunk"][2], e["grade"]) for e in written) == shown
    assert len({(e["question"], e["chunk"][2]) for e in written}) == SESSIONS * GRADES
    assert len([e for e in events(workspace) if e["author"] == "other"]) == 200


def test_both_processes_see_all_at_the_next_run(workspace):
    async def two():
        async with Session(address, query("r0")) as one, Session(second, query("r1")) as other:
            await one.press("grade-2")
            await other.press("grade-1")
            await one.press("grade-0")
            return one.seen.html, other.seen.html

    with serving(workspace) as (address, _), serving(workspace) as (second, _):
        first, last = run(two())
    assert "3 of 1,800 settled, 2 by you" in "".join(first)
    assert "2 of 1,800 settled, 1 by you" in "".join(last)


def test_after_a_kill_every_label_that_was_told_as_saved_is_there(workspace):
    graded, told = [], []

    async def crowd(address, process):
        tasks = [asyncio.create_task(work(address, f"r{n}", 500, graded, told)) for n in range(5)]
        while len(told) < 60 and not any(task.done() for task in tasks):
            await asyncio.sleep(0.01)
        process.kill()
        await asyncio.gather(*tasks, return_exceptions=True)

    with serving(workspace) as (address, process):
        run(crowd(address, process))
    stands_for = items(workspace)
    there = {(e["author"], e["question"], e["chunk"][2], e["grade"]) for e in events(workspace)}
    assert {(who, *stands_for[item], grade) for who, item, grade in graded} <= there
    assert len(graded) >= 60 and all(re.match(r"Saved \d\d:\d\d:\d\d", one) for one in told)
    with serving(workspace) as (address, _):
        run(work(address, "r0", 1, graded, told))  # and the next server goes on

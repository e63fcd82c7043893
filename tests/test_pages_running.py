"""Page Retrieve evaluates in the background: the panel that begins, shows, stops and tells."""

import pytest
from streamlit.testing.v1 import AppTest

from app.ui import state as kept_state
from app.ui.kept import Kept
from tests.test_jobs import Gate, ended, stored


@pytest.fixture
def panel(monkeypatch):
    """The panel alone on a page over a workspace whose searches a gate may hold."""

    def run(root, configuration="sparse"):
        monkeypatch.chdir(root)

        def script(configuration):
            from app.ui import state
            from app.ui.retrieve import running

            with state.guarded():
                running.draw(state.pick_collection(), configuration)

        at = AppTest.from_function(script, args=(configuration,), default_timeout=30).run()
        assert not at.exception
        return at

    return run


def words(at):
    return "\n".join(element.proto.body for element in at.get("html"))


def button(at, key):
    (found,) = [one for one in at.button if one.key == key]
    return found


def job_of(root):
    """The job of the process that serves this folder."""
    job = kept_state._kept(str(root)).jobs.of("tiny")
    assert job is not None
    return job


def test_the_panel_begins_shows_and_ends(indexed, panel, monkeypatch):
    root, gate = indexed(), Gate(1)
    monkeypatch.setattr(Kept, "engine", lambda kept, identity, make: gate(identity, make))
    at = panel(root)
    assert button(at, "evaluate-tiny").label == "Evaluate 2 questions with sparse"
    button(at, "evaluate-tiny").click().run()
    assert gate.held.wait(20)
    other = panel(root)  # another session, or this one after a reload
    assert button(other, "evaluate-tiny").disabled
    assert "one evaluation of tiny at a time" in button(other, "evaluate-tiny").help
    (bar,) = other.get("progress")
    assert bar.proto.text.replace("\\", "") == "Searching tiny with sparse: 1 of 2"
    assert bar.proto.value == 50
    gate.go.set()
    ended(job_of(root))
    other.run()
    (execution,) = stored(root)
    assert f"Finished with sparse: execution {execution.id}, 2 questions, nDCG@3 " in words(other)
    assert f'href="/review?collection=tiny&amp;candidate={execution.id}"' in words(other)
    assert not button(other, "evaluate-tiny").disabled
    button(other, "dismiss-tiny").click().run()
    assert "Finished" not in words(other) and len(other.button) == 1
    assert "Finished" not in words(at.run())


def test_the_panel_stops_and_goes_on(indexed, panel, monkeypatch):
    root, gate = indexed(), Gate(1)
    monkeypatch.setattr(Kept, "engine", lambda kept, identity, make: gate(identity, make))
    at = panel(root)
    button(at, "evaluate-tiny").click().run()
    assert gate.held.wait(20)
    at.run()
    button(at, "cancel-tiny").click().run()
    (bar,) = at.get("progress")
    assert bar.proto.text.startswith("Stopping") and button(at, "cancel-tiny").disabled
    gate.go.set()
    ended(job_of(root))
    at.run()
    (execution,) = stored(root)
    assert (
        f"Stopped: execution {execution.id} is kept as incomplete, 1 of 2 questions were not "
        "searched, so there are no means. Ask the rest here, or: desk evaluate tiny -c sparse "
        "--resume"
    ) in words(at)
    button(at, "resume-tiny").click().run()
    ended(job_of(root))
    at.run()
    assert "Finished with sparse: execution " in words(at)


def test_the_panel_tells_what_failed(tiny, panel, monkeypatch):
    root = tiny()
    at = panel(root)
    button(at, "evaluate-tiny").click().run()
    ended(job_of(root))
    at.run()
    assert "The evaluation with sparse failed." in words(at)
    assert "The collection tiny is not indexed for the configuration sparse." in words(at)

    def broken(*words, **more):
        raise RuntimeError("odd")

    monkeypatch.setattr("app.flows.jobs.evaluate", broken)
    button(at, "evaluate-tiny").click().run()
    ended(job_of(root))
    for _ in range(3):
        at.run()
    assert "Something unexpected happened (RuntimeError). See data/desk.log." in words(at)
    assert (root / "data/desk.log").read_text().count("RuntimeError: odd") == 1

"""Pages as Streamlit runs them without a browser: what is on them, and what is pressed."""

import json
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).resolve().parent.parent / "app/main.py"


@pytest.fixture
def page(runbooks, monkeypatch):
    """Opens a page of a workspace; `**query` is what the link asks for."""
    monkeypatch.chdir(runbooks)
    return opened


def opened(name, **query):
    """A page of the working directory's workspace, as a link opens it."""
    at = AppTest.from_file(str(MAIN), default_timeout=60)
    steps = [at.run]
    if name != "label":  # the page a server opens with
        steps += [lambda: at.switch_page(f"pages/{name}.py"), at.run]
    for step in steps:
        for key, value in query.items():
            at.query_params[key] = value
        step()
    assert not at.exception
    return at


def shown(at):
    """All HTML and text of a page."""
    return "\n".join(
        [e.proto.body for e in at.get("html") if "<style>" not in e.proto.body]
        + [t.value for t in at.text]
        + [c.value for c in at.caption]
        + [words for words in controls(at)["status"].values() if words]
    )


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def controls(at):
    """What the bar of a page was given: its buttons, keys, item and the words beside them."""
    found = at.get("bidi_component")
    return json.loads(found[0].proto.json) if found else {"status": {}, "judging": [], "tools": []}


def buttons(at, act):
    """The buttons in the bar whose act begins so."""
    return [b for b in _all(at) if b["act"].startswith(act)]


def _all(at):
    bar = controls(at)
    return bar["judging"] + bar["tools"]


def press(at, act, **other):
    """Press the button of an act: `grade-2`, `undo`, `reason`, `note`, ...; `other` is what a
    stale or hostile browser would send instead.
    """
    assert [b["act"] for b in _all(at)].count(act) == 1
    bar = controls(at)
    told = {"act": act, "item": bar["item"], "acts": bar["acts"], "value": None}
    return send(at, told | other)


def send(at, value):
    """Send a press as the browser does."""
    (bar,) = at.get("bidi_component")
    states = at._tree.get_widget_states()
    states.widgets.append(pressed_state(bar.proto.id, value))
    return at._run(states)


def pressed_state(component, value):
    """The widget state of a press, for a component with this id."""
    state = WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{component}__events")
    state.json_trigger_value = json.dumps([{"event": "press", "value": value}])
    return state


def chunk_on_screen(at):
    found = [e.proto.body for e in at.get("html") if 'data-testid="chunk"' in e.proto.body]
    return found[0].removesuffix('<div class="desk-room"></div>') if found else None

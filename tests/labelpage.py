"""Pages as Streamlit runs them without a browser: what is on them, and what is pressed."""

import json

import pytest
from streamlit.testing.v1 import AppTest


@pytest.fixture
def page(runbooks, repository, monkeypatch):
    """Opens a page of a workspace; `**query` is what the link asks for."""
    monkeypatch.chdir(runbooks)

    def run(name, **query):
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        steps = [at.run]
        if name != "label":  # the page a server opens with
            steps += [lambda: at.switch_page(f"pages/{name}.py"), at.run]
        for step in steps:
            for key, value in query.items():
                at.query_params[key] = value
            step()
        assert not at.exception
        return at

    return run


def shown(at):
    """All HTML and text of a page."""
    return "\n".join(
        [e.proto.body for e in at.get("html") if "<style>" not in e.proto.body]
        + [t.value for t in at.text]
        + [c.value for c in at.caption]
    )


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def buttons(at, act):
    return [b for b in at.button if b.key and b.key.startswith(f"{act}-")]


TOOLS = ("note", "evidence", "words", "around", "document")


def press(at, act):
    """Press the button of an act: `grade-2`, `undo`, `reason`, `note`, ..."""
    if act in TOOLS:
        (tools,) = [one for one in at.button_group if one.key and one.key.startswith("tools-of-")]
        return tools.set_value(sorted({*tools.value} ^ {act})).run()
    (button,) = buttons(at, act)
    return button.click().run()


def chunk_on_screen(at):
    found = [e.proto.body for e in at.get("html") if 'data-testid="chunk"' in e.proto.body]
    return found[0].removesuffix('<div class="desk-room"></div>') if found else None

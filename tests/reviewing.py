"""A tiny collection that several reviewers judged, line by line as the pages write it."""

from itertools import count

from streamlit.testing.v1 import AppTest

from app.core.judgments import file_name
from app.core.questions import question_hash
from app.core.text import text_hash
from app.flows.loading import load
from app.workspace import Workspace
from tests.conftest import QUESTIONS, REPOSITORY, TEXTS, judgment, lines_of

_NUMBERS = count()


def said(author, name, grade, question="q1", **more):
    """A blind grade, or another kind of judgment, pinned to the first texts of both."""
    number = next(_NUMBERS)
    pins = {
        "time": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "author": author,
        "text_hash": text_hash(TEXTS[name]) if name in TEXTS else None,
        "question_hash": question_hash(QUESTIONS[question], None, []),
    }
    if not isinstance(grade, int):
        pins["kind"] = grade
        pins["reason"] = "broken text" if grade == "cannot-judge" else None
        grade = None
    return judgment(question, name, grade, number, **{**pins, **more})


def write(root, *events):
    """Append judgments to their authors' files."""
    for event in events:
        path = root / f"labels/tiny/judgments/{file_name(event['author'])}"
        with path.open("a", encoding="utf-8") as file:
            file.write(lines_of([event]))


def read(root):
    """The collection as its files are now."""
    return load(Workspace.at(root).collection("tiny"))


def filled(tiny, *events, **more):
    """The folder of a tiny workspace with judgments of several reviewers."""
    root = tiny(labels=(), **more)
    write(root, *events)
    return root


def opened(root, monkeypatch, view, reviewer, **query):
    """A view of page Label of the tiny collection, as AppTest runs it."""
    monkeypatch.chdir(root)
    at = AppTest.from_file(str(REPOSITORY / "app/main.py"), default_timeout=60)
    for key, value in {"view": view, "reviewer": reviewer, **query}.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def shown(at):
    """All HTML and text of a page, but for its style."""
    html = [e.proto.body for e in at.get("html") if "<style>" not in e.proto.body]
    return "\n".join([*html, *(t.value for t in at.text), *(c.value for c in at.caption)])

"""Page Label, view Questions, as Streamlit runs it without a browser: what tests do there."""

import json

from streamlit.testing.v1 import AppTest

from tests.conftest import judgment

HOSTILE = "Is $5 <b>enough</b> for [x](y) & :red[z]?"


def workspace(tiny):
    """A workspace with q1 (grade 2), q2 (grade 0) and a question of hostile words."""
    questions = [
        {"format": 1, "id": "q1", "category": "general", "text": "When is an apple tree pruned?",
         "need": "The season.", "facts": [{"id": "f1", "text": "Winter."}]},
        {"format": 1, "id": "q2", "category": "general", "text": "What becomes of dried plums?"},
        {"format": 1, "id": "odd", "category": "fruit", "text": HOSTILE, "split": "held-out"},
    ]  # fmt: skip
    return tiny(
        questions=questions, labels=[judgment("q1", "apple", 2, 1), judgment("q2", "pear", 0, 2)]
    )


def opener(repository):
    """Opens the view; `**query` is what the link asks for."""

    def run(**query):
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        for key, value in {"view": "questions", "reviewer": "ann", **query}.items():
            at.query_params[key] = value
        at.run()
        assert not at.exception
        return at

    return run


def events(root, author="ann"):
    path = root / f"labels/tiny/events/{author}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def field(at, ending, kind="text_area"):
    """The one widget whose key ends that way."""
    (found,) = [one for one in getattr(at, kind) if one.key and one.key.endswith(ending)]
    return found


def unfold(at, panel, question):
    """Open a panel below the fields, as a click on its name does."""
    at.session_state[f"{panel}-tiny-{question}"] = True
    return at.run()


def press(at, label):
    (button,) = [one for one in at.button if one.label == label]
    return button.click().run()


def listed(at):
    return [one.key.removeprefix("open-") for one in at.button if str(one.key).startswith("open-")]

"""The README is part of the product: what it leaves out is a failure."""

import re
from pathlib import Path

import pytest

from app.cli import desk
from app.core.judgments import Judgment, Retirement
from app.core.questions import Question
from app.settings import MODELS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_both_commands_are_one_line_each():
    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
    assert [line.rpartition("/")[2] for line in lines] == ["desk", "python -m pytest"]
    assert README.index(lines[1]) < README.index("## What it does")


@pytest.mark.parametrize("name", sorted(desk.commands))
def test_every_command_and_option_is_documented(name):
    assert f"`desk {name}" in README
    row = next(line for line in README.splitlines() if line.startswith(f"| `desk {name}"))
    for parameter in desk.commands[name].params:
        option = max(parameter.opts, key=len)
        if option.startswith("--") and option != "--workspace":
            assert option in row


def test_options_of_the_bare_command_are_documented():
    for parameter in desk.params:
        if "--version" not in parameter.opts:
            assert max(parameter.opts, key=len) in README


@pytest.mark.parametrize("page", sorted((ROOT / "app/pages").glob("*.py")), ids=lambda p: p.stem)
def test_every_page_is_documented(page):
    assert f"- **{page.stem.title()}**" in README


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_is_documented(model):
    table = README[README.index("### collection.toml") : README.index("Unknown keys, wrong")]
    for name in model.model_fields:
        assert re.search(rf"[`.]{name}[`.]", table), name


@pytest.mark.parametrize("model", [Question, Judgment, Retirement])
def test_every_field_of_a_line_is_documented(model):
    for name in model.model_fields:
        assert re.search(rf"[`\"]{name}[`\"]", README), name


@pytest.mark.parametrize(
    "path",
    [
        "collection.toml",
        "corpus/",
        "questions.jsonl",
        "guidelines.md",
        "judgments/<reviewer>.jsonl",
        "events/<author>.jsonl",
        "complete/<revision>.jsonl",
        "vectors/",
        "desk.duckdb",
        "desk.log",
    ],
)
def test_every_file_is_documented(path):
    table = README[README.index("## Files") : README.index("### collection.toml")]
    assert path in table


def test_changelog_has_the_version():
    from app import __version__

    assert f"### {__version__}" in README[README.index("## Changelog") :]

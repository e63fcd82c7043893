"""The README is part of the product: what it leaves out is a failure."""

import re
from pathlib import Path

import click
import pytest

from app import api
from app.cli import desk
from app.core.events import Example, Practice, QuestionChange, QuestionRetirement
from app.core.judgments import Judgment, Retirement
from app.core.questions import Question
from app.flows.exchange import corpora, exporting, importing, label_rows, questions
from app.flows.practice import PracticeItem
from app.settings import MODELS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_both_commands_are_one_line_each():
    lines = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
    assert [line.rpartition("/")[2] for line in lines] == ["desk", "python -m pytest -n auto"]
    assert README.index(lines[1]) < README.index("## What it does")


def commands(group, before=""):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.mark.parametrize(("name", "command"), list(commands(desk)), ids=str)
def test_every_command_and_option_is_documented(name, command):
    (row,) = [line for line in README.splitlines() if re.match(rf"\| `desk {name}[` ]", line)]
    for parameter in command.params:
        option = max(parameter.opts, key=len)
        if option.startswith("--") and option != "--workspace":
            assert option in row


@pytest.mark.parametrize("kind", [*importing.KINDS, *exporting.KINDS])
def test_every_kind_of_file_is_documented(kind):
    formats = README[README.index("## Formats") : README.index("## From Python")]
    assert f"| `{kind}` |" in formats


@pytest.mark.parametrize(
    "columns",
    [label_rows.COLUMNS, questions.COLUMNS[:-1], corpora.ROLES],
)
def test_every_column_is_documented(columns):
    formats = README[README.index("## Formats") : README.index("## From Python")]
    for name in columns:
        assert f"`{name}`" in formats


@pytest.mark.parametrize("name", api.__all__)
def test_every_name_of_the_python_api_is_documented(name):
    section = README[README.index("## From Python") : README.index("## Publishing")]
    assert name in {"Compared", "RunResult", "Scores"} or f"api.{name}" in section


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


@pytest.mark.parametrize(
    "model",
    [
        Question,
        Judgment,
        Retirement,
        QuestionChange,
        QuestionRetirement,
        Example,
        Practice,
        PracticeItem,
    ],
)
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

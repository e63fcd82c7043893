"""What the README says for a team is what the program does: its examples are run as they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app.launch import require_sign_in
from app.team import MODELS, SignIn, read_team
from tests.conftest import DESK, surroundings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("## For a team") : README.index("## How fast")]
FILES = README[README.index("## Files") : README.index("### collection.toml")]


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


def test_the_example_of_desk_toml(tmp_path):
    (tmp_path / "desk.toml").write_text(blocks("toml")[0], encoding="utf-8")
    team = read_team(tmp_path)
    assert team.sign_in == SignIn(kind="proxy", header="X-Forwarded-Email")
    assert team.may_grade("ana@example.org") and not team.may_adjudicate("ana@example.org")
    assert team.may_adjudicate("ben@example.org") and not team.may_grade("dan@example.org")
    # nginx sets the header that the settings name.
    assert all("X-Forwarded-Email $" in block for block in blocks("nginx"))


def test_the_example_of_secrets_has_every_key(tmp_path):
    example = blocks("toml")[1]
    secrets = dict.fromkeys(tomllib.loads(example)["auth"], "x" * 32)
    secrets["redirect_uri"] = tomllib.loads(example)["auth"]["redirect_uri"]
    (tmp_path / ".streamlit").mkdir()
    text = "".join(f'{key} = "{value}"\n' for key, value in secrets.items())
    (tmp_path / ".streamlit/secrets.toml").write_text(f"[auth]\n{text}")
    require_sign_in(tmp_path, SignIn(kind="oidc"))


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_is_documented(model):
    for name in model.model_fields:
        assert re.search(rf"[`.\[]{name}[`.\]]", SECTION), name
    assert "`data/desk.toml`" in FILES


@pytest.fixture
def gate(runbooks, tmp_path):
    """Runs `retrieval.sh` as a CI would, after a change of its text."""
    programs = tmp_path / "bin"
    programs.mkdir()
    words = " ".join(map(shlex.quote, DESK))
    (programs / "desk").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    (programs / "desk").chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    (script,) = [block for block in blocks("sh") if "scores.json" in block]

    def run(old="", new=""):
        assert old in script
        paths = f"{programs}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [shutil.which("sh"), "-c", script.replace(old, new) if old else script],
            cwd=runbooks, env=surroundings({"PATH": paths}), text=True, capture_output=True,
            check=False,
        )  # fmt: skip

    return run


@pytest.mark.slow
def test_the_gate_lets_pass_and_keeps_the_execution(gate, runbooks, desk):
    ended = gate()
    assert ended.returncode == 0, ended.stderr
    assert desk(runbooks, "import", "runbooks", "execution", runbooks / "run.parquet").code == 0


@pytest.mark.slow
def test_the_gate_stops_what_is_below_the_floor(gate):
    ended = gate("FLOOR = 0.85", "FLOOR = 0.95")
    assert (ended.returncode, ended.stderr) == (1, "nDCG@3 is 0.876, below 0.95\n")


@pytest.mark.slow
def test_the_gate_stops_what_is_provisional(gate, runbooks):
    path = runbooks / "data/runbooks/collection.toml"
    text = path.read_text(encoding="utf-8").replace('"complete"', '"pooled"')
    path.write_text(re.sub("complete_as_of = .*", "", text), encoding="utf-8")
    ended = gate()
    assert (ended.returncode, ended.stderr) == (
        1,
        "nDCG@3 is provisional: judge the open chunks first\n",
    )


@pytest.mark.slow
def test_the_gate_stops_at_a_refused_line(gate, runbooks):
    with (runbooks / "labels/runbooks/questions.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    ended = gate()
    assert ended.returncode == 2
    assert "questions.jsonl:10: the line is not JSON" in ended.stderr

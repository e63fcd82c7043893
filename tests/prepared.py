"""Workspaces with the runbooks, made once and copied for each test that changes them.

To index and to evaluate takes half a second; to copy what came of it a hundredth.
"""

import shutil
from pathlib import Path

import pytest

from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.workspace import Workspace

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def _indexed(tmp_path_factory):
    """The runbooks, copied and indexed once."""
    root = tmp_path_factory.mktemp("indexed")
    made = shutil.ignore_patterns("vectors", "catalogue")
    for part in ("data", "labels"):
        shutil.copytree(REPOSITORY / part / "runbooks", root / part / "runbooks", ignore=made)
    index(Workspace.at(root).collection("runbooks"))
    return root


@pytest.fixture(scope="session")
def another_runbooks(_indexed, tmp_path_factory):
    """Makes a workspace that outlives a test: the runbooks, indexed and never evaluated."""

    def make(name):
        root = tmp_path_factory.mktemp(name) / "runbooks-workspace"
        for part in ("data", "labels"):
            shutil.copytree(_indexed / part / "runbooks", root / part / "runbooks")
        return root

    return make


@pytest.fixture(scope="session")
def _evaluated(another_runbooks):
    """The runbooks, evaluated once."""
    root = another_runbooks("evaluated")
    evaluate(Workspace.at(root).collection("runbooks"))
    return root


@pytest.fixture(scope="session")
def another_evaluated(another_runbooks, _evaluated):
    """Makes a workspace that outlives a test, as `evaluated` is."""

    def make(name):
        return shutil.copytree(_evaluated, another_runbooks(name), dirs_exist_ok=True)

    return make


@pytest.fixture
def runbooks(_indexed, tmp_path):
    """The folder of a workspace with the runbooks, indexed and never evaluated."""
    root = tmp_path / "runbooks-workspace"
    for part in ("data", "labels"):
        shutil.copytree(_indexed / part / "runbooks", root / part / "runbooks")
    return root


@pytest.fixture
def evaluated(runbooks, _evaluated):
    """The folder of `runbooks`, with an execution of each of its three configurations."""
    shutil.copytree(_evaluated, runbooks, dirs_exist_ok=True)
    return runbooks

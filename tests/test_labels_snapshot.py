"""The chunks of a corpus revision, kept for labels that are complete as of it."""

import json

import pytest

from app.core.errors import InvalidInput
from app.core.model import ScoringSettings
from app.core.snapshot import read_complete_hashes, snapshot_path, write_snapshot
from tests.test_labels import TEXTS, corpus_of, text_hash

THEN, NOW = corpus_of(), corpus_of({"b": "text b, new"})
COMPLETE = ScoringSettings(completeness="complete", complete_as_of=THEN.revision)
HASHES = {text_hash(text) for text in TEXTS.values()}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "demo"


@pytest.fixture
def path(folder):
    """Where the lines of the revision are, which are those it was written with."""
    assert write_snapshot(folder, COMPLETE, THEN) == snapshot_path(folder, THEN.revision)
    return snapshot_path(folder, THEN.revision)


def test_what_was_written_is_read_when_the_corpus_has_moved_on(folder, path):
    assert read_complete_hashes(folder, COMPLETE, NOW) == HASHES
    assert read_complete_hashes(folder, COMPLETE, THEN) == HASHES
    assert read_complete_hashes(folder, ScoringSettings(), NOW) == set()
    path.unlink()
    assert read_complete_hashes(folder, COMPLETE, NOW) is None
    assert read_complete_hashes(folder, COMPLETE, THEN) == HASHES


def test_it_is_written_once_and_for_its_own_revision_only(folder, path):
    before = path.read_bytes()
    assert write_snapshot(folder, COMPLETE, THEN) is None and path.read_bytes() == before
    assert write_snapshot(folder, COMPLETE, NOW) is None
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"format": 1},
        {"text_hash": "t"},
        {"format": 2, "text_hash": "t"},
        {"format": 1, "text_hash": ""},
        {"format": 1, "text_hash": None},
        {"format": 1, "text_hash": 5},
    ],
    ids=str,
)
def test_a_line_of_another_kind_is_refused_with_its_place(folder, path, bad):
    lines = path.read_text().splitlines()
    lines.insert(1, json.dumps(bad))
    path.write_text("".join(f"{line}\n" for line in lines) + "[]\n")
    with pytest.raises(InvalidInput) as caught:
        read_complete_hashes(folder, COMPLETE, NOW)
    place = f"labels/demo/complete/{path.name}"
    assert [str(problem) for problem in caught.value.problems] == [
        f"{place}:2: the line is not of format 1 with a text_hash. "
        "Put back the file as it was committed.",
        f"{place}:{len(lines) + 1}: the line is JSON, but not an object in braces. "
        "Correct the line.",
    ]

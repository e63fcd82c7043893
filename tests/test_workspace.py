"""A workspace's files and its collections."""

import pytest

from app.core.errors import InvalidInput
from app.flows.loading import load
from app.workspace import Workspace


def sentences(error):
    return [str(problem) for problem in error.value.problems]


def test_no_workspace(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        Workspace.at(tmp_path)
    assert sentences(caught) == [
        f"{tmp_path}: there is no workspace here (no folder data). Go to one, name one with "
        "--workspace, or make one: desk init DIR."
    ]


def test_collections_are_the_folders_with_settings(runbooks):
    (runbooks / "data" / "not-one").mkdir()
    assert Workspace.at(runbooks).names() == ["runbooks"]


def test_a_collection_is_asked_for_without_its_settings(runbooks, edit):
    """So that a check can report settings that are refused."""
    edit(runbooks / "data/runbooks/collection.toml", "format = 1", "format = 2")
    workspace = Workspace.at(runbooks)
    assert workspace.require("runbooks") is None
    for job in (workspace.require, workspace.collection):
        with pytest.raises(InvalidInput, match='there is no collection "nope"'):
            job("nope")


@pytest.mark.parametrize("name", ["nope", "../runbooks", "", "Runbooks", "a\ud800b"])
def test_an_unknown_collection(runbooks, name):
    with pytest.raises(InvalidInput) as caught:
        Workspace.at(runbooks).collection(name)
    (sentence,) = sentences(caught)
    assert sentence.startswith("there is no collection ")
    assert sentence.endswith("Collections here: runbooks. A collection is a folder data/<name> "
                             "with a collection.toml.")  # fmt: skip
    sentence.encode()


def test_a_folder_that_cannot_be_a_name(runbooks):
    (runbooks / "data/runbooks").rename(runbooks / "data/Run Books")
    with pytest.raises(InvalidInput) as caught:
        Workspace.at(runbooks).collection("Run Books")
    assert sentences(caught) == [
        "the collection name \"Run Books\" may have a-z, 0-9, '.', '_' and '-' only. "
        "Rename the folder."
    ]


def test_an_unknown_configuration(runbooks):
    with pytest.raises(InvalidInput) as caught:
        Workspace.at(runbooks).collection("runbooks").configuration("dens")
    assert sentences(caught) == [
        'data/runbooks/collection.toml: the collection runbooks has no configuration "dens". '
        "Configurations there: dense, sparse, hybrid."
    ]


def test_a_source_beside_the_workspace(runbooks, edit):
    edit(runbooks / "data/runbooks/collection.toml", 'path = "corpus"', 'path = "../texts"')
    (runbooks / "data/runbooks/corpus").rename(runbooks / "data/texts")
    collection = Workspace.at(runbooks).collection("runbooks")
    assert collection.source().place == "data/texts"
    assert len(collection.corpus().chunks) == 11


def test_a_source_that_is_not_there(runbooks, edit, collection_of):
    edit(runbooks / "data/runbooks/collection.toml", 'path = "corpus"', 'path = "corpsu"')
    with pytest.raises(InvalidInput) as caught:
        load(collection_of(runbooks))
    assert sentences(caught) == [
        "data/runbooks/corpsu: the source does not exist. Put the texts there, or correct "
        "source.path in collection.toml."
    ]


def test_the_guidelines_have_a_version(runbooks, collection_of):
    before = collection_of(runbooks).guidelines_version()
    (runbooks / "labels/runbooks/guidelines.md").write_text("Other words")
    assert before != collection_of(runbooks).guidelines_version()
    (runbooks / "labels/runbooks/guidelines.md").unlink()
    assert collection_of(runbooks).guidelines_version() is None


def test_changed_guidelines_make_labels_stale_only_where_the_settings_say_so(
    runbooks, edit, collection_of
):
    (runbooks / "labels/runbooks/guidelines.md").write_text("Other words")
    assert {p.state for p in load(collection_of(runbooks)).labels.pairs.values()} == {"judged"}
    edit(
        runbooks / "data/runbooks/collection.toml", "[labels]", "[labels]\nguidelines_matter = true"
    )
    assert {p.state for p in load(collection_of(runbooks)).labels.pairs.values()} == {"stale"}


def test_corpus_questions_and_labels_are_mended_in_one_go(tiny, collection_of):
    root = tiny(
        ["{", '{"id": "a", "text": " "}'],
        [{"id": "q1", "text": "What?", "category": ""}],
        ['{"format": 1'],
    )
    with open(root / "labels/tiny/judgments/ann.jsonl", "a") as file:
        file.write("{}\n")
    with pytest.raises(InvalidInput) as caught:
        load(collection_of(root))
    places = [problem.place for problem in caught.value.problems]
    assert places[:4] == [
        "data/tiny/corpus.jsonl:1",
        "data/tiny/corpus.jsonl:2",
        "labels/tiny/questions.jsonl:1",
        "labels/tiny/judgments/ann.jsonl:1",
    ]
    assert set(places[4:]) == {"labels/tiny/judgments/ann.jsonl:2"}


def test_labels_are_read_when_they_are_asked_for(tiny, collection_of):
    loaded = load(collection_of(tiny(labels=["{"])))
    assert len(loaded.corpus.chunks) == 4 and len(loaded.questions) == 2
    with pytest.raises(InvalidInput) as caught:
        loaded.labels  # noqa: B018 - the property raises
    assert sentences(caught)[0].startswith("labels/tiny/judgments/ann.jsonl:1: the line is not")


def test_signatures_tell_sources_from_labels(runbooks, collection_of):
    collection = collection_of(runbooks)
    source, labels = collection.source_signature(), collection.label_signature()
    folder = runbooks / "labels/runbooks/judgments"
    (folder / "new.jsonl").write_text("\n")
    (folder / "new.jsonl.lock").touch()
    assert collection.source_signature() == source
    assert collection.label_signature() != labels
    labels = collection.label_signature()
    (folder / "new.jsonl.lock").write_text("held")
    assert collection.label_signature() == labels
    (runbooks / "data/runbooks/corpus/more.md").write_text("# More\n\nText.\n")
    assert collection.source_signature() != source and collection.label_signature() == labels


def test_guidelines_that_cannot_be_read(runbooks, collection_of):
    path = runbooks / "labels/runbooks/guidelines.md"
    path.unlink()
    assert collection_of(runbooks).guidelines() is None
    path.mkdir()
    with pytest.raises(InvalidInput) as caught:
        collection_of(runbooks).guidelines()
    assert sentences(caught) == [
        "labels/runbooks/guidelines.md: the file cannot be read: Is a directory. Put a readable "
        "file there."
    ]

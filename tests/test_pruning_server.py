"""`desk prune C --server`: our collections that nobody needs go, and no other is touched."""

import pytest
from filelock import FileLock

from app.engines.qdrant_filling import collection_name
from tests import serving
from tests.serving import served

server, word_vectors, at_once = serving.server, serving.word_vectors, serving.at_once
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
TITLED = '[configurations.titled]\ndocument_template = "{title}: {text}"\n'
DENSE = "[configurations.dense]\n"
OLLAMA = '[configurations.gemma]\nembedder = "ollama:embeddinggemma"\n'
EXTERNAL = '[configurations.aside]\nmode = "external"\ncommand = ["true"]\n'
SETTINGS = "data/tiny/collection.toml"
CORPUS = "data/tiny/corpus.jsonl"
THEIRS = [
    "desk-tiny", "desk-tiny-aaaaaaaaaaaa", "desk-other-aaaaaaaaaaaa-bbbbbbbbbbbb", "products",
    "desk-tiny-more-aaaaaaaaaaaa-bbbbbbbbbbbb", "desk-tiny-aaaaaaaaaaaa-bbbbbbbbbbbb-backup",
]  # fmt: skip
OLD = collection_name("tiny", "a" * 12, "b" * 12)
OLDER = collection_name("tiny", "0" * 12, "b" * 12)


@pytest.fixture
def workspace(tiny, server, desk):
    """A collection that is indexed on a server, among collections of others."""

    def build(configurations=SPARSE + DENSE):
        root = served(tiny(configurations=configurations), server.url, "retries = 1")
        for name in THEIRS:
            server.client.create_collection(name, vectors_config={})
        answer = desk(root, "index", "tiny")
        assert answer.code == 0 and answer.notes == []
        server.forget()
        return root

    return build


def make(server, *names):
    for name in names:
        server.client.create_collection(name, vectors_config={})


def ours(server):
    every = {one.name for one in server.client.get_collections().collections}
    assert every >= set(THEIRS)
    return sorted(every - set(THEIRS))


def removed(server):
    return [path.rpartition("/")[2] for method, path in server.writes if method == "DELETE"]


def test_nothing_to_prune(workspace, server, desk):
    root = workspace()
    needed = ours(server)
    assert len(needed) == 2
    assert desk(root, "prune", "tiny", "--server", "--yes").out == (
        f"tiny: 2 collections at {server.url[7:]}; nothing to prune.\n"
    )
    answer = desk(root, "prune", "tiny", "--server", "--yes", "--json")
    assert answer.json == {
        "format": 1, "collection": "tiny", "dry_run": False, "server": server.url[7:],
        "removed": [], "kept": needed,
    }  # fmt: skip
    assert server.writes == [] and ours(server) == needed


def test_older_collections_go_and_those_of_others_stay(workspace, server, desk):
    root = workspace()
    needed = ours(server)
    make(server, OLD, OLDER)
    planned = desk(root, "prune", "tiny", "--server", "--dry-run", "--json").json
    assert (planned["removed"], planned["kept"]) == ([OLDER, OLD], needed)
    assert desk(root, "prune", "tiny", "--server", "--dry-run").out == (
        f"tiny: would remove 2 collections at {server.url[7:]}, 2 kept\n  {OLDER}\n  {OLD}\n"
    )
    assert server.writes == [] and len(ours(server)) == 4
    done = desk(root, "prune", "tiny", "--server", "--yes")
    assert done.out.startswith(f"tiny: removed 2 collections at {server.url[7:]}, 2 kept\n")
    assert (done.code, removed(server), ours(server)) == (0, [OLDER, OLD], needed)
    assert desk(root, "evaluate", "tiny").code == 0
    assert planned == {
        **desk(root, "prune", "tiny", "--server", "--yes", "--json").json,
        "dry_run": True, "removed": [OLDER, OLD],
    }  # fmt: skip


def test_it_asks_first_for_others_may_share_the_server(workspace, server, desk):
    root = workspace()
    make(server, OLD)
    answer = desk(root, "prune", "tiny", "--server")
    assert answer.code == 2 and server.writes == []
    assert answer.errors == ["error: nothing was deleted: nobody can be asked. Add --yes."]


def test_index_names_what_may_go_and_the_command(workspace, server, desk, edit):
    root = workspace()
    edit(root / CORPUS, "An apple tree", "One apple tree")
    notes = desk(root, "index", "tiny").notes
    assert notes == [
        "note: Older collections of tiny on the server that no configuration here needs now: 2. "
        "Remove them: desk prune tiny --server"
    ]
    older = set(ours(server))
    desk(root, "prune", "tiny", "--server", "--yes")
    assert set(ours(server)) < older and len(ours(server)) == 2
    assert desk(root, "index", "tiny").notes == [] and desk(root, "evaluate", "tiny").code == 0


@pytest.mark.parametrize(
    "breaking",
    [lambda s: s.fail(403), lambda s: s.fail(500), lambda s: s.garbage(), lambda s: s.drop()],
)
@pytest.mark.usefixtures("at_once")
def test_a_server_that_lists_nothing_keeps_nobody_from_indexing(server, tiny, desk, breaking):
    root = served(tiny(), server.url, "retries = 1")
    make(server, OLD)
    # Only the list itself: what is asked of a collection has a longer path.
    due = server._due
    server._due = lambda line: due(line) if line == "GET /collections" else []
    breaking(server)
    answer = desk(root, "index", "tiny")
    assert answer.code == 0 and answer.notes == [] and "4 brought to the server" in answer.out


def test_a_configuration_that_is_gone(workspace, server, desk, edit):
    root = workspace(SPARSE + DENSE + EXTERNAL)
    assert len(ours(server)) == 2
    edit(root / SETTINGS, DENSE, "")
    (gone,) = desk(root, "prune", "tiny", "--server", "--yes", "--json").json["removed"]
    assert removed(server) == [gone] and len(ours(server)) == 1
    assert desk(root, "evaluate", "tiny", "-c", "sparse").code == 0


def test_a_corpus_that_is_not_indexed_yet_needs_none_of_the_old(workspace, server, desk, edit):
    root = workspace()
    edit(root / CORPUS, "An apple tree", "One apple tree")
    assert desk(root, "prune", "tiny", "--server", "--yes", "--json").json["kept"] == []
    assert ours(server) == []
    assert "4 brought to the server" in desk(root, "index", "tiny").out


@pytest.mark.usefixtures("word_vectors")
def test_what_cannot_be_told_apart_stays(workspace, server, desk, word_vectors):
    """A model whose digest no manifest tells may need any collection of this revision."""
    root = workspace(OLLAMA)
    (needed,) = ours(server)
    other = f"{needed.rpartition('-')[0]}-cccccccccccc"
    make(server, OLD, other)
    word_vectors.fail = lambda *_: pytest.fail("the embedder was asked")
    for path in (root / "data/tiny/vectors").glob("*.manifest.json"):
        kept = path.read_bytes()
        path.unlink()
    answer = desk(root, "prune", "tiny", "--server", "--yes")
    assert answer.notes == [
        "note: gemma is not indexed, so which collection is its own is not known. Those of the "
        "corpus as it is now were kept; index it first: desk index tiny"
    ]
    assert removed(server) == [OLD] and ours(server) == sorted([needed, other])
    path.write_bytes(kept)
    assert desk(root, "prune", "tiny", "--server", "--yes").notes == []
    assert ours(server) == [needed]


def test_a_clone_that_was_never_indexed_keeps_what_the_bundled_embedder_needs(
    workspace, server, desk
):
    root = workspace(SPARSE + DENSE + TITLED)
    needed = ours(server)
    make(server, OLD)
    for path in (root / "data/tiny/vectors").iterdir():
        path.unlink()
    (root / "data/tiny/vectors").rmdir()
    assert desk(root, "prune", "tiny", "--server", "--dry-run", "--json").json["kept"] == needed
    assert not (root / "data/tiny/vectors").exists()
    assert desk(root, "prune", "tiny", "--server", "--yes").code == 0 and ours(server) == needed


FOREIGN = """format = 1
qdrant_url = "{url}"
[source]
kind = "qdrant"
collection = "{name}"
key = "point-id"
fields = {{ text = "text" }}
[chunking]
rule = "as-is-v1"
[configurations.dense]
"""


def test_a_foreign_collection_is_refused_unasked(workspace, server, desk):
    root = workspace()
    (root / SETTINGS).write_text(FOREIGN.format(url=server.url, name=OLD))
    answer = desk(root, "prune", "tiny", "--server", "--yes")
    assert (answer.code, answer.out, answer.errors) == (2, "", [
        "error: data/tiny/collection.toml: tiny is read from a Qdrant collection that others "
        "index; nothing there is ours to remove. Leave out --server."
    ])  # fmt: skip
    assert server.requests == []


def test_a_collection_without_a_server_is_refused(tiny, desk):
    answer = desk(tiny(), "prune", "tiny", "--server", "--yes", "--json")
    assert (answer.code, answer.out, answer.errors) == (2, "", [
        "error: data/tiny/collection.toml: tiny has no qdrant_url, so nothing of it is on a "
        "server. Leave out --server, or add qdrant_url."
    ])  # fmt: skip


def test_without_the_option_the_server_is_not_asked(workspace, server, desk):
    root = workspace()
    make(server, OLD)
    assert "caches" in desk(root, "prune", "tiny", "--json").json
    assert server.requests == [] and OLD in ours(server)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("path", ["GET /collections", "DELETE"])
def test_a_server_that_fails_gives_one_sentence(workspace, server, desk, path):
    root = workspace()
    make(server, OLD)
    server.fail(503, path=path)
    answer = desk(root, "prune", "tiny", "--server", "--yes")
    doing = "removing a collection" if path == "DELETE" else "listing collections"
    assert answer.code == 2 and answer.out == "" and OLD in ours(server)
    assert answer.errors == [
        f"error: Qdrant at {server.url[7:]} failed while {doing}, also when asked once more: "
        "Service Unavailable (status 503). See the server's log."
    ]


def test_while_another_process_indexes_nothing_is_removed(workspace, server, desk):
    root = workspace()
    make(server, OLD)
    with FileLock(root / "data/tiny/vectors/index.lock"):
        answer = desk(root, "prune", "tiny", "--server", "--yes")
    assert answer.code == 2 and "another process is indexing tiny" in answer.errors[0]
    assert server.requests == [] and OLD in ours(server)

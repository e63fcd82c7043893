"""Settings saved as a named configuration: what stands in the file stays, byte by byte."""

import os
import threading
import tomllib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from app.core.errors import InvalidInput, NotReady
from app.flows.configuring import save_configuration
from app.settings import Configuration
from tests.conftest import SPARSE, tiny_in

PLACE = "data/tiny/collection.toml"
DEEP = Configuration(mode="sparse", depth=50)
#: Texts with all that has a meaning in TOML or in its lines.
_PIECES = [
    '"', '"""', "'", "\\", "\\u0041", "#", "[a]", "=", ",", "\n", "\r\n", "\t", "\x00", "\x01",
    "\x1f", "\x7f", "\x85", "\u2028", "\ufeff", "é", "😀", "{", " ", "a",
]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(_PIECES) | st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6
).map("".join)


@pytest.fixture
def path(tiny):
    return tiny() / PLACE


def collection(path, collection_of):
    return collection_of(path.parents[2])


def refused(saving, *words, **more):
    with pytest.raises(InvalidInput) as caught:
        save_configuration(saving, *words, **more)
    return str(caught.value)


def test_a_table_follows_with_what_differs_from_the_defaults(path, collection_of):
    before = path.read_bytes()
    one = Configuration(mode="hybrid", rrf_k=60, embedder="bundled", depth=30, exact=True)
    found = save_configuration(collection(path, collection_of), "fused.v2", one)
    assert path.read_bytes() == before + (
        b'\n[configurations."fused.v2"]\nmode = "hybrid"\nembedder = "bundled"\ndepth = 30\n'
        b"rrf_k = 60\nexact = true\n"
    )
    assert found.settings.configurations["fused.v2"] == one
    assert list(found.settings.configurations) == ["sparse", "fused.v2"]
    assert sorted(os.listdir(path.parent)) == ["collection.toml", "corpus.jsonl"]


@st.composite
def configurations(draw):
    """Any that the model takes."""
    mode = draw(st.sampled_from(["dense", "sparse", "hybrid", "external"]))
    said = {"mode": mode, "depth": draw(st.integers(6, 20_000))}
    if mode == "hybrid":
        said |= {"rrf_k": draw(st.integers(1, 1_000_000))}
        said |= {"candidates": draw(st.integers(said["depth"], 20_000))}
    elif draw(st.booleans()):
        said["threshold"] = draw(st.floats(allow_nan=False, allow_infinity=False))
    if mode in ("dense", "hybrid") and draw(st.booleans()):
        said["question_template"] = "{question}" + draw(TEXTS)
        said["document_template"] = draw(TEXTS) + "{text}"
        said["embedder"] = draw(st.sampled_from(["bundled", "ollama:a/b:c", "ollama:\\x"]))
        if said["embedder"] != "bundled":
            said["digest"] = draw(st.sampled_from(["sha256:ABCDEF", "0123"]))
            said["dimension"] = draw(st.integers(1, 10**20))
    if mode == "external":
        if draw(st.booleans()):
            said["command"] = draw(st.lists(TEXTS, min_size=1, max_size=3))
        else:
            said |= {"endpoint": "https://a.b/c?d=%22", "authorization_env": "KEY_1"}
        said["concurrency"] = draw(st.integers(1, 64))
    else:
        said |= {"exact": draw(st.booleans())} if mode != "sparse" else {}
    said["prefix_check"] = draw(st.booleans())
    said["timeout"] = draw(st.floats(1e-300, 1e300))
    said["deadline"] = draw(st.integers(1, 10**6))
    try:
        return Configuration.model_validate(said)
    except ValidationError:
        assume(False)


ENDS = ["", "\n", "\r\n", "# the last word", "\n\n  # é\r\n", "\t"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    one=configurations(),
    name=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True),
    end=st.sampled_from(ENDS),
    crlf=st.booleans(),
    mark=st.booleans(),
)
@example(one=DEEP, name="0", end="", crlf=True, mark=True)
@example(one=Configuration(threshold=-0.0), name="a.b", end="", crlf=False, mark=False)
def test_what_is_saved_is_read_back_and_what_was_there_stays(
    tmp_path_factory, collection_of, one, name, end, crlf, mark
):
    assume(name != "sparse")
    path = tiny_in(tmp_path_factory.mktemp("saved") / "workspace") / PLACE
    text = path.read_text(encoding="utf-8").rstrip("\n") + (end and f"\n{end}")
    raw = (text.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else text).encode()
    raw = (b"\xef\xbb\xbf" if mark else b"") + raw
    path.write_bytes(raw)
    found = save_configuration(collection(path, collection_of), name, one)
    assert found.settings.configurations[name] == one
    after = path.read_bytes()
    assert after.startswith(raw) and len(after) > len(raw)
    if crlf:
        assert after.count(b"\n") == after.count(b"\r\n")
    assert collection(path, collection_of).settings == found.settings


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sparse", 'there is a configuration "sparse" already. Choose another name.'),
        ("Big", "the configuration name 'Big' may have a-z, 0-9, '.', '_' and '-' only"),
        ("", "the configuration name '' may have"),
        ("a]\n[b", "may have a-z, 0-9"),
        ('"', "may have a-z, 0-9"),
        ("\ud800", "holds half of a surrogate pair, which is no character. Nothing was saved"),
    ],
)
def test_a_name_that_is_taken_or_not_allowed(path, collection_of, name, words):
    before = path.read_bytes()
    told = refused(collection(path, collection_of), name, DEEP)
    assert told.startswith(f"{PLACE}: ") and words in told
    assert path.read_bytes() == before


def test_settings_the_collection_refuses(path, collection_of):
    before = path.read_bytes()
    told = refused(collection(path, collection_of), "flat", Configuration(mode="sparse", depth=5))
    assert told == (
        f"{PLACE}: configurations.flat.depth 5 must be beyond the largest cut-off, 5. Nothing was "
        "saved: choose other settings, or correct the file."
    )
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_added_to(path, collection_of, tiny):
    saving = collection(path, collection_of)
    text = path.read_text().replace(SPARSE, "")
    path.write_text(
        text.replace("[source]", 'configurations = { sparse = { mode = "sparse" } }\n[source]')
    )
    told = refused(saving, "deep", DEEP)
    assert "the table [configurations.deep] cannot follow what stands there: " in told
    assert told.endswith("Nothing was saved: write the other configurations as tables, too.")
    path.write_text(text + "[configurations.sparse\n")
    assert refused(saving, "deep", DEEP).startswith(f"{PLACE}: not TOML: ")
    path.write_text(text + "[configurations.sparse]\nmode = 'spare'\n")
    assert "configurations.sparse.mode" in refused(saving, "deep", DEEP)
    path.unlink()
    assert refused(saving, "deep", DEEP).startswith(f"{PLACE}: the file cannot be read: ")


def test_it_is_the_file_as_it_is_now_that_is_added_to(path, collection_of):
    saving = collection(path, collection_of)
    path.write_text(path.read_text() + '# mine\n[configurations.other]\nmode = "sparse"\n')
    found = save_configuration(saving, "deep", DEEP)
    assert list(found.settings.configurations) == ["sparse", "other", "deep"]
    assert '"other" already' in refused(saving, "other", DEEP)


def test_a_disk_that_refuses(path, collection_of, monkeypatch):
    before = path.read_bytes()

    def full(_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("app.flows.configuring.os.fsync", full)
    told = refused(collection(path, collection_of), "deep", DEEP)
    assert told == (
        f"{PLACE}: the file cannot be written: Read-only file system. Free some space or mend "
        "permissions."
    )
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["collection.toml", "corpus.jsonl"]


def test_an_editor_that_writes_meanwhile_loses_nothing(path, collection_of, monkeypatch):
    saving = collection(path, collection_of)
    real, theirs = os.fsync, path.read_bytes() + b"# theirs\n"

    def slow(number):
        path.write_bytes(theirs)
        real(number)

    monkeypatch.setattr("app.flows.configuring.os.fsync", slow)
    assert "changed by another program meanwhile" in refused(saving, "deep", DEEP)
    assert path.read_bytes() == theirs


def test_two_who_save_at_once_both_find_theirs(path, collection_of):
    names = [f"deep-{n}" for n in range(12)]

    def save(name):
        save_configuration(collection(path, collection_of), name, DEEP)

    threads = [threading.Thread(target=save, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = tomllib.loads(path.read_text())["configurations"]
    assert sorted(found) == sorted([*names, "sparse"])


def test_another_who_saves_for_long(path, collection_of, monkeypatch):
    from filelock import FileLock

    saving = collection(path, collection_of)
    folder = saving.workspace.running
    folder.mkdir()
    lock = FileLock(folder / "tiny.settings.lock")
    short = lambda where, timeout: FileLock(where, timeout=0.05)  # noqa: E731
    monkeypatch.setattr("app.flows.configuring.FileLock", short)
    with lock, pytest.raises(NotReady) as caught:
        save_configuration(saving, "deep", DEEP)
    assert str(caught.value) == f"{PLACE}: another process is writing the settings. Try again."


def test_a_link_stays_a_link_and_permissions_stay(path, collection_of, tmp_path):
    real = tmp_path / "kept.toml"
    path.rename(real)
    path.symlink_to(real)
    real.chmod(0o640)
    save_configuration(collection(path, collection_of), "deep", DEEP)
    assert path.is_symlink() and b"[configurations.deep]" in real.read_bytes()
    assert real.stat().st_mode & 0o777 == 0o640


def test_where_roles_are_set_only_who_adjudicates_saves(path, collection_of):
    saving = collection(path, collection_of)
    team = saving.workspace.data / "desk.toml"
    team.write_text('format = 1\n[roles]\nreviewers = ["bob"]\n')
    save_configuration(saving, "one", DEEP)  # anybody may adjudicate, so anybody may save
    team.write_text('format = 1\n[roles]\nadjudicators = ["zoe"]\n')
    assert refused(saving, "two", DEEP) == (
        "whoever saves a configuration must be named by roles.adjudicators in data/desk.toml. "
        "Enter your name."
    )
    assert refused(saving, "two", DEEP, author="bob") == (
        "you may read but not save a configuration: roles.adjudicators in data/desk.toml does not "
        "have bob. Ask whoever keeps this workspace to add the name."
    )
    found = save_configuration(replace(saving), "two", DEEP, author="zoe")
    assert "two" in found.settings.configurations

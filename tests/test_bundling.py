"""A bundle: the same labels give the same bytes, and nothing but a whole one is read."""

import hashlib
import json
import struct
import zipfile

import pytest

from app.core.errors import InvalidInput
from app.flows.events import event_lines
from app.flows.sharing import bundling
from app.flows.sharing.bundling import bundle, read_bundle
from app.workspace import Workspace
from tests.repositories import grade

BOTH = ("labels.jsonl", "questions.jsonl")


@pytest.fixture
def packed(runbooks, tmp_path):
    """The runbooks as a bundle; its path."""
    path = tmp_path / "runbooks.zip"
    bundle(Workspace.at(runbooks), "runbooks", path)
    return path


def members_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(path, members):
    """A .zip of members, by name or entry; a name may stand in it twice."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items() if isinstance(members, dict) else members:
            file.writestr(name, data)
    return path


def described(members, **more):
    """Members with the `bundle.json` that fits them."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    about = {
        "format": 1, "collection": "runbooks", "members": hashes,
        "counts": {"events": 0, "reviewers": 0, "questions": 0}, **more,
    }  # fmt: skip
    return {**members, "bundle.json": json.dumps(about).encode()}


def refusal(path):
    with pytest.raises(InvalidInput) as error:
        read_bundle(path)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


def test_what_is_in_a_bundle(runbooks, packed, collection_of):
    folder = runbooks / "labels/runbooks"
    found = members_of(packed)
    (complete,) = [path.name for path in (folder / "complete").iterdir()]
    assert list(found) == [
        "bundle.json", f"complete/{complete}", "guidelines.md", "labels.jsonl", "questions.jsonl",
    ]  # fmt: skip
    assert found["labels.jsonl"] == b"".join(event_lines(collection_of(runbooks)))
    for name in ("questions.jsonl", "guidelines.md", f"complete/{complete}"):
        assert found[name] == (folder / name).read_bytes()
    about = json.loads(found.pop("bundle.json"))
    assert about == {
        "format": 1, "collection": "runbooks",
        "counts": {"events": 9, "reviewers": 1, "questions": 9},
        "members": {name: hashlib.sha256(data).hexdigest() for name, data in found.items()},
    }  # fmt: skip


def test_reading_gives_back_what_was_packed(runbooks, packed):
    found = read_bundle(packed)
    files = members_of(packed)
    assert (found.collection, found.counts) == (
        "runbooks", {"events": 9, "reviewers": 1, "questions": 9}
    )  # fmt: skip
    assert (found.labels_jsonl, found.questions_jsonl, found.guidelines_md) == (
        files["labels.jsonl"], files["questions.jsonl"], files["guidelines.md"]
    )  # fmt: skip
    assert {f"complete/{name}": data for name, data in found.complete.items()} == {
        name: data for name, data in files.items() if name.startswith("complete/")
    }


def test_packing_twice_gives_the_same_bytes(runbooks, packed, tmp_path):
    for path in (runbooks / "labels/runbooks").rglob("*"):
        path.touch()
    again = tmp_path / "again.zip"
    bundle(Workspace.at(runbooks), "runbooks", again)
    assert again.read_bytes() == packed.read_bytes()
    grade(runbooks, "bob", 1, collection="runbooks")
    bundle(Workspace.at(runbooks), "runbooks", again, force=True)
    assert again.read_bytes() != packed.read_bytes()
    assert read_bundle(again).counts == {"events": 10, "reviewers": 2, "questions": 9}


def test_a_collection_without_guidelines(tiny, tmp_path):
    made = bundle(Workspace.at(tiny()), "tiny", tmp_path / "tiny.zip")
    assert read_bundle(tmp_path / "tiny.zip") == made
    assert (made.guidelines_md, made.complete) == (None, {})


def test_the_command(runbooks, tmp_path, desk):
    path = tmp_path / "näher dran.zip"
    answer = desk(runbooks, "labels", "bundle", "runbooks", path)
    assert (answer.code, answer.out) == (
        0,
        f"{path}: 9 events of 1 reviewer and 9 questions of runbooks.\n"
        "Whoever gets the file takes it in with: desk import runbooks labels 'näher dran.zip'\n",
    )
    before = path.read_bytes()
    answer = desk(runbooks, "labels", "bundle", "runbooks", path)
    assert (answer.code, answer.errors) == (2, [
        f"error: {path}: the file is there already; nothing was written. Name another one, or "
        "replace it with --force."
    ])  # fmt: skip
    assert path.read_bytes() == before
    path.write_bytes(b"old")
    assert desk(runbooks, "labels", "bundle", "runbooks", path, "--force").code == 0
    assert path.read_bytes() == before


def test_places_that_cannot_be_written(runbooks, tmp_path):
    here = Workspace.at(runbooks)
    with pytest.raises(InvalidInput, match="this is a folder. Name a file in it"):
        bundle(here, "runbooks", tmp_path, force=True)
    with pytest.raises(InvalidInput, match="cannot be written: No such file or directory"):
        bundle(here, "runbooks", tmp_path / "no/such.zip")


def test_labels_that_cannot_be_read_are_not_packed(runbooks, tmp_path):
    folder = runbooks / "labels/runbooks"
    for name in ("judgments/sample-reviewer.jsonl", "questions.jsonl"):
        with (folder / name).open("a") as file:
            file.write("{broken\n")
    path = tmp_path / "b.zip"
    with pytest.raises(InvalidInput) as error:
        bundle(Workspace.at(runbooks), "runbooks", path)
    assert [problem.place for problem in error.value.problems] == [
        "labels/runbooks/judgments/sample-reviewer.jsonl:10", "labels/runbooks/questions.jsonl:10",
    ]  # fmt: skip
    assert list(tmp_path.glob("*b.zip*")) == []


def test_a_disk_that_is_full_leaves_the_old_file(runbooks, packed, monkeypatch):
    before = packed.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(InvalidInput, match="cannot be written: No space left on device"):
        bundle(Workspace.at(runbooks), "runbooks", packed, force=True)
    assert packed.read_bytes() == before
    assert [path.name for path in packed.parent.glob("*.zip*")] == [packed.name]


def test_what_is_no_bundle(tmp_path):
    assert refusal(tmp_path / "none.zip").startswith("the file cannot be read: No such file")
    path = tmp_path / "x.zip"
    path.write_bytes(b"not a zip")
    assert refusal(path) == (
        "the file is no .zip, or a damaged one. Ask for the file again, made by: desk labels "
        "bundle."
    )
    assert refusal(pack(path, {"a.txt": b"1"})).startswith("bundle.json is not in it, so it is no")


def test_damage_is_noticed(packed):
    good = members_of(packed)
    for name in ("labels.jsonl", "guidelines.md"):
        pack(packed, {**good, name: good[name] + b"\n"})
        assert refusal(packed).startswith(f"{name} is not what it was when the bundle was made.")
    pack(packed, {name: data for name, data in good.items() if name != "guidelines.md"})
    assert refusal(packed).startswith(
        'bundle.json and the files in the bundle do not agree on "gui'
    )
    for name in BOTH:
        pack(packed, {one: data for one, data in good.items() if one != name})
        assert refusal(packed).startswith(f"{name} is not in it")


def test_a_flipped_byte_and_a_cut_file(packed):
    whole = packed.read_bytes()
    at = whole.index(b"labels.jsonl") + 200
    packed.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    assert "damaged" in refusal(packed)
    packed.write_bytes(whole[:-100])
    assert "damaged" in refusal(packed)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"format": 2}, 'the bundle is of format "2", not 1. Update the program that reads it.'),
        ({"collection": 3}, "bundle.json: collection is"),
        ({"counts": {"events": 1}}, "bundle.json: the key counts.reviewers is missing"),
        ({"extra": 1}, 'bundle.json: unknown key "extra"'),
    ],
)
def test_a_bundle_json_of_another_kind(tmp_path, more, sentence):
    path = pack(tmp_path / "x.zip", described(dict.fromkeys(BOTH, b""), **more))
    assert refusal(path).startswith(sentence)


def test_a_bundle_json_that_is_no_json(tmp_path):
    path = pack(tmp_path / "x.zip", {**dict.fromkeys(BOTH, b""), "bundle.json": b"{"})
    assert refusal(path).startswith("bundle.json is not JSON")


@pytest.mark.parametrize(
    "name",
    ["../evil.jsonl", "/etc/passwd", "complete/../x.jsonl", "complete/a/b.jsonl", "complete/",
     "other.txt", "C:\\x.jsonl", "complete/.hidden.jsonl"],
)  # fmt: skip
def test_names_that_have_no_place_in_a_bundle(tmp_path, name):
    members = described({**dict.fromkeys(BOTH, b""), name: b""})
    assert "has no place in a bundle" in refusal(pack(tmp_path / "x.zip", members))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice(tmp_path):
    members = [*described(dict.fromkeys(BOTH, b"")).items(), ("labels.jsonl", b"other")]
    assert refusal(pack(tmp_path / "x.zip", members)).startswith('"labels.jsonl" is in it twice')


def test_bombs_are_not_unpacked(tmp_path, monkeypatch):
    bomb = described({"labels.jsonl": b"0" * 20_000_000, "questions.jsonl": b""})
    path = pack(tmp_path / "x.zip", bomb)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    assert "it would unpack to 20,000," in refusal(path)
    monkeypatch.setattr(bundling, "MOST_MEMBERS", 2)
    small = described(dict.fromkeys(BOTH, b""))
    assert "it holds 3 files; a bundle has at most 2" in refusal(pack(path, small))
    monkeypatch.setattr(bundling, "MOST_MEMBERS", 3)
    monkeypatch.setattr(bundling, "MOST_BYTES", 100)
    assert "it would unpack to" in refusal(path)


def test_a_size_that_lies_is_damage(tmp_path):
    members = described({"labels.jsonl": b"0" * 5_000, "questions.jsonl": b""})
    path = pack(tmp_path / "x.zip", members)
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"labels.jsonl") - 46  # its line in the directory at the end
    assert struct.unpack_from("<I", raw, entry + 24) == (5_000,)
    struct.pack_into("<I", raw, entry + 24, 10)
    path.write_bytes(raw)
    assert "damaged" in refusal(path)


def test_an_encrypted_member(tmp_path):
    path = pack(tmp_path / "x.zip", described(dict.fromkeys(BOTH, b"")))
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"labels.jsonl") - 46
    raw[entry + 8] |= 1
    path.write_bytes(raw)
    assert "encrypted" in refusal(path)

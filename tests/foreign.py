"""A Qdrant collection that others filled, and a workspace that reads it."""

import json
import shutil
from contextlib import contextmanager

from qdrant_client import models

from app.core.catalogue import POINTS, SYNC
from app.engines.bundled import BundledEmbedder
from app.engines.qdrant_source import lexical
from app.engines.vectors import VectorCache, vector_key
from app.flows.syncing import sync
from app.workspace import Workspace
from tests.conftest import judgment, lines_of
from tests.qdrant_server import QdrantServer

NAME, THEIRS = "foreign", "theirs"
DENSE = '[configurations.dense]\nmode = "dense"\n'
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
FIELDS = {"chunk": "id", "text": "text"}


def sized(size=4, distance="Cosine", **more):
    return models.VectorParams(size=size, distance=models.Distance(distance), **more)


def point(identity, vector=(1, 0, 0, 0), **payload):
    vector = {} if vector is None else vector
    vector = vector if isinstance(vector, dict) else list(map(float, vector))
    return models.PointStruct(id=identity, vector=vector, payload=payload)


def chunk(identity, text, vector=(1, 0, 0, 0), **payload):
    return point(identity, vector, id=f"c{identity}", text=text, **payload)


class Foreign:
    """`put` fills the collection, past the server's records; `settings` writes the workspace's."""

    def __init__(self, root, server):
        self.root, self.server = root, server
        (root / "labels" / NAME / "judgments").mkdir(parents=True)
        (root / "data" / NAME).mkdir(parents=True)

    def create(self, vectors=None, sparse=()):
        names = {name: models.SparseVectorParams(modifier="idf") for name in sparse}
        client = self.server.client
        if client.collection_exists(THEIRS):
            client.delete_collection(THEIRS)
        client.create_collection(THEIRS, vectors or sized(), sparse_vectors_config=names)

    def put(self, *points):
        self.server.client.upsert(THEIRS, list(points))

    def drop(self, *identities):
        self.server.client.delete(THEIRS, list(identities))

    def settings(self, fields=FIELDS, source="", more="", configurations=DENSE):
        named = "\n".join(f"{role} = {json.dumps(path)}" for role, path in fields.items())
        self.toml.write_text(
            f'format = 1\nqdrant_url = "{self.server.url}"\n'
            f'[qdrant]\nretries = 0\ntimeout = 5\n[source]\nkind = "qdrant"\n'
            f'collection = "{THEIRS}"\n{source}\n[source.fields]\n{named}\n[chunking]\n'
            f'rule = "as-is-v1"\n{more}\n{configurations}',
            encoding="utf-8",
        )

    def add_settings(self, line):
        """A line at the end: a key of the last configuration."""
        with self.toml.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def ask(self, questions, labels=()):
        """Questions by id, and labels as (question, chunk id, grade)."""
        folder = self.root / "labels" / NAME
        lines = [
            {"format": 1, "id": name, "category": "general", "text": text}
            for name, text in questions.items()
        ]
        (folder / "questions.jsonl").write_text(lines_of(lines), encoding="utf-8")
        judged = [judgment(*one, number) for number, one in enumerate(labels)]
        (folder / "judgments" / "ann.jsonl").write_text(lines_of(judged), encoding="utf-8")

    @property
    def toml(self):
        return self.root / "data" / NAME / "collection.toml"

    @property
    def workspace(self):
        return Workspace.at(self.root)

    @property
    def collection(self):
        return self.workspace.collection(NAME)

    @property
    def catalogue(self):
        return self.root / "data" / NAME / "catalogue"

    @property
    def files(self):
        """The bytes of what a sync makes, without the time it was made at."""
        note = json.loads((self.catalogue / SYNC).read_text())
        note.pop("synced")
        return (self.catalogue / POINTS).read_bytes(), note

    @property
    def lines(self):
        return [json.loads(line) for line in (self.catalogue / POINTS).read_bytes().splitlines()]

    def sync(self):
        return sync(self.collection)

    def counts(self):
        """New, changed, gone, as a sync counts them."""
        found = self.sync()
        return found.new, found.changed, found.removed


@contextmanager
def foreign(root):
    """A server with an empty collection of 4 dimensions, and a workspace with settings for it."""
    with QdrantServer() as server:
        made = Foreign(root, server)
        made.create()
        made.settings()
        yield made


RULE = "section-paragraphs-80w-overlap1-v1"
MAPPED = {
    "document": "meta.doc", "chunk": "meta.chunk", "text": "content.body",
    "title": "content.title", "section": "content.section",
}  # fmt: skip
ELIGIBLE = '[eligible]\n"meta.status" = "published"\n"meta.type[]" = "runbook"\n'
THREE = """[configurations.dense]
mode = "dense"
[configurations.sparse]
mode = "sparse"
[configurations.hybrid]
mode = "hybrid"
rrf_k = 60
"""


def as_theirs(theirs, own, distance="Cosine", configurations=THREE, more=ELIGIBLE):
    """The chunks of an indexed collection, with the same vectors, as others would have them."""
    corpus = own.corpus()
    chunks = list(corpus.chunks.values())
    cache = VectorCache.of(own.vectors, BundledEmbedder.digest)
    vectors, _ = cache.load([vector_key(one.text) for one in chunks], BundledEmbedder.dimension)
    theirs.create({"text": sized(vectors.shape[1], distance)}, ["words"])
    theirs.put(
        *[
            point(
                n,
                {"text": vector.tolist(), "words": words(one.text)},
                meta={
                    "doc": one.key.document, "chunk": one.key.chunk,
                    "status": one.fields.get("status"), "type": ["x", one.fields.get("type")],
                },
                content={"body": one.text, "title": one.title, "section": one.section},
            )
            for n, (one, vector) in enumerate(zip(chunks, vectors, strict=True))
        ]
    )  # fmt: skip
    source = f'vector = "text"\nsparse_vector = "words"\nversion = "{RULE}"'
    theirs.settings(MAPPED, source, more, configurations)
    shutil.copytree(own.labels_folder, theirs.collection.labels_folder, dirs_exist_ok=True)
    return corpus, vectors


def words(text):
    """A BM25 vector, as our encoder makes it."""
    found = lexical(text)
    return models.SparseVector(indices=list(found), values=list(found.values()))

"""`desk check --vectors`: stored vectors against new ones, and what is said of them."""

import numpy as np
import pytest
from qdrant_client import models

from tests.foreign import DENSE, FIELDS, NAME, SPARSE, chunk, sized, words
from tests.hashing import SIZE, Hashing

PLACE = f"data/{NAME}/collection.toml: "
COUNT = 24


@pytest.fixture
def model(monkeypatch):
    """What the settings call bundled."""
    made = Hashing()
    monkeypatch.setattr("app.flows.embedders._bundled", lambda: made)
    return made


def text_of(number):
    return " ".join(f"word{number}x{n}" for n in range(3 + number))


def fill(theirs, vector_of, vectors=None, source="", configurations=DENSE, **more):
    """24 texts, each a word longer than the one before, and their vectors."""
    theirs.create(vectors or sized(SIZE), **more)
    theirs.put(
        *[
            chunk(n, text_of(n), vector_of(n), title=f"Title {n}", other=f"Another {n}.")
            for n in range(COUNT)
        ]
    )
    theirs.settings({**FIELDS, "title": "title"}, source, configurations=configurations)
    theirs.ask({"q": "Which?"}, [("q", "c1", 2)])
    theirs.sync()


def checked(theirs, desk, code):
    """What --vectors found, and every finding."""
    done = desk(theirs.root, "check", NAME, "--vectors", "--json")
    assert done.code == code, done.out
    assert theirs.server.writes == []
    return done.json["vectors"], done.json["problems"]


def finding(theirs, desk):
    vectors, (problem,) = checked(theirs, desk, 1)
    assert problem["severity"] == "finding"
    said = desk(theirs.root, "check", NAME, "--vectors")
    assert said.code == 1
    assert f"finding: {problem['place']}: {problem['message']}. {problem['remedy']}." in said.out
    return vectors, problem


def test_right_vectors(theirs, desk, model):
    fill(theirs, lambda n: model.vector(text_of(n)))
    vectors, problems = checked(theirs, desk, 0)
    assert problems == []
    assert vectors == [
        {
            "configurations": ["dense"],
            "embedder": "bundled",
            "chunks": 20,
            "lowest": pytest.approx(1, abs=1e-5),
            "median": pytest.approx(1, abs=1e-5),
        }
    ]
    assert model.embedded == 20
    said = desk(theirs.root, "check", NAME, "--vectors")
    line = "dense: 20 stored vectors against bundled, cosine 1.000 to 1.000, median 1.000"
    assert line in said.out
    assert "vectors" not in desk(theirs.root, "check", NAME, "--json").json


def test_lengths_of_vectors_are_nothing(theirs, desk, model):
    fill(theirs, lambda n: (n + 1) * model.vector(text_of(n)), sized(SIZE, "Dot"))
    assert checked(theirs, desk, 0)[1] == []


def test_another_model(theirs, desk, model):
    fill(theirs, lambda n: Hashing(salt="other").vector(text_of(n)))
    vectors, problem = finding(theirs, desk)
    assert vectors[0]["median"] < 0.9
    assert problem["message"].startswith(
        "the vectors of theirs are not those of bundled with '{text}': cosine "
    )
    assert problem["message"].endswith(
        "No wording that was tried agrees: another model, or another text than the one named as "
        "text"
    )
    assert problem["remedy"] == "Correct embedder, document_template or source.fields.text"


def test_another_text(theirs, desk, model):
    fill(theirs, lambda n: model.vector(f"Another {n}."))
    assert "source.fields.text" in finding(theirs, desk)[1]["remedy"]


def test_another_dimension(theirs, desk, model):
    fill(theirs, lambda n: [1.0, n, 0], sized(3))
    vectors, problems = checked(theirs, desk, 1)
    assert vectors[0] == {
        "configurations": ["dense"], "embedder": "bundled", "chunks": 0, "lowest": None,
        "median": None,
    }  # fmt: skip
    (problem,) = problems
    assert problem["message"] == "the vectors of theirs have 3 dimensions, those of bundled 8"
    assert problem["remedy"] == "Name the embedder they were made with, or another source.vector"


def close(vector, noise):
    return vector + noise * np.random.default_rng(1).normal(size=SIZE)


def test_another_build(theirs, desk, model):
    fill(theirs, lambda n: close(model.vector(text_of(n)), 0.08))
    vectors, problem = finding(theirs, desk)
    assert 0.95 < vectors[0]["median"] < 0.99
    assert "That is close: another build or rounding of the model" in problem["message"]


@pytest.mark.parametrize(
    ("written", "configured", "said"),
    [
        ("Title {n}\n{text}", "", '"{title}\\n{text}"'),
        ("passage: {text}", "", '"passage: {text}"'),
        ("title: Title {n} | text: {text}", "", '"title: {title_or_none} | text: {text}"'),
        ("{text}", 'document_template = "passage: {text}"\n', '"{text}"'),
    ],
)
def test_another_template(theirs, desk, model, written, configured, said):
    fill(
        theirs,
        lambda n: model.vector(written.format(n=n, text=text_of(n))),
        configurations=DENSE + configured,
    )
    _, problem = finding(theirs, desk)
    assert problem["remedy"] == f"Set document_template = {said}"
    theirs.settings(
        {**FIELDS, "title": "title"},
        configurations=f"{DENSE}{problem['remedy'].removeprefix('Set ')}\n",
    )
    assert checked(theirs, desk, 0)[1] == []


@pytest.mark.parametrize("limit", [10, 25])
def test_texts_that_were_cut(theirs, desk, model, limit):
    fill(theirs, lambda n: Hashing(limit).vector(text_of(n)))
    _, problem = finding(theirs, desk)
    sampled = [round(i * (COUNT - 1) / 19) for i in range(20)]
    longest = sum(3 + n > limit for n in sampled)
    assert (
        f"Only the {longest} longest of 20 differ: their texts were cut at another length before "
        "they were embedded" in problem["message"]
    )


def test_a_point_without_the_vector(theirs, desk, model):
    vectors = {"a": sized(SIZE), "b": sized(SIZE)}

    def vector_of(n):
        return {("b" if n == 0 else "a"): model.vector(text_of(n)).tolist()}

    fill(theirs, vector_of, vectors, 'vector = "a"')
    vectors, (problem,) = checked(theirs, desk, 1)
    assert vectors[0]["chunks"] == 0
    assert problem["message"] == "theirs has no vector a of c0, point 0"
    assert problem["remedy"] == "Fill it there, then run desk sync foreign"


def test_a_vector_that_the_settings_misname_since(theirs, desk, model):
    fill(
        theirs,
        lambda n: {"a": model.vector(text_of(n)).tolist()},
        {"a": sized(SIZE)},
        'vector = "a"',
    )
    theirs.settings({**FIELDS, "title": "title"}, 'vector = "b"')
    _, (problem,) = checked(theirs, desk, 1)
    assert problem["message"] == "theirs has no vector named b; it has a"


BOTH = 'sparse_vector = "words"\nversion = "2"'


def test_sparse_vectors(theirs, desk, model):
    def both(n):
        return {"": model.vector(text_of(n)).tolist(), "words": words(text_of(n))}

    fill(theirs, both, None, BOTH, DENSE + SPARSE, sparse=["words"])
    theirs.ask({"q": "Which?"})
    vectors, problems = checked(theirs, desk, 0)
    assert problems == []
    assert [(one["configurations"], one["embedder"], one["chunks"]) for one in vectors] == [
        (["dense"], "bundled", 20),
        (["sparse"], "BM25", 20),
    ]
    assert vectors[1]["lowest"] == pytest.approx(1, abs=1e-4)


def test_sparse_vectors_that_are_not_bm25(theirs, desk, model):
    def other(n):
        learned = models.SparseVector(indices=[1, 2 + n], values=[0.5, 1.0])
        return {"": model.vector(text_of(n)).tolist(), "words": learned}

    fill(theirs, other, None, BOTH, SPARSE, sparse=["words"])
    theirs.ask({"q": "Which?"})
    _, problem = finding(theirs, desk)
    assert problem["message"] == (
        "the sparse vectors words of theirs are not BM25 vectors of these texts: cosine 0.000 to "
        "0.000"
    )
    assert problem["remedy"].startswith("Use dense search, or name BM25 vectors")


def test_before_any_question_exists(theirs, desk, model):
    fill(theirs, lambda n: Hashing(salt="other").vector(text_of(n)))
    (theirs.root / "labels" / NAME / "questions.jsonl").unlink()
    (theirs.root / "labels" / NAME / "judgments" / "ann.jsonl").unlink()
    vectors, (error, problem) = checked(theirs, desk, 2)
    assert vectors[0]["chunks"] == 20
    assert (error["severity"], error["message"]) == ("error", "there are no questions")
    assert problem["message"].startswith("the vectors of theirs are not those of bundled")


def test_a_server_that_is_gone_is_a_finding(theirs, desk, model):
    fill(theirs, lambda n: model.vector(text_of(n)))
    theirs.server.stop()
    done = desk(theirs.root, "check", NAME, "--vectors")
    assert done.code == 1
    assert "does not answer while reading vectors. Start it, or correct qdrant_url" in done.out

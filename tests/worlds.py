"""Small random collections with every state a label can be in, and rankings over them."""

from itertools import count

from hypothesis import strategies as st

from app.core.judgments import new_judgment
from app.core.model import ChunkKey, Hit, Ranking
from app.core.snapshot import snapshot_path
from app.core.text import text_hash
from app.flows.events import event_line
from app.flows.loading import load
from app.workspace import Workspace
from tests.conftest import SPARSE, lines_of

ANSWERS = "abcdefgh"
#: Chunks without a text here: a labeled one, and one nobody ever heard of.
TEXTLESS = ("gone", "never")
QUESTIONS = ("q3", "q1", "q2", "q4")
SPLITS = ("development", "held-out")
NUMBERS = count()


def key(name):
    return ChunkKey(name, "as-is-v1", name)


texts = st.fixed_dictionaries({name: st.sampled_from("stuvwxyz") for name in ANSWERS})
ages = st.sampled_from(["now", "now", "now", "other text", "other question", "by hand"])
judged = st.tuples(
    st.sampled_from([0, 1, 1, 2, 2, None]), ages, st.sampled_from(["", "", "", "last word", "seen"])
)
#: Pairs, each with what one or two reviewers said of it.
judgments = st.lists(
    st.tuples(
        st.sampled_from(QUESTIONS),
        st.sampled_from((*ANSWERS, TEXTLESS[0])),
        st.lists(judged, min_size=1, max_size=2),
    ),
    min_size=8,
    max_size=20,
)
asked = st.fixed_dictionaries(
    {
        "category": st.sampled_from(["general", "other"]),
        "split": st.sampled_from(SPLITS),
        "unsupported": st.sampled_from([False, False, False, True]),
    }
)
labels = st.fixed_dictionaries(
    {
        "threshold": st.sampled_from([1, 2]),
        "complete": st.sampled_from(["pooled", "now", "then", "unknown"]),
        "then": st.sets(st.sampled_from("stuvwxyz")),
    }
)
ranking = st.fixed_dictionaries(
    {
        "names": st.permutations([*ANSWERS, *TEXTLESS]),
        "length": st.integers(0, 9),
        "scores": st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0]), min_size=10, max_size=10),
        "fate": st.sampled_from(["asked"] * 7 + ["failed", "not asked", "reworded"]),
    }
)
worlds = st.fixed_dictionaries(
    {
        "texts": texts,
        "judgments": judgments,
        "retired": st.lists(
            st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(ANSWERS), st.booleans()),
            max_size=2,
        ),
        "questions": st.fixed_dictionaries(dict.fromkeys(QUESTIONS, asked)),
        "labels": labels,
        "cutoffs": st.sets(st.integers(1, 9), min_size=1, max_size=3),
        "rankings": st.fixed_dictionaries(dict.fromkeys(QUESTIONS, ranking)),
        "kind": st.sampled_from(["complete", "threshold", "rank", "score"]),
        "missing": st.sampled_from(["empty", "failed"]),
    }
)


def build(root, world):
    """A collection of its own in the workspace, loaded."""
    name = f"w{next(NUMBERS)}"
    data, kept = root / "data" / name, root / "labels" / name
    (kept / "judgments").mkdir(parents=True)
    (kept / "events").mkdir()
    data.mkdir()
    lines = [{"id": n, "text": f"text {t}", "open": n != "h"} for n, t in world["texts"].items()]
    (data / "corpus.jsonl").write_text(lines_of(lines))
    toml = (
        'format = 1\n[source]\nkind = "jsonl"\npath = "corpus.jsonl"\n'
        'fields = { chunk = "id", text = "text" }\n[chunking]\nrule = "as-is-v1"\n'
        f"[eligible]\nopen = true\n{SPARSE}[labels]\nthreshold = {world['labels']['threshold']}\n"
    )
    (data / "collection.toml").write_text(toml)
    collection = Workspace.at(root).collection(name)
    revision = collection.corpus().revision
    if (complete := world["labels"]["complete"]) != "pooled":
        as_of = {"now": revision}.get(complete, "0" * 64)
        toml += f'completeness = "complete"\ncomplete_as_of = "{as_of}"\n'
        (data / "collection.toml").write_text(toml)
        if complete == "then":
            path = snapshot_path(kept, as_of)
            path.parent.mkdir()
            hashes = [text_hash(f"text {text}") for text in sorted(world["labels"]["then"])]
            path.write_text(lines_of({"format": 1, "text_hash": one} for one in hashes))
    questions = []
    for question, words in world["questions"].items():
        one = {"format": 1, "id": question, "text": f"What of {question}?", **words}
        if one.pop("unsupported"):
            one["unsupported_as_of"] = revision
        questions.append(one)
    (kept / "questions.jsonl").write_text(lines_of(questions))
    collection = Workspace.at(root).collection(name)
    loaded = load(collection)
    write_ledger(kept, world, loaded)
    return load(collection)


def write_ledger(kept, world, loaded):
    said = [
        (author, question, chunk, *one)
        for question, chunk, given in world["judgments"]
        for author, one in zip(("ann", "bob"), given, strict=False)
    ]
    # One label at least names a chunk of the corpus.
    for author, question, chunk, grade, age, how in (("zoe", "q4", "a", 1, "now", ""), *said):
        known = loaded.corpus.chunks.get(key(chunk))
        if known is not None and not known.eligible:
            continue  # refused, and not what this is about
        if known is None:
            hashes = {"text_hash": None, "no_text": True}
        else:
            other = "f" * 64 if age == "other text" else known.text_hash
            hashes = {"text_hash": None if age == "by hand" else other}
        asks = "e" * 64 if age == "other question" else loaded.questions[question].hash
        kind = {"kind": "cannot-judge", "reason": "broken text"} if grade is None else {}
        event = new_judgment(
            author, question, key(chunk), grade=grade, blind=how != "seen",
            adjudication=how == "last word" and grade is not None,
            text_hash=hashes["text_hash"], question_hash=None if age == "by hand" else asks,
            guidelines=None, **kind,
        )  # fmt: skip
        if "no_text" in hashes:
            event = event.model_copy(update={"no_text": True})
        with (kept / f"judgments/{author}.jsonl").open("ab") as file:
            file.write(event_line(event))
    retired = [
        {
            "format": 1, "event": f"r{n}", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
            "kind": "retire-label", "question": question, "chunk": [*[chunk, "as-is-v1"], chunk],
            "note": "gone", **({"text_hash": loaded.corpus.chunks[key(chunk)].text_hash} if by_text
            else {}),
        }
        for n, (question, chunk, by_text) in enumerate(world["retired"])
    ]  # fmt: skip
    (kept / "events/ann.jsonl").write_text(lines_of(retired))


def rankings_of(world, loaded, imported):
    """Rankings in the order the store will have them, and what was asked."""
    found, worded = [], {}
    for question, one in world["rankings"].items():
        fate = "asked" if imported else one["fate"]
        if fate == "not asked":
            continue
        worded[question] = loaded.questions[question].text
        if fate == "reworded":
            worded[question] += " Really?"
        if fate == "failed":
            found.append(Ranking(question, failure="the server is gone"))
            continue
        keys = [key(n) for n in one["names"] if imported or n in ANSWERS]
        usable = [k for k in keys if k in loaded.corpus.eligible or k.chunk in TEXTLESS]
        pairs = list(zip(usable[: one["length"]], one["scores"], strict=False))
        if world["kind"] != "rank":
            pairs.sort(key=lambda pair: (-pair[1], pair[0]))
        hits = (Hit(rank, k, score) for rank, (k, score) in enumerate(pairs, start=1))
        found.append(Ranking(question, tuple(hits)))
    if not imported:
        found.append(Ranking("left long ago", (Hit(1, key("a"), 0.5),)))
        worded["left long ago"] = "What was that?"
    return found, worded

"""`desk search`: one question in the terminal, and nothing that is kept of it."""

import json
from itertools import takewhile

import pytest

from app.core.text import text_hash
from tests.conftest import judgment, no_constant
from tests.retrievers import Endpoint, Reply, external, hits

TOP = [
    "format", "collection", "question", "category", "kind", "text", "k", "label_revision",
    "configurations",
]  # fmt: skip
SIDE = [
    "configuration", "failure", "embed_ms", "search_ms", "score_ms", "hits", "scores",
    "fact_recall", "acceptance", "lost", "run_with",
]  # fmt: skip
#: What a hit has beside what a hit of `ranking` has.
HIT = {"cut", "tied", "moved_from", "ndcg", "title", "section", "text", "fields"}
LOST = ["chunk", "grade", "cause", "words", "rank", "exact_rank", "score"]
TEXTS = {f"a{n:02}": "apple " * (13 - n) + "pear " * n for n in range(12)}
TEXTS["other"] = "Nothing of the kind."


@pytest.fixture
def asked(desk, runbooks):
    """Asks in the runbooks; nothing may be written by it."""

    def run(*words):
        before = files(runbooks)
        answer = desk(runbooks, "search", "runbooks", *words)
        assert files(runbooks) == before and not (runbooks / "data/desk.duckdb").exists()
        return answer

    return run


def files(root):
    return {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


def rows(answer):
    """The lines of the table of hits, by what stands in their columns."""
    lines = answer.out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("rank"))
    table = takewhile(str.strip, lines[start + 2 :])
    return [line for line in table if not line.startswith("(in brackets")]


def test_a_question_by_its_id_has_hits_scores_and_lost_evidence(asked):
    answer = asked("restart-recovery", "--configuration", "dense", "--k", "3")
    assert answer.code == 0 and answer.err == ""
    assert answer.out.startswith(
        "Is unfinished work lost when a process crashes and comes back up?\n"
        "restart-recovery · paraphrase · answerable\n"
    )
    assert rows(answer)[0].split()[:3] == ["1", "0.4515", "0"]
    assert rows(answer)[3].lstrip().startswith("(4)")
    assert "(in brackets: beyond K = 3, not scored)" in answer.out
    assert "nDCG@3" in answer.out and "none relevant" in answer.out
    assert "at most 0.333 attainable" in answer.out
    assert (
        "Lost evidence\n  durable-work-queue recovery/p0 (grade 2): ranked deeper: rank 5 of 7 in "
        "an exact search; score 0.2782, rank 3 has 0.3194"
    ) in answer.out


def test_by_its_text_it_is_the_same_question(asked):
    text = "Is unfinished work lost when a process crashes and comes back up?"
    for words in (text, f"  {text}\n"):
        found = asked(words, "-c", "sparse", "--json").json
        assert (found["question"], found["category"], found["kind"]) == (
            "restart-recovery", "paraphrase", "answerable",
        )  # fmt: skip
        assert found["text"] == text and found["k"] == 3
        (side,) = found["configurations"]
        assert side["scores"]["question"] == "restart-recovery" and side["lost"] == []
    assert "none: every relevant chunk is within K" in asked(text, "-c", "sparse").out


def test_own_words_are_searched_and_never_scored(asked):
    answer = asked("lost messages after a crash")
    assert "of no question of the collection: nothing is judged, so nothing is scored" in answer.out
    assert "nDCG" not in answer.out and "Lost evidence" not in answer.out
    assert rows(answer)[0].split()[2] == "unjudged"
    found = asked("lost messages after a crash", "--json").json
    assert [found[name] for name in ("question", "category", "kind")] == [None] * 3
    (side,) = found["configurations"]
    assert side["configuration"] == "dense" and len(side["hits"]) == 7
    assert (side["scores"], side["acceptance"], side["fact_recall"]) == (None, None, None)
    assert side["lost"] == [] and {one["state"] for one in side["hits"]} == {"unjudged"}


def test_two_configurations_stand_below_each_other_with_their_moves(asked):
    words = ("restart-recovery", "-c", "dense", "-c", "sparse")
    text = asked(*words).out
    assert text.index("dense: embedded in ") < text.index("sparse: searched in ")
    assert "1 higher than in sparse (rank 2)" in text and "not returned by sparse" in text
    first, second = asked(*words, "--json").json["configurations"]
    assert [one["configuration"] for one in (first, second)] == ["dense", "sparse"]
    there = {tuple(one["chunk"]): one["rank"] for one in second["hits"]}
    assert [one["moved_from"] for one in first["hits"]] == [
        there.get(tuple(one["chunk"])) for one in first["hits"]
    ]
    assert None in [one["moved_from"] for one in first["hits"]]


@pytest.mark.parametrize("words", [("dense",), ("dense", "sparse")], ids=["one", "two"])
def test_json_has_the_keys_the_readme_lists(asked, words, repository):
    options = [part for name in words for part in ("-c", name)]
    answer = asked("restart-recovery", *options, "--json")
    found = answer.json
    assert list(found) == TOP and found["format"] == 1
    for side in found["configurations"]:
        assert list(side) == SIDE and side["failure"] is None
        assert all(set(one) > HIT for one in side["hits"])
        assert all(list(one) == LOST for one in side["lost"])
        assert side["run_with"]["depth of this search"] == "20"
    assert any(side["lost"] for side in found["configurations"])
    # It is one document that means the same when it is written again.
    assert json.loads(json.dumps(found, allow_nan=False), parse_constant=no_constant) == found
    readme = (repository / "README.md").read_text(encoding="utf-8")
    (said,) = [line for line in readme.split("\n\n") if line.startswith("`desk search --json` has")]
    for name in (*TOP, *SIDE, *HIT, *LOST):
        assert f"`{name}`" in said, name


def test_the_ndcg_of_the_hits_adds_up_to_the_score(asked):
    for name in ("drain-deadline", "shutdown-sequence", "retry-budget"):
        (side,) = asked(name, "-c", "hybrid", "--json").json["configurations"]
        added = [one["ndcg"] for one in side["hits"] if one["ndcg"] is not None]
        assert len(added) == 3 and sum(added) > 0
        assert sum(added) == pytest.approx(side["scores"]["ndcg"])


def test_an_unsupported_question_has_acceptance_and_no_score(asked):
    text = asked("ingress-timeout").out
    assert "Unsupported: the corpus holds no answer. 3 hits within K" in text
    assert "nDCG" not in text and "Lost evidence" not in text
    (side,) = asked("ingress-timeout", "--json").json["configurations"]
    assert side["acceptance"]["hits"] == 3 and side["acceptance"]["accepted"] is None
    assert side["scores"]["outcome"] == "not applicable"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("drain-deadline", "-c", "densest"), "densest"),
        (("drain-deadline", "-c", "dense", "-c", "sparse", "-c", "hybrid"),
         "3 configurations are too many to lay side by side. Name one or two"),
        (("  ",), "the question is blank. Write what is to be searched for"),
        (("",), "the question is blank"),
    ],
    ids=["unknown configuration", "three", "blank", "empty"],
)  # fmt: skip
def test_what_cannot_be_asked_is_one_sentence(asked, words, said):
    for more in ((), ("--json",)):
        answer = asked(*words, *more)
        assert answer.code == 2 and answer.out == ""
        (error,) = answer.errors
        assert said in error


@pytest.mark.parametrize("k", ["0", "-1", "10001", "three", "1.5"])
def test_a_k_that_is_none_is_refused(asked, k):
    answer = asked("drain-deadline", f"--k={k}")
    assert answer.code == 2 and answer.out == "" and "--k" in answer.err


def test_any_other_k_is_searched_deep_enough(asked):
    found = asked("drain-deadline", "--k", "10000", "--json").json
    (side,) = found["configurations"]
    assert found["k"] == side["scores"]["k"] == 10_000
    assert side["run_with"]["depth of this search"] == "10005" and len(side["hits"]) == 7


def test_an_unknown_collection_is_told_with_those_there_are(desk, runbooks):
    answer = desk(runbooks, "search", "nobooks", "drain-deadline")
    assert answer.code == 2 and "nobooks" in answer.err and "runbooks" in answer.err


def test_a_search_that_fails_has_an_exit_code_of_its_own(desk, indexed):
    endpoint = Endpoint(lambda question, k: Reply({"error": "no"}, 500))
    root = indexed(configurations=external(endpoint=endpoint.url))
    answer = desk(root, "search", "tiny", "q1")
    assert answer.code == 2 and "The search failed: " in answer.out
    assert "nDCG" not in answer.out and "Lost evidence" not in answer.out
    answer = desk(root, "search", "tiny", "q1", "--json")
    (side,) = answer.json["configurations"]
    assert answer.code == 2 and "500" in side["failure"]
    assert (side["hits"], side["lost"], side["run_with"]) == ([], [], {})
    assert list(side) == SIDE and side["scores"]["outcome"] == "failed"
    endpoint.say = lambda question, k: hits("apple", "pear")
    answer = desk(root, "search", "tiny", "q1", "--json")
    endpoint.stop()
    assert answer.code == 0 and len(answer.json["configurations"][0]["hits"]) == 2
    assert not (root / "data/desk.duckdb").exists()


def test_one_of_two_that_fails_leaves_the_other(desk, indexed):
    endpoint = Endpoint(lambda question, k: Reply({"error": "no"}, 500))
    more = '[configurations.sparse]\nmode = "sparse"\n' + external(endpoint=endpoint.url)
    root = indexed(configurations=more)
    answer = desk(root, "search", "tiny", "q1", "-c", "pipeline", "-c", "sparse")
    endpoint.stop()
    assert answer.code == 2 and "The search failed: " in answer.out and "nDCG@3" in answer.out


def test_lost_evidence_is_told_alike_in_both_forms(desk, indexed):
    labels = [("q1", "a00", 2), ("q1", "a05", 1), ("q1", "other", 2), ("q1", "a11", 2)]
    texts = {**TEXTS, "twin": TEXTS["a00"]}
    gone = judgment("q1", "gone", 2, 9, text_hash=text_hash("Once here."))
    root = indexed(texts, {"q1": "apple"}, [*labels, gone])
    found = desk(root, "search", "tiny", "q1", "--k", "1", "--json").json
    lost = found["configurations"][0]["lost"]
    assert {one["chunk"][0]: one["cause"] for one in lost} == {
        "twin": "duplicate text of a hit",
        "a05": "ranked deeper",
        "a11": "ranked deeper",
        "other": "no word in common",
        "gone": "no longer in the corpus",
    }
    text = desk(root, "search", "tiny", "q1", "--k", "1").out
    listed = text[text.index("Lost evidence") :].splitlines()[1:]
    assert listed == [f"  {one['chunk'][0]} (grade {one['grade']}): {one['words']}" for one in lost]


def test_what_a_threshold_cuts_is_marked_and_not_called_beyond_k(desk, indexed, edit):
    root = indexed(TEXTS, {"q1": "apple"}, [("q1", "a00", 2), ("q1", "a02", 2)])
    uncut = desk(root, "search", "tiny", "q1", "--json").json["configurations"][0]["hits"]
    edit(root / "data/tiny/collection.toml", 'mode = "sparse"',
         f'mode = "sparse"\nthreshold = {uncut[1]["score"]!r}')  # fmt: skip
    answer = desk(root, "search", "tiny", "q1")
    assert [row.split()[0] for row in rows(answer)] == ["1", "2"] + ["cut"] * 5
    assert "in brackets" not in answer.out
    (side,) = desk(root, "search", "tiny", "q1", "--json").json["configurations"]
    assert [one["cut"] for one in side["hits"]] == [False] * 2 + [True] * 5
    assert all(one["ndcg"] is None for one in side["hits"] if one["cut"])
    assert [one["cause"] for one in side["lost"]] == ["cut by the threshold"]

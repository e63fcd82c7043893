"""Published collections, imported by command and scored, against plain arithmetic."""

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from json import loads
from math import log2
from pathlib import Path

import pytest
from click.testing import CliRunner

import app.cli
from app import api
from app.core.metrics import METRICS

DATASETS = Path(__file__).parents[2] / "shared/datasets"
HAYSTACK, CODE, ORACLE = (
    DATASETS / name for name in ("quepid-haystack", "anthropic-codebase", "trec-eval-oracle")
)
CUTOFFS = (1, 3, 5, 10)
SCALE = {0: 0, 1: 1, 2: 1, 3: 2}


def beside(folder):
    return pytest.mark.skipif(
        not folder.is_dir(), reason=f"{folder.name} is not beside this repository"
    )


@dataclass
class Desk:
    """A workspace and what its commands said."""

    root: Path

    def __call__(self, *words, code=0):
        done = CliRunner().invoke(app.cli.desk, ["-w", str(self.root), *map(str, words)])
        assert done.exit_code == code, done.output
        return done

    def json(self, *words):
        return loads(self(*words, "--json").stdout)

    def mean(self, execution, k):
        (one,) = [
            e for e in self.json("executions")["executions"] if e["configuration"] == execution
        ]
        return next(row for row in one["means"] if row["k"] == k)


def desk_in(folder):
    (folder / "data").mkdir()
    return Desk(folder)


def lines(path):
    return [loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def words(path):
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]


def by_hand(ranked, grades, k):
    """The metrics of grades in rank order (None: unjudged, as 0) by plain arithmetic."""
    top = [grade or 0 for grade in ranked[:k]]
    relevant = sum(grade >= 1 for grade in grades)
    hits = [rank for rank, grade in enumerate(top, start=1) if grade]
    gain = sum((2**g - 1) / log2(rank + 1) for rank, g in enumerate(top, start=1))
    ideal = sorted(grades, reverse=True)[:k]
    best = sum((2**g - 1) / log2(rank + 1) for rank, g in enumerate(ideal, start=1))
    values = (len(hits) / k, len(hits) / relevant, 1 / hits[0] if hits else 0.0, gain / best)
    return dict(zip(METRICS, (*values, float(bool(hits))), strict=True))


def average(values):
    values = list(values)
    return sum(values) / len(values)


@pytest.fixture(scope="module")
def haystack(tmp_path_factory):
    """The e-commerce collection with both runs; what each import said."""
    desk = desk_in(tmp_path_factory.mktemp("haystack"))
    said = [
        desk("import", "haystack", kind, HAYSTACK / file, *more).output
        for kind, file, *more in (
            ("corpus", "corpus.jsonl"),
            ("questions", "queries.jsonl"),
            ("labels", "qrels.snapshot.trec", "--grades", "0=0,1=1,2=1,3=2"),
            ("run", "run.no-vector.trec"),
            ("run", "run.with-vector.trec"),
        )
    ]
    return desk, said


@beside(HAYSTACK)
def test_what_the_imports_of_haystack_count(haystack):
    _, (corpus, questions, labels, without, vectors) = haystack
    assert "1,558 rows read, chunks of haystack: 1,558 new" in corpus
    assert "137 rows read, questions of haystack: 137 new" in questions
    assert "1,659 rows read, labels of haystack: 1,588 new" in labels
    assert "53 left out (same text), 18 left out (same text, another grade), 0 refused" in labels
    assert "Chunks without a text here: 57" in labels
    assert "Chunks without a text here: 79" in without
    assert "Chunks without a text here" not in vectors
    assert "1,350 new, 0 there already, 3 left out (named before, first rank kept)" in vectors
    assert "Questions whose scores and ranks disagree: 123. The rank column decides." in vectors
    for run in (without, vectors):
        assert "137 questions: 129 answerable" in run
        assert "6 no evidence yet, 2 undecided" in run


@pytest.fixture(scope="module")
def haystack_by_hand():
    """Grades by question and product, those of one text together; the products by question."""
    text_of = {
        one["doc_id"]: unicodedata.normalize("NFC", one["text"]).rstrip()
        for one in lines(HAYSTACK / "corpus.jsonl")
    }
    products = defaultdict(list)
    for product, text in text_of.items():
        products[text].append(product)
    grades = defaultdict(dict)
    for question, _, product, grade in words(HAYSTACK / "qrels.snapshot.trec"):
        # One text, one grade: the first that is given counts for every product of that text.
        for twin in products.get(text_of.get(product), [product]):
            grades[question].setdefault(twin, SCALE[int(grade)])
    return grades


@beside(HAYSTACK)
@pytest.mark.parametrize("run", ["no-vector", "with-vector"])
def test_scores_of_haystack_are_those_of_plain_arithmetic(haystack, haystack_by_hand, run):
    desk, _ = haystack
    grades = haystack_by_hand
    rows = defaultdict(list)
    for question, _, product, rank, *_ in words(HAYSTACK / f"run.{run}.trec"):
        rows[question].append((int(rank), product))
    ranked = {
        question: list(dict.fromkeys(product for _, product in sorted(hits, key=lambda h: h[0])))
        for question, hits in rows.items()
    }
    scored = [question for question, judged in grades.items() if any(judged.values())]
    assert (len(grades), len(scored)) == (135, 129)
    found = api.score_run(
        HAYSTACK / f"run.{run}.trec", collection="haystack", workspace=desk.root, k=CUTOFFS
    )
    mine = {(row["question"], row["k"]): row for row in found.questions.to_dict("records")}
    for k in CUTOFFS:
        plain = {}
        for question in scored:
            judged = grades[question]
            top = [judged.get(product) for product in ranked[question]]
            plain[question] = by_hand(top, judged.values(), k)
            row = mine[question, k]
            assert {m: row[f"{m}_as_0"] for m in METRICS} == pytest.approx(plain[question])
            assert row["judged"] == pytest.approx(average(g is not None for g in top[:k]))
            assert row["relevant"] == sum(g >= 1 for g in judged.values())
            assert row["provisional"] == (None in top[:k])
        mean = found.means[(found.means["k"] == k) & found.means["category"].isna()].iloc[0]
        for metric in METRICS:
            name = "mrr" if metric == "rr" else metric
            assert mean[f"{name}_as_0"] == pytest.approx(average(p[metric] for p in plain.values()))


@beside(HAYSTACK)
def test_what_is_stored_of_haystack_is_what_is_scored_without_a_store(haystack):
    desk, said = haystack
    for run, printed in zip(("no-vector", "with-vector"), said[3:], strict=True):
        path = HAYSTACK / f"run.{run}.trec"
        found = api.score_run(path, collection="haystack", workspace=desk.root, k=[10]).means.loc[0]
        mine = [f"{found[f'{n}_as_0']:.3f}" for n in ("precision", "recall", "mrr", "ndcg", "hit")]
        assert [run, "10", *mine] in [line.split() for line in printed.splitlines()]
        row = desk.mean(run, 10)
        assert (row["scored"], row["provisional"], row["ndcg"]) == (129, True, None)


@beside(HAYSTACK)
def test_both_runs_of_haystack_compare_over_all_answerable_questions(haystack):
    desk, _ = haystack
    found = desk.json("compare", "no-vector", "with-vector")
    overall = [row for row in found["means"] if row["category"] is None]
    assert {row["n"] for row in overall} == {129} and len(overall) == 20
    for row in overall:
        assert row["wins"] + row["losses"] + row["ties"] + row["undecided"] == 129
        assert row["undecided"] > 0 and row["delta"] is None
    assert found["only_in_baseline"] == found["only_in_candidate"] == []


def code_in(folder):
    desk = desk_in(folder)
    corpus = ("--column", "document=parent_id", "--complete")
    assert "737 new" in desk("import", "code", "corpus", CODE / "corpus.jsonl", *corpus).output
    assert "248 new" in desk("import", "code", "questions", CODE / "queries.jsonl").output
    assert "306 new" in desk("import", "code", "labels", CODE / "qrels.trec").output
    return desk


def originals():
    """The labeled chunks of every question, twins not among them."""
    found = defaultdict(set)
    for question, _, chunk, _ in words(CODE / "qrels.trec"):
        found[question].add(chunk)
    return found


def without_twins(evaluation, k):
    """nDCG@K and Recall@K of rankings against the pairs of the file alone."""
    relevant, values = originals(), []
    for row in evaluation["questions"]:
        if row["k"] == k:
            mine = relevant[row["question"]]
            ranked = [int(hit["chunk"][2] in mine) for hit in row["ranking"]]
            values.append(by_hand(ranked, [1] * len(mine), k))
    assert len(values) == 248
    return average(v["ndcg"] for v in values), average(v["recall"] for v in values)


@beside(CODE)
def test_sparse_search_of_code(tmp_path):
    desk = code_in(tmp_path)
    settings = tmp_path / "data/code/collection.toml"
    parts = settings.read_text().split("[configurations.")
    settings.write_text(
        "[configurations.".join(p for p in parts if not p.startswith(("dense", "hybrid")))
    )
    desk("index", "code")
    (one,) = desk.json("evaluate", "code")["executions"]
    assert (one["configuration"], one["status"], one["points"]) == ("sparse", "complete", 737)
    overall = {row["k"]: row for row in one["means"] if row["category"] is None}
    assert {row["scored"] for row in overall.values()} == {248}
    assert {(row["judged"], row["provisional"]) for row in overall.values()} == {(1, False)}
    assert overall[10]["ndcg"] == pytest.approx(0.691, abs=2e-3)
    assert overall[10]["recall"] == pytest.approx(0.832, abs=2e-3)
    relevant = sum(row["relevant"] for row in one["questions"] if row["k"] == 10)
    assert relevant == 332 > sum(map(len, originals().values())) == 306


@pytest.mark.slow
@beside(CODE)
@pytest.mark.timeout(900)  # 737 long chunks to embed, on whatever machine
def test_dense_and_hybrid_search_of_code(tmp_path):
    desk = code_in(tmp_path)
    assert "Chunks longer than the embedder reads were cut: 170" in desk("index", "code").output
    found = {one["configuration"]: one for one in desk.json("evaluate", "code")["executions"]}
    assert without_twins(found["dense"], 10) == pytest.approx((0.580, 0.715), abs=2e-3)
    means = {
        name: next(r for r in one["means"] if (r["k"], r["category"]) == (10, None))
        for name, one in found.items()
    }
    for name in ("ndcg", "recall"):
        hybrid = means["hybrid"][name]
        assert hybrid > means["dense"][name] and hybrid > means["sparse"][name]


def expected(file, question="all"):
    """The values trec_eval printed, by measure."""
    rows = (line.split() for line in (ORACLE / file).read_text().splitlines())
    return {row[0]: float(row[2]) for row in rows if len(row) == 3 and row[1] == question
            and row[0][0].isalpha() and row[0] != "runid"}  # fmt: skip


def in_their_order(run, folder):
    """The run as trec_eval ranks it: by score, then by document, both descending."""
    rows = sorted(words(ORACLE / run), key=lambda r: (float(r[4]), r[2]), reverse=True)
    path = folder / "sorted.run"
    path.write_text("".join(f"{' '.join([*r[:3], str(n), *r[4:]])}\n" for n, r in enumerate(rows)))
    return path


@beside(ORACLE)
@pytest.mark.parametrize("qrels", ["qrels.test", "qrels.test.with-comments"])
@pytest.mark.parametrize(
    ("run", "output"), [("results.test", "out.test.a"), ("results.trunc", "out.test.aqc")]
)
def test_desk_score_has_the_numbers_of_trec_eval(tmp_path, run, output, qrels):
    words_ = (
        "score",
        in_their_order(run, tmp_path),
        ORACLE / qrels,
        "--k",
        "5,10,20,1000",
        "--json",
    )
    done = CliRunner().invoke(app.cli.desk, [str(word) for word in words_])
    assert done.exit_code == 0
    found, wanted = {row["k"]: row for row in loads(done.stdout)["means"]}, expected(output)
    for k in (5, 10, 20):
        zero = found[k]["unjudged_as_0"]
        assert zero["precision"] == pytest.approx(wanted[f"P_{k}"], abs=5.001e-5)
        assert zero["recall"] == pytest.approx(wanted[f"recall_{k}"], abs=5.001e-5)
        assert zero["ndcg"] == pytest.approx(wanted[f"ndcg_cut_{k}"], abs=5.001e-5)
    assert found[1000]["unjudged_as_0"]["mrr"] == pytest.approx(wanted["recip_rank"], abs=5.001e-5)
    more = "more columns than 6" in done.stderr
    assert more == (run == "results.trunc")

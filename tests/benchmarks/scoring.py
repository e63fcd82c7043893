"""From stored rankings to means, against pytrec_eval on the same data in the same run.

    python -m tests.benchmarks.scoring [--questions 10000] [--hits 1000]

Every hit is judged. Precision, recall, RR and nDCG at 10 and 100 are computed by both: here from
the store (rankings and labels in DuckDB) to means with bounds, there by pytrec_eval, once with
everything its users need (reading the two TREC files into dicts) and once on dicts that are there.
Both must agree on what they define alike. The path of the same run through `desk import` is timed
beside it. Each step runs in a process of its own, so that its peak of memory is its own. Needs
pytrec-eval-terrier.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from app.core.model import ScoringSettings
from app.engines import executions
from app.engines.store import Store
from app.flows.exchange.corpora import import_corpus
from app.flows.exchange.questions import import_questions
from app.flows.exchange.runs import import_run
from app.flows.loading import load
from app.flows.means import means
from app.flows.stored_scoring import score_stored
from app.workspace import Workspace

CUTOFFS = (10, 100)
CHUNKS = 20_000
NAME = "bench"


@contextmanager
def timed(found, name):
    began = time.perf_counter()
    yield
    found[name] = time.perf_counter() - began


def peak():
    """The highest memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def generate(folder, questions, hits):
    """A corpus, questions, a TREC run and qrels with a grade for every hit."""
    random = np.random.default_rng(1)
    (folder / "data").mkdir(parents=True)
    lines = (json.dumps({"id": f"d{n}", "text": f"text {n}"}) + "\n" for n in range(CHUNKS))
    (folder / "corpus.jsonl").write_text("".join(lines))
    lines = (json.dumps({"id": f"q{n}", "text": f"question {n}"}) + "\n" for n in range(questions))
    (folder / "questions.jsonl").write_text("".join(lines))
    scores = [f"{1 - n / hits / 2:.6f}" for n in range(hits)]
    with (folder / "bench.run").open("w") as run, (folder / "bench.qrels").open("w") as qrels:
        for question in range(questions):
            chunks = random.permutation(CHUNKS)[:hits]
            grades = random.choice(3, size=hits, p=[0.95, 0.03, 0.02])
            run.writelines(
                f"q{question} Q0 d{chunk} {rank} {scores[rank - 1]} bench\n"
                for rank, chunk in enumerate(chunks, start=1)
            )
            # What pytrec_eval takes for the gain: 2^grade - 1, with relevance from 1 on.
            qrels.writelines(
                f"q{question} 0 d{chunk} {2**grade - 1}\n"
                for chunk, grade in zip(chunks, grades, strict=True)
            )


def import_all(folder, found):
    """The command's own way into a workspace: corpus, questions, run."""
    workspace = Workspace.at(folder)
    import_corpus(workspace, NAME, folder / "corpus.jsonl")
    import_questions(workspace.collection(NAME), folder / "questions.jsonl")
    before = peak()
    with timed(found, "import"):
        outcome = import_run(workspace.collection(NAME), folder / "bench.run")
    found["rows"], found["import_gb"], found["before_gb"] = outcome.read, peak(), before


def store_labels(folder):
    """A label set in the store with a grade for every hit; a ledger of as many lines is no aim."""
    questions, chunks, grades = [], [], []
    store = Store.at(Workspace.at(folder).store_path)
    loaded = load(Workspace.at(folder).collection(NAME))
    with store.work() as unit:
        here = {"collection": NAME, "revision": "bench", "corpus": loaded.corpus.revision}
        label = unit.rows("label_sets_add", {**here, "judgments": 0})[0]["label_ref"]
        asked = [
            {"question": name, "category": "general", "split": "development", "tags": ["a"],
             "text": question.text, "kind": "answerable"}
            for name, question in loaded.questions.items()
        ]  # fmt: skip
        unit.run("label_questions_add", {"collection": NAME, "label": label}, asked)
        with (folder / "bench.qrels").open() as file:
            for number, line in enumerate(file, start=1):
                question, _, chunk, gain = line.split()
                questions.append(question)
                chunks.append(chunk)
                grades.append((int(gain) + 1).bit_length() - 1)
                if number % 1_000_000 == 0:
                    add_pairs(unit, label, questions, chunks, grades)
        add_pairs(unit, label, questions, chunks, grades)
    return label


def add_pairs(unit, label, questions, chunks, grades):
    table = pa.table(
        {
            "question": questions, "document": chunks, "version": ["as-is-v1"] * len(chunks),
            "chunk": chunks, "state": ["judged"] * len(chunks),
            "grade": pa.array(grades, pa.int8()), "low": pa.array(grades, pa.int8()),
            "high": pa.array(grades, pa.int8()), "departed": [False] * len(chunks),
        }
    )  # fmt: skip
    unit.run("label_pairs_add", {"collection": NAME, "label": label}, table)
    for column in (questions, chunks, grades):
        column.clear()


def score_ours(folder, label, found):
    """Three times, the best one; nothing is kept between them."""
    store = Store.at(Workspace.at(folder).store_path)
    (execution,) = executions.listed(store)
    scoring = ScoringSettings(cutoffs=CUTOFFS)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        overall = [
            mean
            for mean in means(score_stored(store, execution, label, scoring))
            if mean.category is None
        ]
        times.append(time.perf_counter() - began)
    found["ours"], found["ours_gb"] = min(times), peak()
    found["values"] = {
        str(mean.k): [mean.values[name] for name in ("precision", "recall", "ndcg")]
        for mean in overall
    }


def score_theirs(folder, found):
    """pytrec_eval, as its users call it: parse both files, evaluate, average."""
    import pytrec_eval

    cutoffs = ",".join(map(str, CUTOFFS))
    wanted = {f"{name}.{cutoffs}" for name in ("P", "recall", "ndcg_cut")} | {"recip_rank"}
    began = time.perf_counter()
    with (folder / "bench.qrels").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with (folder / "bench.run").open() as file:
        run = pytrec_eval.parse_run(file)
    parsed = time.perf_counter()
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, wanted)
    bare = time.perf_counter()
    results = evaluator.evaluate(run)
    names = [f"{name}_{k}" for k in CUTOFFS for name in ("P", "recall", "ndcg_cut")]
    averages = {name: sum(one[name] for one in results.values()) / len(results) for name in names}
    ended = time.perf_counter()
    found["theirs_file"], found["theirs_dicts"] = ended - began, ended - parsed
    found["theirs_bare"], found["theirs_gb"] = ended - bare, peak()
    found["values"] = {
        str(k): [averages[f"{name}_{k}"] for name in ("P", "recall", "ndcg_cut")] for k in CUTOFFS
    }


def step(name, *words):
    """Run one step in a process of its own; returns what it found."""
    command = [sys.executable, "-m", "tests.benchmarks.scoring", "--step", name, *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def inside(words):
    """A step, in its own process."""
    name, folder, *more = words
    found = {}
    if name == "import":
        import_all(Path(folder), found)
    elif name == "labels":
        found["label"] = store_labels(Path(folder))
    elif name == "ours":
        score_ours(Path(folder), int(more[0]), found)
    else:
        score_theirs(Path(folder), found)
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--hits", type=int, default=1_000)
    parser.add_argument("--step", nargs="+")
    asked = parser.parse_args()
    if asked.step:
        inside(asked.step)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "workspace"
        generate(folder, asked.questions, asked.hits)
        imported = step("import", folder)
        label = step("labels", folder)["label"]
        ours = step("ours", folder, label)
        theirs = step("theirs", folder)
    apart = max(
        abs(a - b)
        for k in ours["values"]
        for a, b in zip(ours["values"][k], theirs["values"][k], strict=True)
    )
    print(f"{asked.questions:,} questions x {asked.hits:,} hits, all judged; at {CUTOFFS}")
    print(f"ours, store to means with bounds  {ours['ours']:6.2f} s  peak {ours['ours_gb']:.2f} GB")
    for key, words in (
        ("theirs_file", "from its two files"),
        ("theirs_dicts", "from dicts, evaluator counted"),
        ("theirs_bare", "bare scoring and averaging"),
    ):
        ratio = theirs[key] / ours["ours"]
        print(f"pytrec_eval, {words:30s} {theirs[key]:6.2f} s  {ratio:.1f} times ours")
    print(
        f"pytrec_eval's peak {theirs['theirs_gb']:.2f} GB; largest difference of a mean {apart:.1e}"
    )
    rate = imported["rows"] / imported["import"]
    print(
        f"import of the run: {imported['rows']:,} rows in {imported['import']:.1f} s "
        f"({rate:,.0f} a second), peak {imported['import_gb']:.2f} GB "
        f"({imported['before_gb']:.2f} before)"
    )


if __name__ == "__main__":
    main()

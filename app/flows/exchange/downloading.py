"""What a collection gives out, as files to be downloaded: made when they are asked for."""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from app.core.labels import Labels
from app.flows.exchange.exporting import Choice, send_out
from app.flows.loading import Loaded
from app.flows.wording import count

#: One time for all members: the same labels give the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)
_MAP = ".map.jsonl"


@dataclass(frozen=True, slots=True)
class Form:
    """A form of download: the end of its file's name, its kind of export, and what it is."""

    ending: str
    kind: str
    title: str
    words: str

    @property
    def judged(self) -> bool:
        """Whether it holds what people said of chunks."""
        return self.kind != "questions"


FORMS = (
    Form("labels.jsonl", "labels", "Labels, lossless (JSON lines)",
         "Every event as it stands in the ledger; imported elsewhere and exported again it gives "
         "the same bytes."),
    Form("labels.csv", "labels", "Labels for people (CSV)",
         "Every event, one a row, with the question's words; formulas are defused."),
    Form("qrels.trec", "labels", "TREC qrels", "Effective grades for other tools."),
    Form(f"qrels.trec{_MAP}", "labels", "Map of the qrels",
         "What each id in the qrels stands for; an import takes it beside them."),
    Form("beir.zip", "beir", "BEIR folder (zip)",
         "Eligible chunks, questions and effective grades by split."),
    Form("questions.jsonl", "questions", "Questions, lossless (JSON lines)",
         "Every question that is asked; retired ones stay out."),
    Form("questions.csv", "questions", "Questions for people (CSV)", "The same, one a row."),
)  # fmt: skip


def file_name(loaded: Loaded, form: Form) -> str:
    """What the downloaded file is called."""
    return f"{loaded.collection.name}-{form.ending}"


def counts(loaded: Loaded, form: Form) -> str:
    """How much is in it, in words: `496 events`; what stays out is counted too.

    Raises InvalidInput where a line of the ledger is refused.
    """
    if form.kind == "questions":
        return count(len(loaded.questions), "question")
    if form.ending.startswith("labels."):
        collection = loaded.collection
        events = len(collection.ledger.read().events) + len(collection.events.read().events)
        return count(events, "event")
    pairs, left_out = _pairs(loaded.labels)
    if form.kind == "beir":
        return (
            f"{count(len(loaded.corpus.eligible), 'chunk')}, "
            f"{count(len(loaded.questions), 'question')}, {count(pairs, 'pair')}"
        )
    if form.ending.endswith(_MAP):
        return count(pairs, "pair")
    out = "".join(
        f"; {number:,} left out ({what.replace('-', ' ')})" for what, number in left_out.items()
    )
    return f"{count(pairs, 'pair')}{out}"


def _pairs(labels: Labels) -> tuple[int, Counter[str]]:
    """Pairs with one effective grade, and those without by their state."""
    left_out: Counter[str] = Counter()
    for label in labels.pairs.values():
        if label.state == "retired" or label.grade is None:
            left_out[label.state] += 1
    return len(labels.pairs) - left_out.total(), left_out


def made(loaded: Loaded, form: Form) -> bytes:
    """The file, as `desk export` makes it. Raises as `send_out`."""
    with tempfile.TemporaryDirectory() as folder:
        ending = form.ending.removesuffix(_MAP) if form.ending.endswith(_MAP) else form.ending
        path = Path(folder) / (ending if form.kind != "beir" else "beir")
        written = send_out(loaded.collection, form.kind, path, Choice(), loaded)
        if form.kind == "beir":
            return _packed(path, Path(folder) / form.ending, written.files)
        return (Path(folder) / form.ending).read_bytes()


def _packed(folder: Path, into: Path, files: list[Path]) -> bytes:
    """A folder as one file; its members are in a folder of its name."""
    with zipfile.ZipFile(into, "w") as packed:
        for file in files:
            info = zipfile.ZipInfo(f"{folder.name}/{file.relative_to(folder).as_posix()}", _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            with packed.open(info, "w") as target, file.open("rb") as source:
                while block := source.read(1 << 20):
                    target.write(block)
    return into.read_bytes()

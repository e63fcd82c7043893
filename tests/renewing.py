"""A workspace whose texts and questions are changed by hand after they were judged."""

import json

import pytest

from app.core.errors import LabelConflict
from app.flows import archive
from app.flows.labeling import grade, item
from app.flows.loading import load
from app.flows.renewing import confirm, stale_of
from tests.conftest import lines_of

FILE = "labels/tiny/judgments/{}.jsonl"
FIELDS = ', document = "doc", version = "cut"'


def text_of(number, day="3 May"):
    return f"Part {number} is about thing {number}. It has words.\n\nLast reviewed on {day} 2026."


def rows(day="3 May", count=12):
    """Chunks of one document."""
    return [{"id": f"c{n}", "doc": "d", "cut": "v1", "text": text_of(n, day)} for n in range(count)]


class Desk:
    """A workspace whose corpus and questions are changed by hand."""

    def __init__(self, root, collection_of):
        self.root, self._of = root, collection_of

    @classmethod
    def of(cls, tiny, collection_of, *, texts=(), settings=""):
        """Twelve chunks of one document, and no label."""
        texts = list(texts) or rows()
        return cls(tiny(texts=texts, labels=(), fields=FIELDS, settings=settings), collection_of)

    def load(self):
        return load(self._of(self.root))

    def corpus(self, *records):
        (self.root / "data/tiny/corpus.jsonl").write_text(lines_of(records), encoding="utf-8")

    def lines(self, name="ann"):
        path = self.root / FILE.format(name)
        return [json.loads(line) for line in path.read_text().splitlines()]

    def grade(self, chunk, value, reviewer="ann", question="q1", **more):
        """A grade as the page gives it; `more` goes into its line."""
        loaded = self.load()
        key = next(key for key in loaded.corpus.eligible if key.chunk == chunk)
        event = grade(loaded, reviewer, item(loaded, question, key), value).event
        if more:
            path = self.root / FILE.format(reviewer)
            kept = path.read_text().splitlines()[:-1]
            changed = json.dumps({**event.model_dump(), **more})
            path.write_text("".join(line + "\n" for line in [*kept, changed]))
        return event

    def keep(self):
        """What indexing does for the archive."""
        assert archive.keep_labeled(self.load()) == ()

    def stale(self, reviewer="ann"):
        return stale_of(self.load(), reviewer)

    def ask(self, question, **more):
        path = self.root / "labels/tiny/questions.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(lines_of({**q, **more} if q["id"] == question else q for q in found))


def conflict(*words, **more):
    with pytest.raises(LabelConflict) as caught:
        confirm(*words, **more)
    return str(caught.value)

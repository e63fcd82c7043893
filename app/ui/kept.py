"""What one process keeps between reruns, for all sessions."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from app.core.errors import DeskError
from app.engines.retrieval import Engine
from app.flows.bench import Bench
from app.flows.claims import Claims
from app.flows.loading import Loaded, load
from app.flows.pooling import pool_of
from app.flows.sharing.unpublished import Watch
from app.workspace import Collection, Signature, Workspace, signature_of

#: Filled engines kept in memory; the oldest goes first.
_MOST_ENGINES = 4
#: Seconds for which an engine that could not be opened is not tried again.
_FAILED_FOR = 2.0


@dataclass
class _One:
    """What is kept of one collection, and the state of the files it was read from."""

    collection: Collection
    source: Signature
    asked: Signature
    labels: Signature
    loaded: Loaded
    claims: Claims = field(default_factory=Claims)
    bench: Bench | None = None
    #: What the bench stands on: guidelines, and what has been run.
    guidelines: str | None = None
    runs: Signature = ()


class Kept:
    """Reading a collection never waits for an engine to be filled, and filling one engine never
    for another: saving a label must not wait for a search.
    """

    def __init__(self) -> None:
        """Nothing is read before it is asked for."""
        self._reading = Lock()
        self._collections: dict[str, _One] = {}
        self._filling = Lock()
        self._engines: OrderedDict[str, _Engine] = OrderedDict()
        self.watch = Watch()

    def loaded(self, workspace: Workspace, name: str) -> Loaded:
        """A collection as its files are now; what has not changed is not read again."""
        with self._reading:
            return self._one(workspace, name).loaded

    def bench(self, workspace: Workspace, name: str, *, renewed: bool) -> Bench:
        """Where its reviewers work. `renewed` also looks what has been run since, which opens the
        store: never for a grade.
        """
        with self._reading:
            one = self._one(workspace, name, labels=renewed)
            pin, old = one.collection.guidelines_pin(), one.bench
            fits = old is not None and (
                old.loaded.corpus is one.loaded.corpus
                and old.loaded.questions is one.loaded.questions
                and one.guidelines == pin
            )
            if fits and not renewed:
                assert old is not None
                return old
            runs = signature_of([workspace.store_path])
            if old is None or not fits:
                one.bench = Bench(one.loaded, pool_of(one.loaded), one.claims)
            elif runs != one.runs:
                old.renew(pool_of(one.loaded))
            one.guidelines, one.runs = pin, runs
            assert one.bench is not None
            return one.bench

    def _one(self, workspace: Workspace, name: str, *, labels: bool = True) -> _One:
        """What is kept, as the files are now; those of labels alone are not looked at for a grade:
        a bench follows the ledger by itself.
        """
        collection, kept = workspace.collection(name), self._collections.get(name)
        if kept is not None and kept.collection.settings == collection.settings:
            collection = kept.collection  # its ledgers have been read before
        else:
            kept = None
        source, asked = collection.source_signature(), collection.question_signature()
        judged = collection.label_signature() if labels or kept is None else kept.labels
        if kept is None or kept.source != source:
            kept = _One(collection, source, asked, judged, load(collection))
        elif (kept.asked, kept.labels) != (asked, judged):
            questions = kept.loaded.questions
            if kept.asked != asked and (now := collection.questions()) != questions:
                questions = now
            kept.loaded = Loaded(collection, kept.loaded.corpus, questions)
            kept.asked, kept.labels = asked, judged
        self._collections[name] = kept
        return kept

    def engine(self, identity: str, make: Callable[[], Engine]) -> Engine:
        """A filled engine, filled once."""
        with self._filling:
            entry = self._engines.pop(identity, None) or _Engine()
            self._engines[identity] = entry
            while len(self._engines) > _MOST_ENGINES:
                self._engines.popitem(last=False)
        with entry.lock:
            if entry.failed is not None and time.monotonic() < entry.until:
                raise entry.failed  # who waited meanwhile need not wait for the same again
            if entry.filled is None:
                try:
                    entry.filled = make()
                except DeskError as error:
                    entry.failed, entry.until = error, time.monotonic() + _FAILED_FOR
                    raise
            return entry.filled


@dataclass
class _Engine:
    lock: Any = field(default_factory=Lock)
    filled: Engine | None = None
    failed: DeskError | None = None
    until: float = 0.0

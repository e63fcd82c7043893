"""What one process keeps between reruns, for all sessions."""

from __future__ import annotations

import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from app.core.errors import DeskError, StoreError
from app.engines.retrieval import Engine
from app.flows.bench import Bench
from app.flows.claims import Claims
from app.flows.jobs import Jobs
from app.flows.loading import Loaded, load
from app.flows.pooling import pool_of, trimmed
from app.flows.sharing.unpublished import Watch
from app.ui.memory import for_good
from app.workspace import Collection, Signature, Workspace, signature_of

#: Filled engines kept in memory; the oldest goes first.
_MOST_ENGINES = 4
#: Seconds for which an engine that could not be opened is not tried again.
_FAILED_FOR = 2.0
#: Seconds after which a thread lets another run.
_SWITCH = 0.0005
#: Seconds that a look at the source files may take for every press; a longer one is repeated after
#: so many times what it took.
_QUICK, _REST = 0.01, 20


@dataclass
class _One:
    """What is kept of one collection, and the state of the files it was read from."""

    collection: Collection
    source: Signature
    asked: Signature
    labels: Signature
    loaded: Loaded
    claims: Claims
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
        # Many short runs share one interpreter: at the usual 5 ms a press waits for others several
        # times over, once for each file it looks at.
        sys.setswitchinterval(_SWITCH)
        self._reading = Lock()
        self._collections: dict[str, _One] = {}
        self._looked: dict[str, tuple[float, float]] = {}
        self._filling = Lock()
        self._engines: OrderedDict[str, _Engine] = OrderedDict()
        self.watch = Watch()
        self.jobs = Jobs()

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
            pin, runs = one.collection.guidelines_pin(), signature_of([workspace.store_path])
            old = one.bench if one.guidelines == pin else None
            if old is None or not _stands_on(old, one.loaded):
                old = None
            elif not renewed or runs == one.runs:
                return old
            loaded, before = one.loaded, one.bench
        # Not while all others wait: another process may hold the store for seconds.
        if before is not None and not renewed:
            pool, runs = trimmed(before.pool, loaded), ()
        else:
            try:
                pool = pool_of(loaded)
            except StoreError:
                if before is None or not _stands_on(before, loaded):
                    raise
                return before  # grading goes on; what was run is looked for at the next run
        with self._reading:
            if one.bench is not None and _stands_on(one.bench, loaded) and one.guidelines == pin:
                one.bench.renew(pool)
            else:
                with for_good():
                    one.bench = Bench(loaded, pool, one.claims)
            one.guidelines, one.runs = pin, runs
            return one.bench

    def _one(self, workspace: Workspace, name: str, *, labels: bool = True) -> _One:
        """What is kept, as the files are now; those of labels alone are not looked at for a grade:
        a bench follows the ledger by itself.
        """
        collection, kept = workspace.collection(name), self._collections.get(name)
        claims = kept.claims if kept is not None else Claims()
        if kept is not None and kept.collection.settings == collection.settings:
            collection = kept.collection  # its ledgers have been read before
        else:
            kept = None
        source = self._source(collection, kept, exactly=labels)
        asked = collection.question_signature()
        judged = collection.label_signature() if labels or kept is None else kept.labels
        if kept is None or kept.source != source:
            with for_good():
                kept = _One(collection, source, asked, judged, load(collection), claims)
        elif (kept.asked, kept.labels) != (asked, judged):
            questions = kept.loaded.questions
            if kept.asked != asked and (now := collection.questions()) != questions:
                questions = now
            kept.loaded = Loaded(collection, kept.loaded.corpus, questions)
            kept.asked, kept.labels = asked, judged
        self._collections[name] = kept
        return kept

    def _source(self, collection: Collection, kept: _One | None, *, exactly: bool) -> Signature:
        """The state of the source files, looked at anew unless that takes long and was just done.

        A grade is pinned to the text that was on screen, so that a moment does no harm.
        """
        when, took = self._looked.get(collection.name, (0.0, 0.0))
        if kept is not None and not exactly and time.monotonic() < when + _REST * took:
            return kept.source
        began = time.monotonic()
        found = collection.source_signature()
        now = time.monotonic()
        took = now - began
        self._looked[collection.name] = now, took if took > _QUICK else 0.0
        return found

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


def _stands_on(bench: Bench, loaded: Loaded) -> bool:
    """Whether a bench was made of the corpus and the questions as they are now."""
    return bench.loaded.corpus is loaded.corpus and bench.loaded.questions is loaded.questions

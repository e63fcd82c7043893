"""Evaluations in the background of a dashboard: one per collection, with progress and cancel.

A job does what the command does, in a thread of its own that keeps no process alive. Cancelled, it
ends as the command does on Ctrl-C: what was searched is kept as an execution marked incomplete, and
requests under way are not waited for. Before the first answer of a configuration nothing of it is
stored; once every question has its answer, nothing is cut short any more.

What cannot be cancelled, only waited for: reading the corpus and looking for its vectors, the
embedding of the questions that are searched for at once, and scoring and storing at the end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar
from weakref import WeakSet

from app.core.errors import DeskError, NotReady
from app.core.model import ChunkKey
from app.engines.retrieval import Asked, Engine, Outcome, Search, Side
from app.flows.evaluating import Evaluation, evaluate
from app.flows.filling import embedded
from app.flows.progress import Cancelled
from app.flows.searching import Fill, fresh_engine
from app.workspace import Collection

T = TypeVar("T")
State = Literal["running", "finished", "cancelled", "failed"]
#: Seconds between two looks whether a job was cancelled, while it waits for others.
_LOOK = 0.05
#: Seconds in which jobs may store what they have, once the process is to end.
_LAST = 3.0


class _Early(NotReady):
    """The job was cancelled before a configuration had its first answer."""

    def __init__(self) -> None:
        super().__init__("the evaluation was cancelled")


class Job:
    """One evaluation. Its attributes may be read from any thread.

    `evaluations` are there once it has ended, as far as it came; `error` is what it failed with,
    and `told` is kept for who has put that into sentences and logged it.
    """

    def __init__(
        self,
        collection: Collection,
        configurations: Sequence[str],
        engine_for: Fill,
        resume: bool,
        who: str | None = None,
    ) -> None:
        """Nothing is done before `begin`."""
        self.collection = collection.name
        self.configurations = tuple(configurations or collection.settings.configurations)
        self.evaluations: tuple[Evaluation, ...] = ()
        self.error: Exception | None = None
        self.told: tuple[str, ...] = ()
        self.state: State = "running"
        self._at = (f"Preparing {collection.name}", 0, 0)
        self._cancel = threading.Event()
        #: Whether the configuration that is searched now has an answer already.
        self._answered = False
        self._engines: list[Engine] = []
        # Only what this process fills is shared: other engines are opened at no cost, are held
        # against the corpus then, and what they remark is of this evaluation alone.
        shared = all(embedded(collection, name) for name in self.configurations)
        self._engine_for: Fill = engine_for if shared else fresh_engine
        # Its ledgers are its own: the pages read theirs at the same time.
        work = partial(self._run, replace(collection), resume, who)
        self._thread = threading.Thread(target=work, name=f"job {collection.name}", daemon=True)

    @property
    def what(self) -> str:
        """What is being done, as `Progress` says it."""
        return self._at[0]

    @property
    def done(self) -> int:
        """Questions that have an answer."""
        return self._at[1]

    @property
    def total(self) -> int:
        """Questions in all; 0 before the first has an answer."""
        return self._at[2]

    @property
    def problem(self) -> tuple[str, ...]:
        """The sentences of what it failed with; none for an error that is not one of ours."""
        error = self.error
        return tuple(map(str, error.problems)) if isinstance(error, DeskError) else ()

    @property
    def cancelling(self) -> bool:
        """Whether it was cancelled, also while it has not ended yet."""
        return self._cancel.is_set()

    def begin(self) -> None:
        """Start; to be called once."""
        _begun.add(self)
        self._thread.start()

    def cancel(self) -> None:
        """End it as soon as it can; more than once, or after its end, does no harm."""
        if self.state != "running":
            return
        self._cancel.set()
        for engine in list(self._engines):
            engine.interrupt()

    def join(self, seconds: float | None = None) -> None:
        """Wait for its end, so many seconds at most."""
        self._thread.join(seconds)

    def _run(self, collection: Collection, resume: bool, who: str | None) -> None:
        state: State = "failed"
        try:
            self.evaluations = tuple(
                evaluate(
                    collection,
                    self.configurations,
                    resume=resume,
                    progress=self._tell,
                    engine_for=self._open,
                    who=who,
                )
            )
            cut = self.cancelling and any(one.interrupted for one in self.evaluations)
            state = "cancelled" if cut else "finished"
        except (Cancelled, _Early):
            state = "cancelled"
        except Exception as error:  # noqa: BLE001 - told by whoever looks at the job
            self.error = error
        finally:
            self._engines.clear()
            self.state = state

    def _tell(self, what: str, done: int, total: int) -> None:
        self._at, self._answered = (what, done, total), True
        if done < total:
            self._check()

    def _check(self) -> None:
        """Raise Cancelled where the job was cancelled, NotReady where that leaves nothing."""
        if self._cancel.is_set():
            raise Cancelled if self._answered else _Early

    def _open(self, identity: str, make: Callable[[], Engine]) -> Engine:
        self._answered = False
        engine = self._waited(partial(self._engine_for, identity, make))
        self._engines.append(engine)
        return _Watched(engine, self)

    def _searched_next(self) -> None:
        """Another configuration's search begins."""
        self._answered = False

    def _waited(self, call: Callable[[], T]) -> T:
        """What a call returns, which goes on by itself where the job is cancelled meanwhile.

        Raises what the call does, and as `_check`.
        """
        self._check()
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        while not wait([future], _LOOK).done:
            self._check()
        self._check()
        return future.result()


class _Watched:
    """An engine as a job searches it: nothing is waited for once the job is cancelled."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self.batch, self.workers, self.ordered = engine.batch, engine.workers, engine.ordered

    def description(self) -> Mapping[str, Any]:
        """The engine's; asked for right before the first search of a configuration."""
        self._job._searched_next()
        return self._job._waited(self._engine.description)

    def remarks(self) -> Mapping[str, Any]:
        """The engine's."""
        return self._engine.remarks()

    def interrupt(self) -> None:
        """End what is under way."""
        self._engine.interrupt()

    def held(self, keys: Sequence[ChunkKey]) -> Mapping[ChunkKey, frozenset[Side]] | None:
        """The engine's."""
        return self._engine.held(keys)

    def search_many(self, search: Search, asked: Sequence[Asked]) -> list[Outcome]:
        """The engine's; raises as `Job._check`, for what was interrupted is no answer."""
        call = partial(self._engine.search_many, search, asked)
        if self.workers > 1:
            return self._job._waited(call)
        # In this process, where a search takes milliseconds.
        self._job._check()
        found = call()
        self._job._check()
        return found


class Jobs:
    """The jobs of a process, by collection: the one under way, or the last that ended."""

    def __init__(self) -> None:
        """There is none."""
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def start(
        self,
        collection: Collection,
        configurations: Sequence[str],
        engine_for: Fill = fresh_engine,
        *,
        resume: bool = False,
        who: str | None = None,
    ) -> Job:
        """Evaluate some configurations (all, if none is named) as `evaluate` does; returns at once.

        `resume` goes on where the last execution of a configuration broke off; `who` asks for it,
        where that is not the account the server runs under. Raises NotReady
        where an evaluation of the collection runs already, InvalidInput for an unknown name.
        """
        for name in configurations:
            collection.configuration(name)
        with self._lock:
            now = self._jobs.get(collection.name)
            if now is not None and now.state == "running":
                raise NotReady(
                    f"an evaluation of {collection.name} with {', '.join(now.configurations)} runs "
                    "already",
                    remedy="Wait for its end, or stop it",
                )
            job = Job(collection, configurations, engine_for, resume, who)
            job.begin()
            self._jobs[collection.name] = job
        return job

    def of(self, name: str) -> Job | None:
        """The job of a collection, under way or ended; None where there is none to tell of."""
        return self._jobs.get(name)

    def dismiss(self, name: str) -> None:
        """Forget a job that has ended; one under way stays."""
        with self._lock:
            job = self._jobs.get(name)
            if job is not None and job.state != "running":
                del self._jobs[name]


_begun: WeakSet[Job] = WeakSet()


def _end_all() -> None:
    """The process is to end: jobs store what they have, and nobody waits for a request."""
    jobs = [job for job in list(_begun) if job.state == "running"]
    for job in jobs:
        job.cancel()
    until = time.monotonic() + _LAST
    for job in jobs:
        job.join(max(0.0, until - time.monotonic()))


# The threads of a pool, by which servers are searched, are waited for at the end of a process, and
# what `atexit` calls comes behind that. Python has this hook for its own pools.
_at_end = getattr(threading, "_register_atexit", None)
if _at_end is not None:
    _at_end(_end_all)

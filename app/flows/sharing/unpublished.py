"""What the files of labels hold beyond the last commit. Reads no ranking and no score."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from app.core.errors import DeskError
from app.core.jsonlines import parse_object
from app.engines.git import Repository
from app.workspace import Collection, Workspace

Event = Mapping[str, Any]

_LEDGER = re.compile(r"(judgments|events)/[^/]+\.jsonl")
_PLAIN = re.compile(rb"[A-Za-z0-9._-]+")
_EVENT_ID = re.compile(rb'"event"\s*:\s*"([A-Za-z0-9._-]+)"')
#: What labels consist of. Whatever else lies there, notes, an editor's copies, is not committed.
_LABELS = re.compile(
    r"(?:.*/)?(?:questions\.jsonl|guidelines\.md|baseline\.toml"
    r"|(?:judgments|events|complete)/[^/.][^/]*\.jsonl)"
)


def is_ledger(name: str) -> bool:
    """Whether a file, named from its collection's folder, only ever grows."""
    return _LEDGER.fullmatch(name) is not None


def is_published(name: str) -> bool:
    """Whether a file is one of those that labels consist of."""
    return _LABELS.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Growth:
    """Events that came, and the ids of those that are gone or read otherwise than they did."""

    new: tuple[Event, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def growth(before: bytes, now: bytes) -> Growth:
    """What became of a ledger file; lines that cannot be read are passed over."""
    if before == now:
        return Growth()
    if now.startswith(before) and before.endswith(b"\n"):  # mostly: lines were only added
        came, went = now[len(before) :].split(b"\n"), []
    else:
        old, new = before.split(b"\n"), now.split(b"\n")
        came, went = _beyond(new, set(old)), _beyond(old, set(new))
    fresh = {event["event"]: event for event in events_in(came)}
    if not went and not _may_hold(before, fresh):
        return Growth(new=tuple(fresh.values()))
    earlier: dict[str, list[Event]] = {}
    for event in events_in(before.split(b"\n")):
        earlier.setdefault(event["event"], []).append(event)
    current: dict[str, Event] = {}
    for event in events_in(now.split(b"\n")):
        current.setdefault(event["event"], event)
    return Growth(
        new=tuple(event for name, event in current.items() if name not in earlier),
        missing=tuple(name for name in earlier if name not in current),
        changed=tuple(
            name for name, was in earlier.items() if name in current and current[name] not in was
        ),
    )


def _may_hold(raw: bytes, names: Iterable[str]) -> bool:
    """Whether lines may hold one of some event ids; parses none of them."""
    wanted = {name.encode() for name in names}
    if any(_PLAIN.fullmatch(name) is None for name in wanted):
        return True  # may be spelled in several ways
    if len(wanted) <= 16:
        return any(name in raw for name in wanted)
    return not wanted.isdisjoint(_EVENT_ID.findall(raw))


def _beyond(lines: Iterable[bytes], known: set[bytes]) -> list[bytes]:
    return [line for line in lines if line not in known]


def events_in(lines: Iterable[bytes]) -> list[Event]:
    """The events on those lines that can be read, duplicates included."""
    found = (parse_object(line.rstrip(b"\r")) for line in lines if line.strip())
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("event"), str)]


@dataclass(frozen=True, slots=True)
class Unpublished:
    """How many events of a collection nobody else has yet, in the words of a page."""

    words: str
    help: str


class Watch:
    """Says what is unpublished, as often as a page is drawn.

    Git is asked for the last commit every few seconds at most, files are read when they have
    changed. What goes wrong is passed over for a minute: it is for `desk labels status` to tell.
    """

    _EVERY, _AFTER_FAILURE, _PATIENCE = 4.0, 60.0, 2.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._lock = Lock()
        self._known: dict[str, _Committed] = {}
        self._answers: dict[str, Unpublished | None] = {}

    def look(self, collection: Collection) -> Unpublished | None:
        """What is unpublished; None for nothing, without git, and where git fails.

        Nobody waits for another one's look: the answer before it will do.
        """
        name = collection.name
        if self._lock.acquire(blocking=False):
            try:
                self._answers[name] = self._look(collection)
            finally:
                self._lock.release()
        return self._answers.get(name)

    def _look(self, collection: Collection) -> Unpublished | None:
        name, now = collection.name, self._clock()
        known = self._known.get(name)
        try:
            if known is None or now >= known.until:
                known = self._known[name] = self._committed(collection, known, now + self._EVERY)
            return known.unpublished(collection)
        except (DeskError, OSError, ValueError):
            self._known[name] = _Committed(until=now + self._AFTER_FAILURE)
            return None

    def _committed(
        self, collection: Collection, known: _Committed | None, until: float
    ) -> _Committed:
        """The last commit's labels; those known before where it is still the last."""
        repository, prefix = labels_repository(collection.workspace, self._PATIENCE)
        head = repository.resolve("HEAD")
        if known is not None and known.files is not None and known.head == head:
            known.until = until
            return known
        under = f"{prefix}{collection.name}/"
        if repository.ignored_by(f"{under}questions.jsonl"):
            return _Committed(until=until)
        files = repository.files(head, [under])
        blobs = repository.blobs(files.values())
        held = {path.removeprefix(under): blobs[blob] for path, blob in files.items()}
        return _Committed(until=until, head=head, files=held)


class _Committed:
    """The labels of one commit, and what each file was last found to hold beyond them."""

    def __init__(
        self, until: float, head: str | None = None, files: Mapping[str, bytes] | None = None
    ) -> None:
        self.until = until
        self.head = head
        self.files = files
        self._counts: dict[tuple[str, int, int], int] = {}

    def unpublished(self, collection: Collection) -> Unpublished | None:
        if self.files is None:
            return None
        counts: dict[tuple[str, int, int], int] = {}
        others = []
        for stamp in collection.label_signature():
            path = Path(stamp[0])
            name = path.relative_to(collection.labels_folder).as_posix()
            if not is_published(name) or not path.is_file():
                continue
            count = self._counts.get(stamp)
            counts[stamp] = self._beyond(name, path) if count is None else count
            if counts[stamp] and not is_ledger(name):
                others.append(name)
        self._counts = counts
        events = sum(counts.values()) - len(others)
        if not events and not others:
            return None
        parts = [f"{events:,} labels" if events > 1 else "1 label"] if events else []
        what = " and ".join([*parts, *others]) + (" (an undo counts as one)" if events else "")
        return Unpublished(
            f"{events:,} unpublished" if events else f"{' and '.join(others)} unpublished",
            f"Not committed to git yet: {what}. To publish, type `desk labels publish "
            f"{collection.name}` in a terminal.",
        )

    def _beyond(self, name: str, path: Path) -> int:
        """Events of a ledger file that the commit lacks; 1 for another file that differs."""
        before, now = (self.files or {}).get(name, b""), path.read_bytes()
        return len(growth(before, now).new) if is_ledger(name) else int(differ(before, now))


def differ(one: bytes | None, other: bytes | None) -> bool:
    """Whether two files differ in more than their line ends."""
    if one is None or other is None:
        return one is not other
    return one.replace(b"\r\n", b"\n") != other.replace(b"\r\n", b"\n")


def labels_repository(workspace: Workspace, seconds: float) -> tuple[Repository, str]:
    """The repository of the labels, and the path of the folder `labels/` in it.

    Labels may be a repository of their own. Raises GitError, NoRepository where they are in none.
    """
    labels = workspace.root / "labels"
    if labels.is_dir():
        repository = Repository.at(labels, seconds)
        return repository, repository.prefix
    repository = Repository.at(workspace.root, seconds)
    return repository, f"{repository.prefix}labels/"

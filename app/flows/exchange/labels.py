"""Labels in: JSON lines of the ledger, bundles, sheets, TREC qrels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.core.errors import DeskError, ForeignLabels, Problem
from app.core.grades import is_fresh, live, text_judged
from app.core.ids import event_id
from app.core.jsonlines import parse_object
from app.core.judgments import Judgment, Retirement, file_name, now, reviewer_id
from app.core.keys import Ids, KeyMap
from app.core.labels import resolve
from app.core.ledger import Placed, Snapshot
from app.core.questions import parse_record
from app.core.scale import Scale
from app.core.snapshot import read_complete_hashes
from app.core.text import shown
from app.engines.sheets import is_sheet
from app.flows.exchange.columns import raw_lines
from app.flows.exchange.event_rows import read_event_rows
from app.flows.exchange.events import event_line
from app.flows.exchange.keymaps import map_for
from app.flows.exchange.label_rows import LabelRow, Reading, Unknown, read_rows
from app.flows.exchange.outcome import Outcome
from app.flows.loading import Loaded, load_asked
from app.flows.sharing.bundling import read_bundle
from app.workspace import Collection

#: Who is named where a file does not say who judged.
IMPORTED = "imported"

Event = Judgment | Retirement
EventT = TypeVar("EventT", Judgment, Retirement)


@dataclass
class _Incoming:
    """New events, each with the line of the file it comes from.

    `made` has, for those made of rows, what they judge: the text, or the key of a chunk without.
    """

    judgments: list[tuple[int, Judgment]] = field(default_factory=list)
    retirements: list[tuple[int, Retirement]] = field(default_factory=list)
    made: dict[str, object] = field(default_factory=dict)

    def add(self, line: int, event: Event) -> None:
        if isinstance(event, Judgment):
            self.judgments.append((line, event))
        else:
            self.retirements.append((line, event))

    def without(self, lines: set[int]) -> None:
        self.judgments = [one for one in self.judgments if one[0] not in lines]
        self.retirements = [one for one in self.retirements if one[0] not in lines]

    def __len__(self) -> int:
        return len(self.judgments) + len(self.retirements)


def import_labels(
    collection: Collection,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    grades: Scale | None = None,
    reviewer: str = IMPORTED,
    unknown: Unknown | None = None,
    blind: bool = True,
    keys: Path | KeyMap | None = None,
    dry_run: bool = False,
    skip_refused: bool = False,
) -> Outcome:
    """Take labels into the ledger: events as they are, or rows of grades as new judgments.

    `grades` maps another scale. `reviewer` is who judged where the file does not say; a grade of
    the same reviewer that is there already is left as it is, another one is replaced. `unknown`
    says what becomes of chunks no text is known of: kept in TREC qrels, refused elsewhere unless
    it is given. `blind`: whether the rows were graded without seeing a ranking.

    Raises InvalidInput where the file cannot be read or the collection's own labels are refused.
    """
    loaded = load_asked(collection, "these labels")
    found = Outcome(f"labels of {collection.name}", "label", path.name)
    incoming = _Incoming()
    if _holds_events(path):
        _take_events(loaded, _events(path, found), incoming, found)
    else:
        trec = not is_sheet(path) and path.suffix.lower() not in (".jsonl", ".json")
        policy: Unknown = unknown or ("keep" if trec else "refuse")
        ids = Ids(
            loaded.questions,
            loaded.corpus,
            collection.settings.chunking.rule,
            keys if isinstance(keys, KeyMap) else map_for(path, keys),
        )
        reading = Reading(ids, grades, reviewer_id(reviewer), policy)
        rows = list(read_rows(path, reading, columns or {}, found, trec=trec))
        _take_rows(loaded, rows, incoming, found, blind=blind)
    _try(loaded, incoming, found)
    found.new = len(incoming)
    return found.finish(
        lambda: _write(loaded, incoming), dry_run=dry_run, skip_refused=skip_refused
    )


def _holds_events(path: Path) -> bool:
    """Whether a file holds whole events rather than rows of grades."""
    if path.suffix.lower() == ".zip":
        return True
    if is_sheet(path):
        return read_event_rows(path, None) is not None
    if path.suffix.lower() not in (".jsonl", ".json"):
        return False
    for _, raw in raw_lines(path, path.name):
        value = parse_object(raw)
        if isinstance(value, dict):
            return "event" in value
    return True


def _events(path: Path, found: Outcome) -> Iterable[tuple[int, dict[str, object] | str]]:
    if is_sheet(path):
        yield from read_event_rows(path, found) or ()
        return
    lines: Iterable[tuple[int, bytes]]
    if path.suffix.lower() == ".zip":
        lines = enumerate(read_bundle(path).labels_jsonl.splitlines(), start=1)
    else:
        lines = raw_lines(path, path.name)
    for number, raw in lines:
        yield number, parse_object(raw)


def _take_events(
    loaded: Loaded,
    lines: Iterable[tuple[int, dict[str, object] | str]],
    incoming: _Incoming,
    found: Outcome,
) -> None:
    collection = loaded.collection
    there: dict[str, Event] = {p.event.event: p.event for p in collection.ledger.read().events}
    there |= {p.event.event: p.event for p in collection.retirements.read().events}
    for line, value in lines:
        found.read += 1
        where = f"{found.source}:{line}"
        problems: list[Problem] = []
        event: Event | None = None
        if isinstance(value, str):
            problems.append(Problem(f"the line {value}", where, "Correct the line"))
        elif value.get("kind") == "retire-label":
            event = parse_record(Retirement, value, where, problems)
        else:
            event = parse_record(Judgment, value, where, problems)
        earlier = there.get(event.event) if event else None
        if event is not None and earlier is None:
            there[event.event] = event
            incoming.add(line, event)
        elif event is not None and earlier == event:
            found.known += 1
        elif event is not None:
            message = f"the event {shown(event.event)} is there already and says something else"
            problems.append(Problem(message, where, "Give the line an id of its own"))
        for problem in problems:
            found.refused.add(problem, line)


def _take_rows(
    loaded: Loaded, rows: list[LabelRow], incoming: _Incoming, found: Outcome, *, blind: bool
) -> None:
    """Rows as judgments made now, unless the reviewer's label in force says the same."""
    in_force: dict[tuple[str, str, object], Judgment] = {
        (p.event.author, p.event.question, text_judged(p.event, loaded.corpus)): p.event
        for p in live(loaded.collection.ledger.read().events, loaded.corpus)
        if not p.event.adjudication
    }
    made, pin = now(), loaded.collection.guidelines_pin()
    for row in rows:
        chunk = None if row.textless else loaded.corpus.chunks[row.key]
        about: object = chunk.text_hash if chunk else row.key
        question = loaded.questions[row.question]
        before = in_force.get((row.reviewer, row.question, about))
        fresh = before is not None and is_fresh(before, question, pin)
        if before is not None and fresh and before.kind == "grade" and before.grade == row.grade:
            found.known += 1
            continue
        value: dict[str, object] = {
            "format": 1, "event": event_id(), "time": made, "author": row.reviewer,
            "kind": "grade", "question": row.question,
            "chunk": [row.key.document, row.key.version, row.key.chunk],
            "grade": row.grade, "blind": blind, "question_hash": question.hash,
        }  # fmt: skip
        value |= {"text_hash": chunk.text_hash} if chunk else {"no_text": True}
        value |= {"note": row.note} if row.note else {}
        value |= {"replaces": before.event} if before else {}
        problems: list[Problem] = []
        event = parse_record(Judgment, value, f"{found.source}:{row.line}", problems)
        if event is not None:
            incoming.judgments.append((row.line, event))
            incoming.made[event.event] = about
        for problem in problems:
            found.refused.add(problem, row.line)


def _try(loaded: Loaded, incoming: _Incoming, found: Outcome) -> None:
    """Hold everything against the corpus as it will be read: what is refused then is refused now.

    Raises InvalidInput where the labels that are there are refused already.
    """
    loaded.labels  # noqa: B018 - the labels that are there must be in order first
    collection, scoring = loaded.collection, loaded.collection.settings.scoring_settings()
    complete = read_complete_hashes(collection.labels_folder, scoring, loaded.corpus)

    def placed(events: Iterable[tuple[int, Event]]) -> list[Placed[Event]]:
        return [Placed(event, f"{found.source}:{line}") for line, event in events]

    while len(incoming):
        try:
            resolve(
                [*collection.ledger.read().events, *placed(incoming.judgments)],  # type: ignore[list-item]
                [*collection.retirements.read().events, *placed(incoming.retirements)],  # type: ignore[list-item]
                loaded.questions,
                loaded.corpus,
                scoring,
                complete,
                collection.guidelines_pin(),
            )
        except ForeignLabels:
            raise  # said of all of them at once: no line alone is to blame
        except DeskError as error:
            lines: set[int] = set()
            for problem in error.problems:
                file, _, number = problem.place.rpartition(":")
                if file != found.source or not number.isdigit():
                    raise
                lines.add(int(number))
                found.refused.add(problem, int(number))
            incoming.without(lines)
        else:
            return


def _write(loaded: Loaded, incoming: _Incoming) -> int:
    """Append to the file of each author; what came there meanwhile is not judged again."""
    collection = loaded.collection
    before = {placed.event.event for placed in collection.ledger.read().events}

    def judgments(mine: list[Judgment], snapshot: Callable[[], Snapshot[Judgment]]) -> list[bytes]:
        there = [placed.event for placed in snapshot().events]
        ids = {event.event for event in there}
        meanwhile = {
            (event.author, event.question, text_judged(event, loaded.corpus))
            for event in there
            if event.event not in before
        }
        return [
            event_line(event)
            for event in mine
            if event.event not in ids
            and (event.author, event.question, incoming.made.get(event.event)) not in meanwhile
        ]

    def retirements(
        mine: list[Retirement], snapshot: Callable[[], Snapshot[Retirement]]
    ) -> list[bytes]:
        there = {placed.event.event for placed in snapshot().events}
        return [event_line(event) for event in mine if event.event not in there]

    for name, judged in _by_file(event for _, event in incoming.judgments).items():
        collection.ledger.append_lines(name, partial(judgments, judged))
    for name, retired in _by_file(event for _, event in incoming.retirements).items():
        collection.retirements.append_lines(name, partial(retirements, retired))
    return len(incoming)


def _by_file(events: Iterable[EventT]) -> dict[str, list[EventT]]:
    found: dict[str, list[EventT]] = {}
    for event in events:
        found.setdefault(file_name(event.author), []).append(event)
    return found

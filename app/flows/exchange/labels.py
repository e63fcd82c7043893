"""Labels in: JSON lines of the ledger, bundles, sheets, TREC qrels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.core.errors import DeskError, ForeignLabels
from app.core.events import QuestionChange, retirements
from app.core.jsonlines import parse_object
from app.core.judgments import reviewer_id
from app.core.keys import Ids, KeyMap
from app.core.labels import resolve
from app.core.ledger import Placed
from app.core.question_events import overlay
from app.core.scale import Scale
from app.core.snapshot import read_complete_hashes
from app.engines.sheets import is_sheet
from app.flows.exchange.columns import raw_lines
from app.flows.exchange.event_rows import read_event_rows
from app.flows.exchange.incoming import AnyEvent, Incoming, take_events, take_rows, write
from app.flows.exchange.keymaps import map_for
from app.flows.exchange.label_rows import Reading, Unknown, read_rows
from app.flows.exchange.outcome import Outcome
from app.flows.loading import Loaded, load, require_asked
from app.flows.sharing.bundling import read_bundle
from app.workspace import Collection

#: Who is named where a file does not say who judged.
IMPORTED = "imported"

_JSON_LINES = (".jsonl", ".json")
Lines = Iterable[tuple[int, dict[str, object] | str]]


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
    loaded: Loaded | None = None,
) -> Outcome:
    """Take labels into the ledger: events as they are, or rows of grades as new judgments.

    `grades` maps another scale. `reviewer` is who judged where the file does not say; a grade of
    the same reviewer that is there already is left as it is, another one is replaced. `unknown`
    says what becomes of chunks no text is known of: kept in TREC qrels, refused elsewhere unless
    it is given. `blind`: whether the rows were graded without seeing a ranking. `loaded` is the
    collection where it has been read already.

    Raises InvalidInput where the file cannot be read or the collection's own labels are refused.
    """
    loaded = loaded or load(collection)
    found = Outcome(f"labels of {collection.name}", path.name)
    incoming = Incoming()
    if (events := events_in(path, found)) is not None:
        take_events(loaded, events, incoming, found)
        # A ledger may bring its questions with it.
        if not any(isinstance(event, QuestionChange) for _, event in incoming.others):
            require_asked(loaded, "these labels")
    else:
        require_asked(loaded, "these labels")
        trec = not is_sheet(path) and path.suffix.lower() not in _JSON_LINES
        policy: Unknown = unknown or ("keep" if trec else "refuse")
        ids = Ids(
            loaded.questions,
            loaded.corpus,
            collection.settings.version,
            keys if isinstance(keys, KeyMap) else map_for(path, keys),
        )
        reading = Reading(ids, grades, reviewer_id(reviewer), policy)
        rows = list(read_rows(path, reading, columns or {}, found, trec=trec))
        take_rows(loaded, rows, incoming, found, blind=blind)
    _try(loaded, incoming, found)
    found.new = len(incoming)
    found.authors = Counter(event.author for _, event in incoming.judgments)
    found.finish(lambda: write(loaded, incoming), dry_run=dry_run, skip_refused=skip_refused)
    if found.written:
        # What came meanwhile from elsewhere is there already.
        found.known, found.new = found.known + found.new - found.result, found.result
    return found


def events_in(path: Path, found: Outcome) -> Lines | None:
    """The events of a file, or None where it holds rows of grades."""
    ending = path.suffix.lower()
    if is_sheet(path):
        return read_event_rows(path, found)
    if ending == ".zip":
        packed = read_bundle(path).labels_jsonl.splitlines()
        return ((number, parse_object(raw)) for number, raw in enumerate(packed, start=1))
    if ending not in _JSON_LINES:
        return None
    values = (parse_object(raw) for _, raw in raw_lines(path, path.name))
    first = next((value for value in values if isinstance(value, dict)), None)
    if first is not None and "event" not in first:
        return None
    return ((number, parse_object(raw)) for number, raw in raw_lines(path, path.name))


def _try(loaded: Loaded, incoming: Incoming, found: Outcome) -> None:
    """Hold everything against the corpus as it will be read: what is refused then is refused now.

    Raises InvalidInput where the labels that are there are refused already.
    """
    loaded.labels  # noqa: B018 - the labels that are there must be in order first
    collection, scoring = loaded.collection, loaded.collection.settings.scoring_settings()
    complete = read_complete_hashes(collection.labels_folder, scoring, loaded.corpus)

    def placed(events: Iterable[tuple[int, AnyEvent]]) -> list[Placed[AnyEvent]]:
        return [Placed(event, f"{found.source}:{line}") for line, event in events]

    while len(incoming):
        others = [*collection.events.read().events, *placed(incoming.others)]
        asked = overlay(collection.question_file.read(), others, collection.question_file.place)  # type: ignore[arg-type]
        try:
            resolve(
                [*collection.ledger.read().events, *placed(incoming.judgments)],  # type: ignore[list-item]
                retirements(others),  # type: ignore[arg-type]
                asked.questions,
                loaded.corpus,
                scoring,
                complete,
                collection.guidelines_pin(),
                retired=frozenset(asked.retired),
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

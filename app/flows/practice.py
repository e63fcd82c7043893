"""Practice for a new reviewer: a few items whose grades are explained. They label nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Literal

from pydantic import AfterValidator

from app.core.errors import InvalidInput, Problem
from app.core.events import Practice, of_kind
from app.core.ids import event_id
from app.core.jsonlines import parse_object, read_objects
from app.core.judgments import file_name, now
from app.core.model import HIGHEST_GRADE
from app.core.questions import Id, Text, parse_record
from app.core.validation import Record
from app.flows.loading import Loaded
from app.flows.roles import require_grader
from app.workspace import Collection

#: The file of a collection's own practice items; without it a general set is offered.
FILE = "practice.jsonl"


def _grade(value: int) -> int:
    if not 0 <= value <= HIGHEST_GRADE:
        raise ValueError(f"{value} is outside 0..{HIGHEST_GRADE}")
    return value


class PracticeItem(Record):
    """One item: what is asked and read, the grade it should get, and why."""

    format: Literal[1]
    id: Id
    question: Text
    need: Text | None = None
    text: Text
    grade: Annotated[int, AfterValidator(_grade)]
    why: Text


def practice_items(collection: Collection) -> tuple[PracticeItem, ...]:
    """The items of the collection, or the general set where it has none of its own.

    Raises InvalidInput with every line that is refused.
    """
    problems: list[Problem] = []
    path, place = collection.labels_folder / FILE, f"{collection.labels_place}/{FILE}"
    found: list[PracticeItem | None] = []
    if path.exists():
        for line in read_objects(path, place, problems):
            found.append(parse_record(PracticeItem, line.value, f"{place}:{line.number}", problems))
    else:
        ours = resources.files("app.flows.template").joinpath(FILE).read_bytes()
        for raw in ours.splitlines():
            value = parse_object(raw)
            if isinstance(value, dict):
                found.append(parse_record(PracticeItem, value, FILE, problems))
    items = [item for item in found if item is not None]
    names = [item.id for item in items]
    for name in {name for name in names if names.count(name) > 1}:
        problems.append(Problem(f"the id {name} is used twice", place, "Give each its own"))
    if problems:
        raise InvalidInput.of(problems)
    return tuple(items)


def has_practised(loaded: Loaded, reviewer: str) -> bool:
    """Whether a reviewer has finished or passed over the practice items, or has graded already."""
    collection, name = loaded.collection, file_name(reviewer)
    if (collection.labels_folder / "judgments" / name).exists():
        return True
    events = collection.events.read(name).events
    return any(p.event.author == reviewer for p in of_kind(events, Practice))


def finish(
    loaded: Loaded, reviewer: str, given: Mapping[str, int], *, skipped: bool = False
) -> None:
    """Keep that a reviewer has practised, and what they gave. Raises as a grade does."""
    require_grader(loaded.collection.workspace, reviewer)
    event = Practice(
        format=1,
        event=event_id(),
        time=now(),
        author=reviewer,
        kind="practice",
        given=dict(given),
        skipped=skipped,
    )
    loaded.collection.events.append(file_name(reviewer), event.model_dump())

"""Changes of questions as events: made, and appended while nobody else changes questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from filelock import FileLock, Timeout

from app.core.errors import NotReady
from app.core.events import QuestionChange, QuestionRetirement
from app.core.files import on_disk
from app.core.ids import event_id
from app.core.judgments import file_name, now
from app.core.question_events import Asked, QuestionEvent, Standing
from app.core.questions import Question
from app.flows.events import event_line
from app.workspace import Collection


@contextmanager
def questions_locked(collection: Collection) -> Iterator[None]:
    """Nobody else on this machine changes the collection's questions inside, whoever they are.

    Raises NotReady where another process holds them for 10 s, InvalidInput where the disk refuses.
    """
    path, place = collection.question_file.path, collection.question_file.place
    with on_disk("the questions cannot be written", place, "Free some space or mend permissions"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{path}.lock", timeout=10):
                yield
        except Timeout:
            raise NotReady(
                "another process is writing the questions", place=place, remedy="Try again"
            ) from None


def change_of(
    standing: Standing,
    author: str,
    value: Question,
    note: str | None = None,
    searched: Sequence[str] = (),
) -> QuestionChange:
    """The event, made now, that gives a question another value."""
    made: dict[str, object] = {**_head(standing, author), "kind": "question", "value": value}
    made |= {"question": value.id}
    made |= {"note": note} if note else {}
    made |= {"searched": list(searched)} if searched else {}
    return QuestionChange.model_validate(made)


def retirement_of(standing: Standing, author: str, name: str, note: str) -> QuestionRetirement:
    """The event, made now, that retires a question."""
    made = {**_head(standing, author), "kind": "retire-question", "question": name, "note": note}
    return QuestionRetirement.model_validate(made)


def _head(standing: Standing, author: str) -> dict[str, object]:
    head: dict[str, object] = {
        "format": 1, "event": event_id(), "time": now(), "author": author,
        "base": standing.base, "replaces": standing.replaces,
    }  # fmt: skip
    return head | ({"settles": list(standing.settles)} if standing.settles else {})


def append_changes(
    collection: Collection, author: str, make: Callable[[Asked], Sequence[QuestionEvent]]
) -> tuple[tuple[QuestionEvent, ...], str | None]:
    """Append an author's events in one write; to be called while the questions are locked.

    `make` gets the questions as they are under the lock of the file; what it raises, nothing is
    written. Returns the events and what was noticed, or None. Raises LabelNotSaved, and
    InvalidInput where a line of the events is refused, for it could be one of the same question.
    """
    made: list[QuestionEvent] = []

    def lines(_: object) -> list[bytes]:
        collection.events.read()
        events = make(collection.asked())
        # Ids made in one millisecond have no order, and the order of questions is that of ids.
        ids = sorted(event.event for event in events)
        made.extend(
            event.model_copy(update={"event": name})
            for event, name in zip(events, ids, strict=True)
        )
        return [event_line(event) for event in made]

    notice = collection.events.append_lines(file_name(author), lines)
    return tuple(made), notice

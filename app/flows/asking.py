"""Questions as people manage them: added, edited, retired, marked unsupported; each an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.errors import InvalidInput, LabelConflict, Problem
from app.core.question_events import Asked, QuestionEvent, Standing
from app.core.questions import Question
from app.core.text import shown
from app.flows.drafts import Draft, record_of, require_categories, slug
from app.flows.loading import Loaded
from app.flows.question_saving import (
    append_changes,
    change_of,
    questions_locked,
    retirement_of,
)
from app.flows.roles import require_grader

_READ_AGAIN = "Nothing was saved: read it again, then make your change"


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes that are on the disk, and what was noticed on the way."""

    events: tuple[QuestionEvent, ...]
    notice: str | None


def add(
    loaded: Loaded, author: str, drafts: Sequence[Draft], *, new_categories: bool = False
) -> Changed:
    """Add questions, in one write.

    `new_categories`: whether a category that is not in use yet is meant. Raises InvalidInput where
    the author may not grade or a draft is refused, with every reason; LabelConflict where somebody
    took an id meanwhile; LabelNotSaved where the disk refuses.
    """

    def make(asked: Asked) -> list[QuestionEvent]:
        taken = {*asked.filed, *asked.standings}
        problems: list[Problem] = []
        found: list[QuestionEvent] = []
        for draft in drafts:
            name = draft.id.strip() or slug(draft.text, taken)
            standing = asked.standing(name)
            if standing.question is not None or name in {one.question for one in found}:
                was = "belongs to a question already" if not standing.retired else "was retired"
                problems.append(Problem(f"the id {shown(name)} {was}", remedy="Choose another id"))
                continue
            try:
                question = record_of(draft, name)
            except InvalidInput as error:
                problems += error.problems
                continue
            taken.add(name)
            found.append(change_of(standing, author, question))
        if problems:
            raise InvalidInput.of(problems)
        return found

    require_categories(loaded, (draft.category for draft in drafts), new_categories)
    return save(loaded, author, make)


def edit(
    loaded: Loaded,
    author: str,
    before: Question,
    draft: Draft,
    *,
    note: str = "",
    new_category: bool = False,
) -> Changed:
    """Save a question as edited. `before` is the question as it was on screen.

    Raises as `add`, and LabelConflict where somebody changed or retired it since it was shown.
    """
    after = record_of(draft, before.id, before)
    if after == before:
        raise InvalidInput("nothing is changed", remedy="Change something, then save")
    if after.category != before.category:
        require_categories(loaded, [after.category], new_category)
    return _change(loaded, author, before, after, note)


def retire(loaded: Loaded, author: str, before: Question, note: str) -> Changed:
    """Retire a question: it is not asked, scored or shown until it is brought back.

    Its labels stay in the ledger. Raises as `edit`, and InvalidInput without a note.
    """
    if not note.strip():
        raise InvalidInput("a note is missing", remedy="Write why the question is retired")

    def make(asked: Asked) -> list[QuestionEvent]:
        standing = _unchanged(loaded, asked, before)
        return [retirement_of(standing, author, before.id, note.strip())]

    return save(loaded, author, make)


def bring_back(loaded: Loaded, author: str, before: Question, note: str = "") -> Changed:
    """Ask a retired question again; its labels count again. Raises as `edit`."""

    def make(asked: Asked) -> list[QuestionEvent]:
        standing = asked.standing(before.id)
        if not standing.retired or standing.question != before:
            raise LabelConflict(
                f"the question {shown(before.id)} is no longer what was shown as retired",
                remedy="Nothing was saved: read it again",
            )
        return [change_of(standing, author, before, note.strip())]

    return save(loaded, author, make)


def mark_unsupported(
    loaded: Loaded, author: str, before: Question, searched: Sequence[str]
) -> Changed:
    """Mark a question as one this corpus revision holds no answer to.

    `searched` is what the corpus was searched for. Raises as `edit`; InvalidInput where nothing was
    searched for, a relevant label exists, or the mark is there already.
    """
    lines = [one.strip() for one in searched if one.strip()]
    if not lines:
        raise InvalidInput(
            "what the corpus was searched for is missing",
            remedy="Search it in several wordings, and write one a line",
        )
    if reason := why_not_unsupported(loaded, before):
        raise InvalidInput(reason, remedy="Nothing was saved")
    after = _with_mark(before, loaded.corpus.revision)
    return _change(loaded, author, before, after, "", lines)


def why_not_unsupported(loaded: Loaded, question: Question) -> str | None:
    """Why a question cannot be marked unsupported now, in words; None where it can.

    Raises InvalidInput where labels are refused: one of them may be relevant.
    """
    name = shown(question.id)
    if question.unsupported_as_of == loaded.corpus.revision:
        return f"the question {name} is marked unsupported for this corpus revision already"
    labels = loaded.labels
    keys = labels.relevant(question.id) if question.id in labels.questions else ()
    if keys:
        grade = labels.by_question[question.id][keys[0]].grade
        more = f", and {len(keys) - 1} more" if len(keys) > 1 else ""
        return (
            f"the question {name} has relevant evidence: {keys[0].short()} has grade {grade}{more}"
        )
    return None


def mark_supported(loaded: Loaded, author: str, before: Question) -> Changed:
    """Take back that a question is unsupported. Raises as `edit`."""
    if before.unsupported_as_of is None:
        raise InvalidInput(
            f"the question {shown(before.id)} is not marked unsupported", remedy="Nothing was saved"
        )
    return _change(loaded, author, before, _with_mark(before, None), "")


def _with_mark(question: Question, revision: str | None) -> Question:
    value = question.model_dump(exclude_unset=True)
    value.pop("unsupported_as_of", None)
    return Question.model_validate(
        value | ({"unsupported_as_of": revision} if revision is not None else {})
    )


def _change(
    loaded: Loaded,
    author: str,
    before: Question,
    after: Question,
    note: str,
    searched: Sequence[str] = (),
) -> Changed:
    def make(asked: Asked) -> list[QuestionEvent]:
        standing = _unchanged(loaded, asked, before)
        return [change_of(standing, author, after, note.strip(), searched)]

    return save(loaded, author, make)


def _unchanged(loaded: Loaded, asked: Asked, before: Question) -> Standing:
    """Where a question stands; raises LabelConflict unless it is as it was on screen."""
    standing = asked.standing(before.id)
    if standing.question == before and not standing.retired:
        return standing
    last = next(
        (
            placed.event
            for placed in loaded.collection.events.read().events
            if placed.event.event == standing.replaces
        ),
        None,
    )
    who = f" by {last.author}" if last is not None else ""
    what = "retired" if standing.retired else "changed"
    raise LabelConflict(
        f"the question {shown(before.id)} was {what}{who} since it was shown", remedy=_READ_AGAIN
    )


def save(loaded: Loaded, author: str, make: Callable[[Asked], Sequence[QuestionEvent]]) -> Changed:
    """Append the events that `make` makes of the questions as they are then, under the locks.

    Raises what `make` raises; InvalidInput where the author may not grade; NotReady where another
    process holds the questions; LabelNotSaved.
    """
    require_grader(loaded.collection.workspace, author)
    with questions_locked(loaded.collection):
        return Changed(*append_changes(loaded.collection, author, make))

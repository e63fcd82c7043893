"""Questions as people type them: drafts, their records, and what a change of them does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from app.core.errors import DeskError, InvalidInput, Problem
from app.core.questions import Question
from app.core.text import shown
from app.core.validation import problems_in
from app.flows.loading import Loaded
from app.flows.near import near_names
from app.flows.wording import count

#: States of labels that a change of the wording makes stale.
_FRESH = ("judged", "unsettled", "disputed", "cannot-judge")


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as somebody typed it. Facts are (id, text); a blank id gets a number.

    Without an `id` a new question gets one of its first words.
    """

    text: str
    category: str
    need: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    source: str = "expert"
    split: str = "development"
    id: str = ""


def draft_of(question: Question) -> Draft:
    """A question as it is edited."""
    return Draft(
        text=question.text,
        category=question.category,
        need=question.need or "",
        facts=tuple((fact.id, fact.text) for fact in question.facts),
        tags=tuple(question.tags),
        source=question.source,
        split=question.split,
        id=question.id,
    )


def record_of(draft: Draft, name: str, before: Question | None = None) -> Question:
    """The record of a draft; what `before` said and a draft does not speak of stays.

    But for the mark unsupported, where the draft asks something else: nobody searched for that.
    Raises InvalidInput with everything that is wrong with it.
    """
    kept = before.model_dump(exclude_unset=True) if before is not None else {}
    value: dict[str, object] = {
        "tags": list(draft.tags),
        "source": draft.source,
        "split": draft.split,
        "need": draft.need.strip() or None,
        "facts": _facts(draft.facts),
    }
    fields = Question.model_fields
    said = {
        field: item
        for field, item in value.items()
        if field in kept or item != fields[field].get_default()
    }
    head = {"format": 1, "id": name, "text": draft.text.strip(), "category": draft.category.strip()}
    try:
        question = Question.model_validate({**kept, **head, **said})
        if before is not None and "unsupported_as_of" in kept and question.hash != before.hash:
            del kept["unsupported_as_of"]
            question = Question.model_validate({**kept, **head, **said})
        return question
    except ValidationError as error:
        found = problems_in(error, "", fields, "Correct it")
        raise InvalidInput.of(map(_chosen, found)) from error


def _chosen(problem: Problem) -> Problem:
    """In words of the page where no category is chosen."""
    if not is_blank_category(problem):
        return problem
    return Problem("no category is chosen", remedy="Choose a category")


def is_blank_category(problem: Problem) -> bool:
    """Whether it says that a record has a blank category."""
    return problem.message.startswith("category ") and problem.message.endswith(" is blank")


def _facts(given: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    facts = [(name.strip(), text.strip()) for name, text in given if name.strip() or text.strip()]
    taken = {name for name, _ in facts}
    numbers = (f"f{n}" for n in range(1, 2 * len(facts) + 1) if f"f{n}" not in taken)
    return [{"id": name or next(numbers), "text": text} for name, text in facts]


def slug(text: str, taken: Iterable[str]) -> str:
    """An id of the first words of a text that is not `taken`, by a number where it must be."""
    words = re.findall(r"\w+", text.lower())[:6]
    base = "-".join(words)[:48].strip("-_") or "question"
    name, number, known = base, 1, set(taken)
    while name in known:
        number += 1
        name = f"{base}-{number}"
    return name


def categories(loaded: Loaded) -> list[str]:
    """The categories in use, retired questions' included, sorted."""
    asked = loaded.collection.asked()
    return sorted({one.category for one in (*asked.questions.values(), *asked.retired.values())})


def near_categories(loaded: Loaded, name: str) -> list[str]:
    """Categories in use that a new name could be meant for."""
    return near_names(name.strip(), categories(loaded))


def effects(loaded: Loaded, before: Question, after: Question) -> tuple[str, ...]:
    """What an edit does beside changing words, in sentences; none where it does nothing else."""
    found = []
    if before.hash != after.hash:
        number = fresh_labels(loaded, before.id)
        found.append(
            "Changing text, need or facts makes its labels stale."
            if number is None
            else f"Changing text, need or facts makes {_its(number)} stale: out of the scores "
            "until they are confirmed."
            if number
            else "No label depends on text, need and facts yet."
        )
    if before.unsupported_as_of is not None and after.unsupported_as_of is None:
        found.append(
            "It is then no longer marked unsupported: the corpus was searched for what it asked "
            "before."
        )
    moved = [name for name in ("category", "split", "tags") if _differs(name, before, after)]
    if moved:
        found.append(f"Changing the {' and '.join(moved)} moves it in the means; its labels stay.")
    return tuple(found)


def _its(number: int) -> str:
    return f"its {count(number, 'label')}"


def _differs(name: str, before: Question, after: Question) -> bool:
    return bool(getattr(before, name) != getattr(after, name))


def fresh_labels(loaded: Loaded, name: str) -> int | None:
    """Labeled pairs of a question that are not stale; None where the labels are refused."""
    try:
        pairs = loaded.labels.by_question.get(name, {})
    except DeskError:
        return None
    return sum(label.state in _FRESH for label in pairs.values())


def require_categories(loaded: Loaded, names: Iterable[str], meant: bool) -> None:
    """Raise InvalidInput for categories not in use, unless they are meant to be new.

    A blank one is for `record_of` to refuse, with all else that is wrong.
    """
    known = categories(loaded)
    wanted = dict.fromkeys(name.strip() for name in names)
    new = [name for name in wanted if name and name not in known]
    if meant or not new or not known:
        return
    problems = []
    for name in new:
        near = near_names(name, known)
        hint = f"Did you mean {near[0]}?" if near else "Say that it is a new one, or choose another"
        problems.append(Problem(f"there is no category {shown(name)} yet", remedy=hint))
    raise InvalidInput.of(problems)

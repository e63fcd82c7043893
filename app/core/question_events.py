"""Effective questions: questions.jsonl, and over it what people changed since.

The events of a question form a chain by what they replace. They count while the file's record of
the question is the one they were made over (`base`); where it was changed afterwards, the file
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.events import Event, QuestionChange, QuestionRetirement
from app.core.ledger import Placed
from app.core.questions import Filed, Question
from app.core.text import shown

QuestionEvent = QuestionChange | QuestionRetirement
_Said = Sequence[Placed[QuestionEvent]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a new event of a question follows: the fields `base`, `replaces` and `settles` of it.

    `question` is what is asked, or was until it was retired; None where there is none. `chain` are
    the events that count, first to last.
    """

    question: Question | None = None
    retired: bool = False
    base: str | None = None
    replaces: str | None = None
    settles: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """The effective questions of a collection: those that are asked, and those that were retired.

    `questions` are in file order, then those that were added, in the order of their first events.
    """

    questions: Mapping[str, Question]
    retired: Mapping[str, Question]
    notices: tuple[str, ...]
    filed: Mapping[str, Filed]
    standings: Mapping[str, Standing]

    def standing(self, name: str) -> Standing:
        """What the next event of a question follows, also where there is no such question."""
        if (known := self.standings.get(name)) is not None:
            return known
        filed = self.filed.get(name)
        return Standing() if filed is None else _unchanged(filed)


def question_events(events: Iterable[Placed[Event]]) -> dict[str, list[Placed[QuestionEvent]]]:
    """The events that speak of questions, by question, each in the order of event ids."""
    found: dict[str, list[Placed[QuestionEvent]]] = {}
    for one in events:
        if isinstance(one.event, QuestionChange | QuestionRetirement):
            said: Placed[QuestionEvent] = Placed(one.event, one.place)
            found.setdefault(one.event.question, []).append(said)
    for of_one in found.values():
        of_one.sort(key=_by_id)
    return found


def overlay(filed: Mapping[str, Filed], events: Iterable[Placed[Event]], place: str) -> Asked:
    """Lay the events over the questions of a file. `place` is the file as messages show it."""
    said = question_events(events)
    notices: list[str] = []
    standings = {
        name: _stand(name, filed.get(name), of_one, place, notices) for name, of_one in said.items()
    }
    added = sorted(
        (name for name in standings if name not in filed), key=lambda n: _by_id(said[n][0])
    )
    questions: dict[str, Question] = {}
    retired: dict[str, Question] = {}
    for name in (*filed, *added):
        standing = standings.get(name)
        question = filed[name].question if standing is None else standing.question
        if question is not None:
            into = retired if standing is not None and standing.retired else questions
            into[name] = question
    return Asked(questions, retired, tuple(notices), filed, standings)


def _unchanged(filed: Filed) -> Standing:
    return Standing(filed.question, base=filed.question.record_digest)


def _by_id(placed: Placed[QuestionEvent]) -> str:
    return placed.event.event


def _stand(name: str, filed: Filed | None, said: _Said, place: str, notices: list[str]) -> Standing:
    """Where a question stands by its file's record and its events; adds what is to be known."""
    unchanged = Standing() if filed is None else _unchanged(filed)
    current = [one for one in said if one.event.base == unchanged.base]
    if not current:
        last = said[-1].event
        if filed is None or not _says(last, filed.question):
            where = f"{place}:{filed.line}" if filed else place
            became = "was changed" if filed else "was removed"
            notices.append(
                f"{where}: the question {shown(name)} {became} there after {last.author} "
                f"{_did(last)} it ({last.time[:10]}), so the file counts."
            )
        return unchanged
    chain, losers = _chain(current)
    if not chain:
        notices.append(
            f"{current[0].place}: the changes of the question {shown(name)} replace each other in "
            "a circle and are passed over."
        )
        return unchanged
    head = chain[-1].event
    question = unchanged.question
    for one in chain:
        if isinstance(one.event, QuestionChange):
            question = one.event.value
    return Standing(
        question,
        retired=isinstance(head, QuestionRetirement),
        base=unchanged.base,
        replaces=head.event,
        settles=_open(chain, losers, name, notices),
        chain=tuple(one.event.event for one in chain),
    )


def _says(event: QuestionEvent, question: Question) -> bool:
    """Whether an event says what the file says: somebody wrote the change into the file."""
    return isinstance(event, QuestionChange) and (
        event.value.record_digest == question.record_digest
    )


def _did(event: QuestionEvent) -> str:
    return "retired" if isinstance(event, QuestionRetirement) else "saved"


@dataclass(frozen=True, slots=True)
class _Branch:
    """A change that lost, what came `after` it by id, and the newest of those that won over it."""

    first: Placed[QuestionEvent]
    after: _Said
    winner: Placed[QuestionEvent]


def _chain(current: _Said) -> tuple[list[Placed[QuestionEvent]], list[_Branch]]:
    """The events that count, first to last, and those that do not, each beside what counts.

    Of two that follow the same one, that counts which itself, or what follows it, was saved last.
    What replaces an event of another base begins a chain: nothing of it is left.
    """
    ids = {one.event.event for one in current}
    following: dict[str | None, list[Placed[QuestionEvent]]] = {}
    for one in current:
        before = one.event.replaces if one.event.replaces in ids else None
        following.setdefault(before, []).append(one)
    newest = _newest(following)
    chain: list[Placed[QuestionEvent]] = []
    losers: list[_Branch] = []
    at: str | None = None
    # What loops is never reached from the beginning, so this ends.
    while beside := following.get(at):
        *lost, winner = sorted(beside, key=lambda one: _by_id(newest[one.event.event]))
        last = newest[winner.event.event]
        for one in lost:
            after = sorted(_reached(following, one.event.event), key=_by_id)
            losers.append(_Branch(one, after, last))
        chain.append(winner)
        at = winner.event.event
    return chain, losers


def _reached(
    following: Mapping[str | None, _Said], start: str | None
) -> list[Placed[QuestionEvent]]:
    """What follows an event, what follows that, and so on: each after what it follows."""
    found = list(following.get(start, ()))
    for one in found:
        found += following.get(one.event.event, ())
    return found


def _newest(following: Mapping[str | None, _Said]) -> dict[str, Placed[QuestionEvent]]:
    """By event, the one with the last id of itself and all that follow it."""
    found: dict[str, Placed[QuestionEvent]] = {}
    for one in reversed(_reached(following, None)):
        after = (found[next_.event.event] for next_ in following.get(one.event.event, ()))
        found[one.event.event] = max((one, *after), key=_by_id)
    return found


def _open(
    chain: _Said, losers: Sequence[_Branch], name: str, notices: list[str]
) -> tuple[str, ...]:
    """The ids of the changes that lost and that nobody has settled yet; each is told."""
    settled = {one for placed in chain for one in placed.event.settles}
    found: list[str] = []
    for branch in losers:
        left = [p for p in (branch.first, *branch.after) if p.event.event not in settled]
        if not left:
            continue
        found += [placed.event.event for placed in left]
        first, *after = left
        winner = branch.winner.event
        places = ", ".join(placed.place for placed in after)
        also = f", and what followed the other one ({places}) does not" if after else ""
        notices.append(
            f"{first.place}: {first.event.author} and {winner.author} changed the question "
            f"{shown(name)} at once. What {winner.author} {_did(winner)} later counts"
            f"{also}; look at both under Questions and save it once more to settle it."
        )
    return tuple(found)

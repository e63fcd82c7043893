"""A reviewer's stale judgments, what changed since, and which of them changed alike.

Reads the reviewer's own file alone, and retirements; nobody else's label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.core.events import readable, retirements
from app.core.gathering import Retired
from app.core.grades import Subject
from app.core.judgments import Judgment, file_name
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question
from app.core.staleness import Outdated, Outlook, Why, is_settled, outdated, overlapping
from app.core.text import digest
from app.core.worddiff import Part, change_in, word_diff
from app.flows.archive import kept_texts, known_questions, wording
from app.flows.loading import Loaded


@dataclass(frozen=True, slots=True)
class Stale:
    """A judgment that does not count until it is confirmed, and what it would be given for now.

    `chunk`, `question` and `guidelines` are what is there now. `suggestions`: the document was cut
    anew, and these chunks have the largest share (0..1) of the judged words; the first is `chunk`.
    `old_text` and `old_question` are None where they did not change or are not known, and then
    `unknown` says so in a sentence. The parts are the changes by words, none where nothing changed
    or the old words are not known. `change` is equal for judgments that the same change made stale.
    """

    event: Judgment
    chunk: Chunk
    question: Question
    guidelines: str | None
    why: tuple[Why, ...]
    old_text: str | None = None
    text_parts: tuple[Part, ...] = ()
    old_question: str | None = None
    question_parts: tuple[Part, ...] = ()
    unknown: str | None = None
    suggestions: tuple[tuple[ChunkKey, float], ...] = ()
    change: str = ""

    @property
    def key(self) -> ChunkKey:
        """The chunk as it is now."""
        return self.chunk.key


@dataclass(frozen=True, slots=True)
class Group:
    """Judgments that one change made stale, to be confirmed together; `items` has at least one."""

    change: str
    items: tuple[Stale, ...]


def stale_of(loaded: Loaded, reviewer: str) -> list[Stale]:
    """The reviewer's grades and `cannot judge` in force that are stale and can be given again.

    In the order of the ledger. Raises InvalidInput where a line of the reviewer's is refused.
    """
    snapshot = loaded.collection.ledger.read(file_name(reviewer))
    outlook = outlook_of(loaded)
    found, said = outdated(snapshot.events, reviewer, outlook)
    texts = {one.event.text_hash for one in found if {"text", "re-chunked"} & {*one.why}}
    asked = {one.event.question_hash for one in found if "question" in one.why}
    known = kept_texts(loaded.collection, filter(None, texts | asked))
    known |= known_questions(loaded.collection, filter(None, asked - known.keys()))
    return [*_Showing(loaded, outlook, known, said).all(found)] if found else []


def groups(stale: Sequence[Stale]) -> list[Group]:
    """The same by what changed, the largest group first, else in the order given."""
    found: dict[str, list[Stale]] = {}
    for one in stale:
        found.setdefault(one.change, []).append(one)
    made = [Group(change, tuple(items)) for change, items in found.items()]
    return sorted(made, key=lambda group: -len(group.items))


def outlook_of(loaded: Loaded) -> Outlook:
    """What the judgments of a collection are held against now."""
    retired = Retired.of(retirements(readable(loaded.collection.events)))
    pin = loaded.collection.guidelines_pin()
    return Outlook(loaded.questions, loaded.corpus, retired, pin)


class _Showing:
    """Makes what is shown of stale judgments; each change is compared once."""

    def __init__(
        self,
        loaded: Loaded,
        outlook: Outlook,
        known: Mapping[str, str],
        said: Mapping[Subject, object],
    ) -> None:
        """`known` are old texts and wordings by hash, `said` the reviewer's last words."""
        self._loaded = loaded
        self._outlook = outlook
        self._known = known
        self._said = said
        self._guidelines = loaded.collection.guidelines_version()
        self._compared: dict[tuple[str, str], tuple[tuple[Part, ...], str]] = {}
        self._overlaps: dict[tuple[str, str], list[tuple[ChunkKey, float]]] = {}

    def all(self, found: Sequence[Outdated]) -> Iterator[Stale]:
        """One for each judgment that there is a chunk for."""
        for one in found:
            suggestions = () if one.key else self._suggestions(one.event)
            key = one.key or (suggestions[0][0] if suggestions else None)
            if key is not None:
                yield self._shown(one, self._loaded.corpus.chunks[key], suggestions)

    def _shown(
        self, one: Outdated, chunk: Chunk, suggestions: tuple[tuple[ChunkKey, float], ...]
    ) -> Stale:
        event, question = one.event, self._loaded.questions[one.event.question]
        stale = Stale(event, chunk, question, self._guidelines, one.why, suggestions=suggestions)
        changes: list[object] = [event.event] if suggestions else []
        unknown: list[str] = []
        if "text" in one.why or suggestions:
            old = self._known.get(event.text_hash or "")
            parts, change = self._change(event.text_hash or "", chunk.text_hash, chunk.text)
            stale = replace(stale, old_text=old, text_parts=parts)
            changes.append(["text", change])
            unknown += ["the text that was judged"] if old is None else []
        if "question" in one.why:
            asked = event.question_hash or ""
            old = self._known.get(asked)
            parts, change = self._change(asked, question.hash, wording(question))
            stale = replace(stale, old_question=old, question_parts=parts)
            changes.append(["question", change])
            unknown += ["the question as it was"] if old is None else []
        if "guidelines" in one.why:
            changes.append(["guidelines", event.guidelines])
        return replace(stale, unknown=self._words(unknown), change=digest(changes))

    def _change(self, before: str, now: str, text: str) -> tuple[tuple[Part, ...], str]:
        """The parts and the digest of a change, both hashes alone where the old text is lost."""
        found = self._compared.get((before, now))
        if found is None:
            old = self._known.get(before)
            parts = () if old is None else tuple(word_diff(old, text))
            change = digest([before, now]) if old is None else change_in(parts)
            found = self._compared[before, now] = parts, change
        return found

    def _words(self, unknown: Sequence[str]) -> str | None:
        if not unknown:
            return None
        what, collection = " and ".join(unknown), self._loaded.collection
        verb = "is" if len(unknown) == 1 else "are"
        if collection.settings.retain_text:
            return f"Not known here any more {verb} {what}."
        place = f"data/{collection.name}/collection.toml"
        return f"Not kept {verb} {what}: retain_text is false in {place}."

    def _suggestions(self, event: Judgment) -> tuple[tuple[ChunkKey, float], ...]:
        """The chunks of the same document that have most of the judged words."""
        text = self._known.get(event.text_hash or "")
        if text is None:
            return ()
        name = event.key.document, event.text_hash or ""
        found = self._overlaps.get(name)
        if found is None:
            found = overlapping(text, self._documents.get(name[0], ()))
            self._overlaps[name] = found
        outlook = self._outlook
        return tuple(one for one in found if not is_settled(event, one[0], self._said, outlook))

    @cached_property
    def _documents(self) -> Mapping[str, list[Chunk]]:
        """The eligible chunks by document."""
        found: dict[str, list[Chunk]] = {}
        for key, chunk in self._loaded.corpus.eligible.items():
            found.setdefault(key.document, []).append(chunk)
        return found

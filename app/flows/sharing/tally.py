"""What a commit of labels brings, counted and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.flows.sharing.unpublished import Event, differ, growth, is_ledger
from app.flows.wording import count


@dataclass(frozen=True)
class Tally:
    """Events by their author, and other files, named from `labels/`; both sorted."""

    authors: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    @property
    def events(self) -> int:
        """The number of events."""
        return sum(self.authors.values())

    @classmethod
    def of(cls, parts: Iterable[tuple[str, Iterable[Event]]]) -> Tally:
        """From files that differ, named from `labels/`, with the events that came to each."""
        authors: Counter[str] = Counter()
        files, collections = [], set()
        for path, events in parts:
            collection, _, name = path.partition("/")
            collections.add(collection)
            authors.update(str(event.get("author")) for event in events)
            if not is_ledger(name):
                files.append(path)
        return cls(dict(sorted(authors.items())), tuple(sorted(files)), tuple(sorted(collections)))

    @classmethod
    def between(
        cls, before: Mapping[str, bytes], after: Mapping[str, bytes | None], prefix: str
    ) -> Tally:
        """From the bytes of files, by their path in the repository; None: taken away."""
        return cls.of(
            (
                path.removeprefix(prefix),
                growth(before.get(path, b""), now or b"").new if _is_ledger(path, prefix) else (),
            )
            for path, now in after.items()
            if differ(before.get(path), now)
        )

    def what(self) -> str:
        """The files that are no ledger files, or how many there are; '' for none."""
        if len(self.files) > 3:
            return count(len(self.files), "file")
        return ", ".join(self.files)

    def message(self) -> str:
        """The message of a commit."""
        of = ", ".join(self.collections)
        if self.events:
            subject = f"Publish {count(self.events, 'label')} of {of}"
        else:
            subject = f"Publish {self.what()}" if self.files else f"Publish the ledger of {of}"
        body = [f"{author}: {n}" for author, n in self.authors.items()]
        if self.events:
            body += self.files
        return "\n".join([subject, "", *body]).rstrip() + "\n"


def _is_ledger(path: str, prefix: str) -> bool:
    return is_ledger(path.removeprefix(prefix).partition("/")[2])

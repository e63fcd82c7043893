"""Which chunks a corpus revision had, for labels that are complete as of that revision.

`labels/<collection>/complete/<revision>.jsonl` lists the eligible chunks of the revision. It is
committed with the labels, so that every machine reads the same grades after the corpus moved on.
"""

from __future__ import annotations

from pathlib import Path

from app.core.corpus import Corpus
from app.core.errors import InvalidInput, Problem
from app.core.files import replace_file
from app.core.jsonlines import read_objects
from app.core.model import ScoringSettings
from app.core.text import canonical


def snapshot_path(labels_folder: Path, revision: str) -> Path:
    """The file that lists the chunks of a revision."""
    return labels_folder / "complete" / f"{revision}.jsonl"


def read_complete_hashes(
    labels_folder: Path, scoring: ScoringSettings, corpus: Corpus
) -> frozenset[str] | None:
    """Text hashes of the chunks the labels are complete for; None where they are not known.

    Empty for a pooled collection.
    """
    revision = scoring.complete_as_of
    if revision is None:
        return frozenset()
    if revision == corpus.revision:
        return frozenset(corpus.by_hash)
    path = snapshot_path(labels_folder, revision)
    if not path.is_file():
        return None
    problems: list[Problem] = []
    place = f"labels/{labels_folder.name}/complete/{path.name}"
    hashes: set[str] = set()
    for line in read_objects(path, place, problems):
        text_hash = line.value.get("text_hash")
        if line.value.get("format") != 1 or not isinstance(text_hash, str) or not text_hash:
            remedy = "Put back the file as it was committed"
            message = "the line is not of format 1 with a text_hash"
            problems.append(Problem(message, f"{place}:{line.number}", remedy))
        else:
            hashes.add(text_hash)
    if problems:
        raise InvalidInput.of(problems)
    return frozenset(hashes)


def write_snapshot(labels_folder: Path, scoring: ScoringSettings, corpus: Corpus) -> Path | None:
    """List the chunks of the corpus where the labels are complete for just this revision.

    Returns the path of a file that was not there before, else None.
    """
    path = snapshot_path(labels_folder, corpus.revision)
    if scoring.complete_as_of != corpus.revision or path.exists():
        return None
    lines = [
        canonical(
            {
                "format": 1,
                "chunk": [key.document, key.version, key.chunk],
                "text_hash": chunk.text_hash,
            }
        )
        for key, chunk in corpus.eligible.items()
    ]
    replace_file(path, "".join(f"{line}\n" for line in lines))
    return path

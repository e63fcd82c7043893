"""The answers of `desk labels status` and `desk labels publish`."""

from __future__ import annotations

from typing import Any

from app.core.errors import Problem
from app.flows.sharing.publication import CollectionStatus, FileStatus, Status
from app.flows.sharing.publishing import Published
from app.flows.wording import count


def status_text(found: Status) -> str:
    """What is unpublished, in lines for people."""
    lines = []
    for one in found.collections:
        lines += _collection_lines(one, _where(found), found.changes.branch)
    if found.changes.ahead:
        commits = count(found.changes.ahead, "commit")
        verb = "is" if found.changes.ahead == 1 else "are"
        lines.append(
            f"{commits} on {found.changes.branch} {verb} not pushed to {found.changes.upstream}. "
            "To push: desk labels publish --push"
        )
    if found.obstacle is not None:
        lines.append(
            f"note: {found.obstacle} Labels can also be sent as a file: "
            "desk labels bundle COLLECTION FILE.zip"
        )
    lines += [f"note: {warning}" for warning in found.warnings]
    return "\n".join(lines) or "There is no collection here."


def _where(found: Status) -> str:
    """Where labels are published, as the end of a line; '' without git."""
    changes = found.changes
    if found.repository is None:
        return ""
    if changes.branch is None:
        return f" at the commit {(changes.head or '')[:7]} (no branch is checked out)"
    return f" on {changes.branch}" + ("" if changes.head else ", which has no commit yet")


def _collection_lines(one: CollectionStatus, where: str, branch: str | None) -> list[str]:
    total = "" if one.events is None else f" of {one.events:,}"
    if one.unpublished or not where:
        head = f"{one.collection}: {one.unpublished:,}{total} events unpublished{where}"
    elif one.files:
        head = f"{one.collection}: all events published{where}, not all files"
    else:
        head = f"{one.collection}: everything published{where}"
    told = [_file_words(file) for file in one.files]
    width = max(map(len, told), default=0)
    lines = [head]
    lines += [
        f"  {words.rjust(width)}  {file.name}" for words, file in zip(told, one.files, strict=True)
    ]
    lines += [f"  error: {problem}" for problem in one.problems]
    lines += [f"  warning: {problem}" for problem in one.shrunk]
    lines += [f"  note: {warning}" for warning in one.warnings]
    fit = not (one.problems or one.shrunk) and not all(file.ignored for file in one.files)
    if where and one.files and fit:
        onto = "" if branch else " --branch BRANCH"
        lines.append(f"  To publish: desk labels publish {one.collection}{onto}")
    return lines


def _file_words(file: FileStatus) -> str:
    grown = file.growth
    parts = [f"{len(grown.new):,} new"] if grown.new else []
    parts += [f"{len(grown.missing):,} missing"] if grown.missing else []
    parts += [f"{len(grown.changed):,} changed"] if grown.changed else []
    words = ", ".join(parts) or file.state
    return f"{words}, ignored by git" if file.ignored else words


def status_json(found: Status) -> dict[str, Any]:
    """The answer of `desk labels status --json`."""
    changes = found.changes
    return {
        "format": 1,
        "git": {
            "repository": found.repository is not None,
            "obstacle": None if found.obstacle is None else str(found.obstacle),
            "branch": changes.branch,
            "head": changes.head,
            "upstream": changes.upstream,
            "unpushed": changes.ahead,
        },
        "unpublished": sum(one.unpublished for one in found.collections),
        "collections": [
            {
                "collection": one.collection,
                "events": one.events,
                "unpublished": one.unpublished,
                "files": [_file_json(one.collection, file) for file in one.files],
                "problems": [
                    *(_problem_json("error", problem) for problem in one.problems),
                    *(_problem_json("warning", problem) for problem in one.shrunk),
                ],
                "notices": list(one.warnings),
            }
            for one in found.collections
        ],
        "notices": list(found.warnings),
    }


def _file_json(collection: str, file: FileStatus) -> dict[str, Any]:
    return {
        "file": f"labels/{collection}/{file.name}",
        "state": file.state,
        "unpublished": len(file.growth.new),
        "missing": len(file.growth.missing),
        "changed": len(file.growth.changed),
        "ignored": file.ignored,
    }


def _problem_json(severity: str, problem: Problem) -> dict[str, str]:
    return {
        "severity": severity,
        "place": problem.place,
        "message": problem.message,
        "remedy": problem.remedy,
    }


def published_text(made: Published) -> str:
    """What was published, in lines for people."""
    tally, lines = made.tally, []
    if made.commit is None:
        lines.append(f"Nothing to publish: all of it is on {made.branch} already.")
    elif tally.events:
        reviewers = count(len(tally.authors), "reviewer")
        what = f"{count(tally.events, 'event')} of {reviewers}"
        lines.append(f"Published {what} on {made.branch} ({made.commit[:7]}).")
        lines.append("  " + ", ".join(f"{author} {n:,}" for author, n in tally.authors.items()))
        lines += [f"  {path}" for path in tally.files]
    else:
        what = tally.what() or "the ledger"
        lines.append(f"Published {what} on {made.branch} ({made.commit[:7]}).")
    if made.commit is not None and made.current not in (None, made.branch):
        lines.append(f"On {made.current} it stays unpublished until {made.branch} is merged.")
    if made.pushed_to is not None:
        lines.append(f"Pushed {made.branch} to {made.pushed_to}.")
    elif made.commit is not None and made.remotes:
        lines.append("Not pushed: others get it once you publish with --push.")
    return "\n".join(lines)


def published_json(made: Published) -> dict[str, Any]:
    """The answer of `desk labels publish --json`."""
    return {
        "format": 1,
        "branch": made.branch,
        "commit": made.commit,
        "events": made.tally.events,
        "authors": dict(made.tally.authors),
        "files": [f"labels/{path}" for path in made.tally.files],
        "pushed_to": made.pushed_to,
        "notices": list(made.notices),
    }

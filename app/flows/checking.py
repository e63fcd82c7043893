"""Check a collection: what would be refused, and what makes its scores doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.core.errors import DeskError, EngineError, InvalidInput, NotReady, Problem
from app.core.events import Restoration, of_kind
from app.core.grades import live
from app.core.judgments import Retirement
from app.core.model import ChunkKey
from app.core.text import shown
from app.flows.embedders import make_embedder
from app.flows.filling import Target
from app.flows.loading import Loaded, load, require_eligible, require_questions
from app.flows.manifests import misfit, missing_vectors, read_manifest
from app.flows.progress import Progress, silent
from app.flows.wording import count
from app.team import PLACE, Team, read_team
from app.workspace import Workspace

if TYPE_CHECKING:
    from app.flows.vector_checking import Compared


@dataclass(frozen=True, slots=True)
class CheckReport:
    """`errors` are refused by evaluate; `findings` let it run, but a check fails on them.

    `vectors` are stored ones against new ones, where that was asked for.
    """

    collection: str
    errors: tuple[Problem, ...]
    findings: tuple[Problem, ...]
    notices: tuple[str, ...]
    facts: Mapping[str, Any]
    vectors: tuple[Compared, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 fine, 1 a check failed, 2 invalid input."""
        return 2 if self.errors else 1 if self.findings else 0


def check(
    workspace: Workspace, name: str, *, vectors: bool = False, progress: Progress = silent
) -> CheckReport:
    """Check settings, corpus, questions, labels and index of a collection; changes nothing.

    `vectors`: also embed some stored chunks again and compare, for which no question need be there.
    Raises InvalidInput where there is no such collection.
    """
    workspace.require(name)
    compared: tuple[Compared, ...] = ()
    try:
        loaded = load(workspace.collection(name))
        if vectors:
            require_eligible(loaded)
            from app.flows.vector_checking import compare_vectors

            compared = tuple(compare_vectors(loaded, progress))
        require_questions(loaded)
        labels = loaded.labels
        team = read_team(workspace.data)
    except DeskError as error:
        return CheckReport(name, error.problems, _wrong(compared), (), {}, compared)
    findings = [*labels.conflicts, *_label_findings(loaded), *_event_findings(loaded)]
    findings += _index_findings(loaded)
    findings += [*_role_findings(loaded, team), *_wrong(compared)]
    states = Counter(label.state for label in labels.pairs.values())
    kinds = Counter(labels.kinds.values())
    facts = {
        "corpus_revision": loaded.corpus.revision,
        "label_revision": labels.revision,
        "documents": loaded.corpus.documents,
        "chunks": len(loaded.corpus.chunks),
        "eligible": len(loaded.corpus.eligible),
        "questions": dict(sorted(kinds.items())),
        "judgments": labels.judgments,
        "pairs": dict(sorted(states.items())),
        "relevant": sum(len(labels.relevant(question)) for question in loaded.questions),
    }
    # What opening and comparing both meet is one finding.
    found = tuple(dict.fromkeys(findings))
    return CheckReport(name, (), found, (*labels.notices, *team.notices), facts, compared)


def _wrong(compared: Sequence[Compared]) -> tuple[Problem, ...]:
    return tuple(one.finding for one in compared if one.finding is not None)


def _label_findings(loaded: Loaded) -> list[Problem]:
    """Pairs that are not settled, a line per kind with the first one named."""
    words = {
        "stale": ("stale pair", "the text or the question has changed", "Judge again"),
        "disputed": (
            "disputed pair",
            "reviewers disagree",
            "Decide it on page Label, under Disputes",
        ),
        "cannot-judge": (
            "unjudgeable pair",
            "everybody said cannot judge",
            "Let somebody else judge, or retire the pair on page Label, under Disputes",
        ),
    }
    found: list[Problem] = []
    for state, (noun, cause, remedy) in words.items():
        pairs = [pair for pair, label in loaded.labels.pairs.items() if label.state == state]
        if pairs:
            question, key = pairs[0]
            message = f"{count(len(pairs), noun)} ({cause}): {question} with {key.short()}"
            found.append(Problem(message + (" for one" if len(pairs) > 1 else ""), remedy=remedy))
    return found


def _event_findings(loaded: Loaded) -> list[Problem]:
    """What is to be brought back and was never retired; on a page that cannot happen."""
    events = loaded.collection.events.read().events
    retired = {(one.event.question, one.event.event) for one in of_kind(events, Retirement)}
    return [
        Problem(
            f"restores {shown(name)}, which retires nothing of the question",
            placed.place,
            "Write the event id of a line with kind retire-label",
        )
        for placed in of_kind(events, Restoration)
        for name in placed.event.restores
        if (placed.event.question, name) not in retired
    ]


def _role_findings(loaded: Loaded, team: Team) -> list[Problem]:
    """Adjudications in force by authors who may not adjudicate, a line per author."""
    found: dict[str, list[str]] = {}
    for placed in live(loaded.collection.ledger.read().events, loaded.corpus):
        event = placed.event
        if event.adjudication and not team.may_adjudicate(event.author):
            pair = f"{shown(event.question)} with {event.key.short()}"
            found.setdefault(event.author, []).append(pair)
    return [
        Problem(
            f"{count(len(pairs), 'adjudication')} by {author}, whom roles.adjudicators does not "
            f"name: {pairs[0]}" + (" for one" if len(pairs) > 1 else ""),
            PLACE,
            "Add the author there, or take back what was adjudicated",
        )
        for author, pairs in found.items()
    ]


def _index_findings(loaded: Loaded) -> list[Problem]:
    """Configurations whose index does not fit, and chunks that the embedder cut."""
    collection = loaded.collection
    found: dict[str, Problem] = {}
    for name, configuration in collection.settings.configurations.items():
        try:
            embedder = make_embedder(configuration)
            digest = embedder.digest if embedder else None
            reason = misfit(collection, name, loaded.corpus, digest) or missing_vectors(
                collection, name, loaded.corpus, digest
            )
            manifest = read_manifest(collection, name)
            if not reason and collection.settings.qdrant_url and configuration.mode != "external":
                Target(collection, name, loaded.corpus, embedder).open()
        except (EngineError, NotReady, InvalidInput) as error:
            for problem in error.problems:
                found[str(problem)] = problem
            continue
        if reason:
            found[reason] = Problem(reason, remedy=f"Index it: desk index {collection.name}")
        elif manifest and manifest.cut:
            message = (
                f"chunks longer than {manifest.embedder} reads were cut: {len(manifest.cut)}, "
                f"{ChunkKey(*manifest.cut[0]).short()} for one"
            )
            found[message] = Problem(message, remedy="Split long paragraphs in the source texts")
    return list(found.values())


def as_json(report: CheckReport) -> dict[str, Any]:
    """The answer of `desk check --json`."""
    problems = [("error", p) for p in report.errors] + [("finding", p) for p in report.findings]
    return {
        "format": 1,
        "collection": report.collection,
        "ok": report.exit_code == 0,
        **report.facts,
        **({"vectors": [one.as_json() for one in report.vectors]} if report.vectors else {}),
        "problems": [
            {"severity": severity, "place": p.place, "message": p.message, "remedy": p.remedy}
            for severity, p in problems
        ],
        "notices": list(report.notices),
    }


def as_text(report: CheckReport) -> str:
    """The answer of `desk check`."""
    lines = [f"{report.collection}:"]
    if facts := report.facts:
        counted = ", ".join(f"{n} {kind}" for kind, n in facts["questions"].items())
        states = ", ".join(f"{n} {state}" for state, n in facts["pairs"].items())
        lines += [
            f"  corpus     {count(facts['documents'], 'document')}, "
            f"{count(facts['chunks'], 'chunk')}, {facts['eligible']} eligible",
            f"  revision   {facts['corpus_revision']}",
            f"  questions  {counted}",
            f"  labels     {count(facts['judgments'], 'judgment')} in force; "
            f"pairs: {states or 'none'}; {facts['relevant']} relevant",
        ]
    lines += [f"  vectors    {one}" for one in report.vectors]
    lines += [f"  error: {problem}" for problem in report.errors]
    lines += [f"  finding: {problem}" for problem in report.findings]
    lines += [f"  note: {notice}" for notice in report.notices]
    verdicts = {0: "  Fine.", 1: "  Usable, with findings.", 2: "  Refused."}
    return "\n".join([*lines, verdicts[report.exit_code]])

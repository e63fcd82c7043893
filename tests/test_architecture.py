"""The picture of the house, drawn from the imports of every file."""

import ast
import re
import subprocess

import pytest

from tests.conftest import REPOSITORY

APP = REPOSITORY / "app"
FILES = sorted(path for path in APP.rglob("*.py"))
#: What each part may import of the others.
MAY = {
    "core": {"core"},
    "settings": {"core", "settings"},
    "workspace": {"core", "settings"},
    "log": {"core"},
    "team": {"core"},
    "launch": {"core", "team", "workspace"},
    "engines": {"core", "engines"},
    "flows": {"core", "engines", "flows", "settings", "team", "workspace"},
    "ui": {"core", "engines", "flows", "ui", "settings", "team", "workspace", "log"},
    "pages": {"core", "flows", "ui", "settings", "workspace"},
    "commands": {"commands", "core", "flows", "workspace", "settings", "log"},
    "cli": {"commands", "core", "flows", "launch", "log", "team"},
    "api": {"core", "flows", "settings", "workspace"},
    "main": {"core", "flows", "ui", "workspace", "settings", "log"},
    "__init__": set(),
}
#: Which files may import a third-party module.
ONLY = {
    "streamlit": r"main\.py|ui/.*|pages/.*",
    "duckdb": r"engines/store\.py",
    "qdrant_client": r"engines/qdrant.*\.py",
    "qdrant_edge": r"engines/(qdrant|edge).*\.py",
    "ollama": r"engines/(ollama_embedding|judge)\.py",
    "httpx": r"engines/(ollama_embedding|judge|external|qdrant_calls)\.py",
    "onnxruntime": r"engines/bundled\.py",
    "tokenizers": r"engines/bundled\.py",
    "sqlite3": r"engines/(vectors|texts)\.py",
    "altair": r"flows/charts.*\.py",
    "click": r"cli\.py|commands/.*",
    "openpyxl": r"engines/sheets(_out)?\.py",
}


def name_of(path):
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def imported(path):
    """Every module a file imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            within = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= within or {node.module}
    return found


GRAPH = {name: imported(path) for name, path in MODULES.items()}


def part_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def relative(path):
    return path.relative_to(APP).as_posix()


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_imports_go_one_way(name):
    part = part_of(name)
    inside = {m for m in GRAPH[name] if m == "app" or m.startswith("app.")}
    known = {"app"}  # it has the version
    wrong = {m for m in inside - known if part_of(m) not in MAY[part]}
    assert not wrong, f"{name} may not import {sorted(wrong)}"


def test_core_knows_nobody():
    wrong = {
        (name, m) for name in GRAPH if part_of(name) == "core"
        for m in GRAPH[name] if m == "app" or (m.startswith("app.") and part_of(m) != "core")
    }  # fmt: skip
    assert wrong == set()


def test_pages_never_import_pages():
    wrong = {(n, m) for n in GRAPH for m in GRAPH[n] if m.startswith("app.pages")}
    assert wrong == set()


@pytest.mark.parametrize("module", ONLY)
def test_each_outside_thing_has_one_home(module):
    homes = {
        relative(MODULES[name]) for name, found in GRAPH.items()
        for m in found if m.partition(".")[0] == module
    }  # fmt: skip
    wrong = {home for home in homes if not re.fullmatch(ONLY[module], home)}
    assert not wrong, f"{module} is imported by {sorted(wrong)}"


def test_no_import_goes_round_in_a_circle():
    def visit(name, trail):
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name in done:
            return
        for other in GRAPH.get(name, set()) & GRAPH.keys():
            visit(other, [*trail, name])
        done.add(name)

    done = set()
    for name in GRAPH:
        visit(name, [])


TESTS = sorted((REPOSITORY / "tests").rglob("*.py"))


@pytest.mark.parametrize("path", [*FILES, *TESTS], ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_no_file_is_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def swallows(handler):
    kinds = [handler.type] if not isinstance(handler.type, ast.Tuple) else handler.type.elts
    names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
    everything = handler.type is None or "BaseException" in names
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_nothing_catches_everything_and_goes_on(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert [one.lineno for one in handlers if swallows(one)] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("try: f()\nexcept: pass", True),
        ("try: f()\nexcept BaseException: pass", True),
        ("try: f()\nexcept (OSError, BaseException) as e: log(e)", True),
        ("try: f()\nexcept BaseException:\n  undo()\n  raise", False),
        ("try: f()\nexcept Exception: pass", False),
    ],
)
def test_the_check_above_can_fail(text, wrong):
    (handler,) = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ExceptHandler))
    assert swallows(handler) is wrong


def tracked():
    answer = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = [name for name in answer.stdout.split("\0") if name]
    return [path for name in names if (path := REPOSITORY / name).is_file()] or FILES


#: A folder that only one machine has. In pieces, so that this file does not hold what it forbids.
MACHINE = re.compile(r"(?<![\w.:/~}])/(?:" + "|".join(["work", "home", "root", "Users"]) + r")/\w")


def test_no_file_names_a_folder_of_one_machine():
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = text.splitlines()
        found += [f"{path.name}:{n}" for n, line in enumerate(lines, 1) if MACHINE.search(line)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [('open("{}data")', True), ("see {}data", True), ("https://x.org{}data", False)],
)
def test_the_search_for_such_folders_can_fail(text, wrong):
    for folder in ("ho" + "me", "ro" + "ot"):
        assert bool(MACHINE.search(text.format(f"/{folder}/"))) is wrong


def test_every_statement_is_used():
    """A named .sql file that nobody asks for is dead."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
    names = {path.stem for path in (APP / "engines/sql").glob("*.sql")}
    assert {name for name in names if f'"{name}"' not in source} == set()

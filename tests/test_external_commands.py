"""Commands asked by their standard input: what they may do, and what is left of them."""

import json
import time

import pytest

from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from tests.retrievers import BEGIN, HANG, ask, failed, gone, pids, python, unreachable

LOG = "See the program's own log."


@pytest.fixture
def engine(tiny, collection_of, tmp_path):
    """An engine over a tiny corpus that runs a command in `tmp_path`."""
    corpus = collection_of(tiny()).corpus()

    def build(command, timeout=10.0):
        program = Program(None, tuple(command), tmp_path, None, timeout, 1)
        return ExternalEngine(program, Answers(program.name, corpus))

    return build


@pytest.mark.parametrize("text", ["Why?", "wïe? 日本 🙂\nand 'so' \"on\"\\", "w" * 2_000_000])
def test_a_command_reads_the_question_and_writes_the_answer(engine, tmp_path, text):
    program = BEGIN + (
        "open('seen.json', 'w').write(json.dumps([asked, os.getcwd()]))\n"
        "print(json.dumps({'hits': [{'chunk': 'plum', 'score': 0}]}))"
    )
    one = engine(python(tmp_path, program))
    assert ask(one, text) == ["plum"]
    seen, folder = json.loads((tmp_path / "seen.json").read_text())
    assert seen == {"format": 1, "question": text, "k": 20} and folder == str(tmp_path)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.stderr.write('a\\nno index\\n\\n'); sys.exit(3)",
         ' ended with exit code 3: "no index"'),
        ("import sys; sys.exit(7)", " ended with exit code 7: without a word"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
         " was ended by signal 11: without a word"),
        ("import sys; sys.stderr.write('x' * 1_000_000 + 'end'); sys.exit(1)",
         f' ended with exit code 1: "{"x" * 159}…"'),
    ],
)  # fmt: skip
def test_a_command_that_fails(engine, tmp_path, program, said):
    one = engine(python(tmp_path, program))
    assert failed(ask(one)) == (
        f'the command "{" ".join(one.description()["command"])}"{said}. Run it by hand with the '
        "question on its standard input."
    )


def test_a_command_that_writes_what_is_no_answer(engine, tmp_path):
    one = engine(python(tmp_path, "print('loading model ...')"))
    assert ' sent "loading model ...\\n", which is no JSON. It must' in failed(ask(one))
    one = engine(("true",))
    assert failed(ask(one)).startswith('the command "true" sent nothing. It must answer ')


def test_a_megabyte_of_complaints_and_a_question_not_read_are_no_failure(engine, tmp_path):
    program = (
        "import json, sys\nsys.stderr.write('x' * 1_000_000)\n"
        "print(json.dumps({'hits': [{'chunk': 'plum', 'score': 0}]}))"
    )
    assert ask(engine(python(tmp_path, program)), "w" * 1_000_000) == ["plum"]


def test_a_command_that_writes_without_end(engine):
    said = failed(ask(engine(("yes", "x" * 1000))))
    assert said.endswith(f" wrote over 67,108,864 bytes. {LOG}")


@pytest.mark.parametrize(
    ("command", "why"),
    [("no-such-program", "No such file or directory"), ("./plain.txt", "Permission denied")],
)
def test_a_command_that_cannot_be_run(engine, tmp_path, command, why):
    (tmp_path / "plain.txt").write_text("no program")
    assert unreachable(ask(engine((command, "-x")))) == (
        f'the command "{command} -x" cannot be run: {why}. Correct command in collection.toml.'
    )


def test_a_command_that_hangs_is_killed_with_its_children(engine, tmp_path):
    one = engine(python(tmp_path, HANG), timeout=2.0)
    began = time.monotonic()
    assert unreachable(ask(one)).endswith(
        " did not answer within 2 s. Raise timeout in the configuration, or lower concurrency."
    )
    assert time.monotonic() - began < 10
    assert len(pids(tmp_path)) == 2 and gone(pids(tmp_path))


def test_a_child_that_is_left_behind_ends_with_its_command(engine, tmp_path):
    program = HANG.replace("time.sleep(60)", "print('{\"hits\": []}')").replace(
        '["sleep", "60"]', '["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL'
    )
    assert ask(engine(python(tmp_path, program))) == []
    assert len(pids(tmp_path)) == 2 and gone(pids(tmp_path))

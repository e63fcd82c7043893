"""The entry point, and becoming the dashboard's server: the port, the flags, a real start."""

import signal
import socket
import sys
import tomllib
import urllib.error
import urllib.request

import pytest

from app.cli import main
from app.core.errors import InvalidInput
from app.launch import choose_port, command, settings_file


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.fixture
def free():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def refused(*words):
    with pytest.raises(InvalidInput) as caught:
        choose_port(*words)
    return str(caught.value)


def test_the_port_asked_for(free):
    assert choose_port("127.0.0.1", free) == free


def test_the_first_free_port_unless_one_is_named(taken, monkeypatch):
    monkeypatch.setattr("app.launch.DEFAULT_PORT", taken)
    assert taken < choose_port("127.0.0.1", None) < taken + 50


def test_a_port_that_is_taken(taken):
    assert refused("127.0.0.1", taken) == (
        f"port {taken} is taken at 127.0.0.1. Name a free one with --port."
    )


def test_no_port_left(monkeypatch):
    monkeypatch.setattr("app.launch._is_free", lambda address, port: False)
    assert refused("localhost", None) == (
        "ports 8501 to 8550 are taken at localhost. Name a free one with --port."
    )


def test_an_address_of_another_machine():
    assert refused("192.0.2.1", 8501) == (
        "the address 192.0.2.1 is not one of this machine. Use localhost, or an address of this "
        "machine."
    )


def test_an_address_that_nobody_has():
    sentence = refused("no-such-host.invalid", 8501)
    assert sentence.startswith("the address no-such-host.invalid is unknown (")
    assert sentence.endswith("Use localhost, or an address of this machine.")


def test_the_settings_travel_as_flags(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = command("localhost", 8765)
    assert words[:5] == [sys.executable, "-P", "-m", "streamlit", "run"]
    assert words[5].endswith("main.py")
    for flag in (
        "server.address=localhost", "server.port=8765", "server.headless=true",
        "browser.gatherUsageStats=false", "runner.postScriptGC=false",
    ):  # fmt: skip
        assert words.count(f"--{flag}") == 1


def test_every_setting_is_a_flag():
    value = tomllib.loads(settings_file().read_text(encoding="utf-8"))
    words = command("localhost", 1234)
    for section in ("runner", "client", "browser"):
        for name in value[section]:
            assert sum(word.startswith(f"--{section}.{name}=") for word in words) == 1
    assert not [word for word in words if "[" in word or "{" in word]


def test_an_address_for_all_is_told(evaluated, desk, monkeypatch):
    served = []
    monkeypatch.setattr("app.cli.serve", lambda *words: served.append(words))
    answer = desk(evaluated, "--address", "0.0.0.0")
    assert answer.notes == ["note: there is no sign-in: whoever reaches this address can grade."]
    workspace, address, port, sign_in = served[0]
    assert (workspace.root, address, sign_in) == (evaluated, "0.0.0.0", None)
    assert f"Dashboard: http://0.0.0.0:{port}  (Ctrl-C ends it)" in answer.out


@pytest.mark.parametrize(
    ("address", "shown"), [("localhost", "localhost"), ("::1", "[::1]"), ("127.0.0.1", "127.0.0.1")]
)
def test_the_address_of_the_dashboard(evaluated, desk, monkeypatch, address, shown):
    monkeypatch.setattr("app.cli.choose_port", lambda address, port: 8765)
    monkeypatch.setattr("app.cli.serve", lambda *words: None)
    answer = desk(evaluated, "--address", address)
    assert f"\nDashboard: http://{shown}:8765  (Ctrl-C ends it)\n" in answer.out
    assert answer.notes == []


def test_a_taken_port_is_told_before_the_work(runbooks, desk, taken):
    answer = desk(runbooks, "--port", str(taken))
    assert (answer.code, answer.out) == (2, "")
    assert (
        answer.err == f"error: port {taken} is taken at localhost. Name a free one with --port.\n"
    )


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError("the pipe broke"), "the pipe broke"),
        (PermissionError(13, "Permission denied", "x.md"), "x.md: Permission denied"),
    ],
)
def test_what_the_system_refuses(monkeypatch, capsys, error, sentence):
    def broken(**more):
        raise error

    monkeypatch.setattr("app.cli.desk", broken)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        f"error: {sentence}. Remove what is in the way, or mend the permissions.\n"
    )


def health(port):
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError):
        return ""


@pytest.mark.slow
def test_desk_starts_a_server_that_a_signal_ends(runbooks, desk_process, until, free):
    process = desk_process(runbooks, "--port", str(free))
    until(lambda: health(free) == "ok" or process.poll() is not None, "the start", 60, 0.1)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert "7 of 7" in out and f"Dashboard: http://localhost:{free}" in out
    assert "Traceback" not in out + err
    assert health(free) == "" and choose_port("localhost", free) == free

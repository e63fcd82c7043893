"""A Chromium and a running dashboard."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import sync_playwright

from app.launch import command
from app.team import STARTED_WITH
from tests.browser.labelers import Reviewer, build
from tests.conftest import surroundings

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium():
    """A browser, or the reason why these tests are skipped."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = "Browser tests need Debian's chromium: apt-get install chromium"
        if os.environ.get("DESK_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def screen(chromium):
    """A fresh page; `screen.outside` are the requests that left this machine."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.outside = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://localhost", "ws://localhost", "data:", "blob:"))
            else page.outside.append(request.url)
        ),
    )
    page.set_default_timeout(20_000)
    yield page
    context.close()


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def is_healthy(address):
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
            return answer.read() == b"ok"
    except OSError:
        return False


@contextmanager
def serving(root):
    """A server of a workspace, without preparing it: its address and its process."""
    port = free_port()
    process = subprocess.Popen(
        command("localhost", port), cwd=root, env=surroundings({STARTED_WITH: ""}),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address, end = f"http://localhost:{port}", time.monotonic() + 60
    try:
        while not is_healthy(address):
            assert process.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.1)
        yield address, process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def dashboard(runbooks, desk_process, until):
    """The address of `desk` serving the runbooks, evaluated, in a process of its own."""
    port = free_port()
    process = desk_process(runbooks, "--port", str(port))
    address = f"http://localhost:{port}"

    def healthy():
        assert process.poll() is None, process.communicate()
        return is_healthy(address)

    until(healthy, "the dashboard's start", every=0.1)
    yield address
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


@pytest.fixture(scope="session")
def grading_desk(tmp_path_factory):
    """One server for all tests of grading; each has reviewers of its own."""
    root = build(tmp_path_factory.mktemp("grading"))
    with serving(root) as (address, _):
        yield address, root


@pytest.fixture
def reviewer(grading_desk, chromium):
    """Reviewers, each in a browser context of their own unless a page is given."""
    contexts = []

    def sit_down(name, collection="plain", page=None):
        if page is None:
            contexts.append(chromium.new_context(viewport={"width": 1280, "height": 800}))
            page = contexts[-1].new_page()
            page.set_default_timeout(20_000)
        return Reviewer(page, *grading_desk, name, collection)

    yield sit_down
    for context in contexts:
        context.close()

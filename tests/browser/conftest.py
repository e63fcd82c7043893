"""A Chromium and a running dashboard."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager
from tempfile import TemporaryFile
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from app.launch import command
from app.team import STARTED_WITH
from tests.browser.labelers import Reviewer, build
from tests.conftest import DESK, surroundings

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Milliseconds to wait for what a page should show: the first page of a new server waits for its
#: imports, and a busy machine takes several times as long as an idle one.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
#: What a page can leave in its browser, besides cookies and the cache of files.
STORED = "file_systems,indexeddb,local_storage,websql,service_workers,cache_storage"


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


class Contexts:
    """Pages in browser contexts that are used again, without what their last user left in them.

    What they have cached of a server's static files stays: to load those anew takes longer than
    most of what the tests do.
    """

    def __init__(self, browser):
        self.browser, self.free, self.visited = browser, [], {}

    def page(self):
        """A fresh page in a context that nobody uses."""
        context = self.free.pop() if self.free else self._new()
        page = context.new_page()
        storage = context.new_cdp_session(page)
        for origin in self.visited[context]:
            storage.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})
        storage.detach()
        context.clear_cookies()
        return page

    def _new(self):
        context = self.browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(PATIENCE)
        visited = self.visited[context] = set()

        def visit(frame):
            parts = urlsplit(frame.url)
            if parts.scheme.startswith("http"):
                visited.add(f"{parts.scheme}://{parts.netloc}")

        context.on("page", lambda page: page.on("framenavigated", visit))
        return context

    def give_back(self, context):
        for page in context.pages:
            page.close()
        self.free.append(context)


@pytest.fixture(scope="session")
def contexts(chromium):
    return Contexts(chromium)


@pytest.fixture
def screen(contexts):
    """A fresh page; `screen.outside` are the requests that left this machine."""
    page = contexts.page()
    page.outside = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://localhost", "ws://localhost", "data:", "blob:"))
            else page.outside.append(request.url)
        ),
    )
    yield page
    contexts.give_back(page.context)


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


@contextmanager
def desk_serving(root):
    """`desk` serving a workspace in a process of its own: its address."""
    port = free_port()
    words = [sys.executable, *DESK[1:], "--workspace", str(root), "--port", str(port)]
    address, end = f"http://localhost:{port}", time.monotonic() + 60
    with TemporaryFile("w+") as said:
        process = subprocess.Popen(
            words, cwd=root, env=surroundings({}), stdout=said, stderr=subprocess.STDOUT
        )
        try:
            while not is_healthy(address):
                said.seek(0)
                assert process.poll() is None and time.monotonic() < end, said.read()
                time.sleep(0.1)
            yield address
            process.send_signal(signal.SIGTERM)
            process.wait(20)
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def dashboard(evaluated):
    """The address of a new server of the runbooks, of which nobody has asked anything."""
    with desk_serving(evaluated) as address:
        yield address


@pytest.fixture(scope="session")
def grading_desk(tmp_path_factory):
    """One server for all tests of grading; each has reviewers of its own."""
    root = build(tmp_path_factory.mktemp("grading"))
    with serving(root) as (address, _):
        yield address, root


@pytest.fixture
def reviewer(grading_desk, contexts):
    """Reviewers, each in a browser context of their own unless a page is given."""
    taken = []

    def sit_down(name, collection="plain", page=None):
        if page is None:
            page = contexts.page()
            taken.append(page.context)
        return Reviewer(page, *grading_desk, name, collection)

    yield sit_down
    for context in taken:
        contexts.give_back(context)

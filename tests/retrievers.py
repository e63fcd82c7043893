"""Retrievers of others to ask: an HTTP endpoint and small commands, both of them real."""

import json
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from app.core.errors import EngineError, Unreachable
from app.engines.retrieval import Asked, Search


def hits(*chunks, **more):
    """An answer: chunks, or (chunk, score) pairs; scores fall from 1 where none is given."""
    rows = [one if isinstance(one, tuple) else (one, 1 - n / 100) for n, one in enumerate(chunks)]
    return {"hits": [{"document": c, "chunk": c, "score": score} for c, score in rows], **more}


@dataclass
class Reply:
    """An answer with a status and headers; `drip` sends a byte every so many seconds."""

    body: object = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    drip: float = 0.0
    cut: bool = False  # promise more than is sent, then hang up


class Endpoint:
    """Answers what `say(question, k)` returns: a dict, bytes, a Reply, or None to hang up.

    `asked` are the requests it read, `heads` their headers, `peak` the most at once.
    """

    def __init__(self, say=lambda question, k: hits()):
        self.say = say
        self.asked, self.heads, self.peak = [], [], 0
        self.closing = threading.Event()
        self._now, self._lock, self._server = 0, threading.Lock(), None
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/search"

    @property
    def name(self):
        """What messages call it."""
        return f"the endpoint {self.url}"

    def start(self):
        """Listen, on the same port as before."""
        self.closing.clear()
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.owner, self.port = self, self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Refuse connections, and end those there are; more than once does no harm."""
        self.closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def take(self, handler, body):
        with self._lock:
            self._now += 1
            self.peak = max(self.peak, self._now)
            self.asked.append(body)
            self.heads.append(dict(handler.headers))
        try:
            said = self.say(body.get("question"), body.get("k"))
        finally:
            with self._lock:
                self._now -= 1
        return said


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """A client that has gone away is none of the tests' business."""


class _Handler(BaseHTTPRequestHandler):
    """One request per connection, so that a stopped server holds none open."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        owner = self.server.owner
        said = owner.take(self, json.loads(body))
        if said is None:
            return
        reply = said if isinstance(said, Reply) else Reply(said)
        sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        length = len(sent) + (1 if reply.cut else 0)
        for name, value in {"Content-Length": str(length), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if not reply.drip:
            self.wfile.write(sent)
            return
        for n in range(len(sent)):
            self.wfile.write(sent[n : n + 1])
            if owner.closing.wait(reply.drip):
                return

    def log_message(self, *arguments):
        """Stay silent."""


def asleep(endpoint, seconds=60):
    """What `say` of an endpoint that never answers does."""

    def say(question, k):
        endpoint.closing.wait(seconds)

    return say


#: Begins every command in Python: `asked` is the request.
BEGIN = "import json, os, sys, time\nasked = json.load(sys.stdin)\n"
ECHO = BEGIN + "print(json.dumps({'hits': [{'chunk': c, 'score': 1} for c in %r]}))\n"


def python(folder, program, name="retriever.py"):
    """The command of a Python program that is put into a folder."""
    (folder / name).write_text(program, encoding="utf-8")
    return [sys.executable, "-S", "-E", name]


def external(name="pipeline", **settings):
    """The lines of a configuration; JSON and TOML spell these values alike."""
    settings = {"mode": "external", **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join([f"[configurations.{name}]", *lines, ""])


def alive(pid):
    """Whether a process is at work; one that has ended and was not waited for is not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids, seconds=5):
    """Whether processes end within some seconds."""
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def ask(engine, text="Why?"):
    (outcome,) = engine.search_many(Search("external", 20, {}), [Asked(text)])
    return outcome if isinstance(outcome, EngineError) else [hit.key.chunk for hit in outcome]


def unreachable(outcome):
    """The sentence of what the next question would meet as well."""
    assert isinstance(outcome, Unreachable)
    return str(outcome)


def failed(outcome):
    """The sentence of what is this question's failure alone."""
    assert isinstance(outcome, EngineError) and not isinstance(outcome, Unreachable)
    return str(outcome)


#: Starts a child, writes both process ids, and hangs.
HANG = """import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "60"])
with open("pids.tmp", "a") as file:
    file.write(f"{os.getpid()} {child.pid}\\n")
os.replace("pids.tmp", f"{os.getpid()}.pids")
time.sleep(60)
"""


def pids(folder):
    return [int(pid) for file in folder.glob("*.pids") for pid in file.read_text().split()]

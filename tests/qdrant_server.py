"""A Qdrant server over real HTTP, on this machine, whose engine is qdrant-client's local one."""

import math
import socket
import sys
import threading
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from urllib.parse import unquote, urlsplit

from pydantic_core import to_json
from qdrant_client import QdrantClient

from tests.qdrant_routes import changes, envelope, respond, unauthorized


@dataclass
class Answer:
    """What goes back over the wire."""

    status: int
    body: bytes
    headers: dict[str, str]


@dataclass
class Fault:
    """What befalls the next `left` requests whose method and path contain `path`.

    It sleeps `seconds`, or gives an answer; with neither it closes the connection.
    """

    path: str
    left: float
    seconds: float | None = None
    answer: Answer | None = None


class QdrantServer:
    """Answers as the server documents, in threads; its faults come before its routes.

    Runs inside `with`, or between `start` and `stop`. While it is asked, hold `lock` to use
    `client`: local mode is not thread-safe.
    """

    def __init__(self, api_key=None):
        self.api_key = api_key
        self.client = QdrantClient(":memory:")
        self.lock = threading.RLock()
        self.port = 0
        self._state = threading.RLock()
        self._listener = None
        self._runs = []
        self._faults = []
        self._answers_left = None
        self._in_flight = 0
        self.forget()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self):
        return self._listener is not None

    @property
    def requests(self):
        """Every request that arrived, refused ones too, as (method, path)."""
        with self._state:
            return list(self._requests)

    @property
    def writes(self):
        """Those that asked to change something, whatever came of it."""
        return [one for one in self.requests if changes(*one)]

    @property
    def in_flight_peak(self):
        """The highest number of requests that were worked on at once."""
        return self._peak

    def connect(self, **options):
        """A client of it; without `verify` it reads no certificates, which takes 0.1 s."""
        return QdrantClient(url=self.url, check_compatibility=False, verify=False, **options)

    def forget(self):
        """Start the records anew."""
        with self._state:
            self._requests = []
            self._peak = self._in_flight

    def start(self):
        """Listen, after a stop on the same port as before, with the same collections."""
        with self._state:
            if self._listener is None:
                for run in self._runs:
                    run.refuse()
                self._answers_left = None
                self._listener = _Listener(self, self.port)
                self._runs.append(self._listener)
                self.port = self._listener.server_address[1]

    def stop(self):
        """Refuse connections from now on; close those there are, whether answered or not."""
        with self._state:
            self._listener = None
            runs, self._runs = self._runs, []
        for run in runs:
            run.cease()

    def fail(self, status=500, times=None, path="", body=None, headers=None):
        """Answer with a status; `body` is bytes, text or JSON, by default Qdrant's for errors."""
        if body is None:
            body = envelope(HTTPStatus(status).phrase)
        elif isinstance(body, str):
            body = body.encode()
        elif not isinstance(body, bytes):
            body = to_json(body)
        self._add(path, times, answer=Answer(status, body, dict(headers or {})))

    def garbage(self, times=None, path=""):
        """Answer 200 with a body that is no JSON, as a captive portal would."""
        self.fail(200, times, path, "<html>Please log in</html>", {"Content-Type": "text/html"})

    def hang(self, seconds, times=None, path=""):
        """Sleep before going on to the next fault, or to the answer."""
        self._add(path, times, seconds=seconds)

    def drop(self, times=None, path=""):
        """Close the connection without an answer."""
        self._add(path, times)

    def die_after(self, answers):
        """Answer so many more requests; at the next, close every connection and stop listening."""
        with self._state:
            self._answers_left = answers

    def heal(self):
        """Take back every fault."""
        with self._state:
            self._faults.clear()
            self._answers_left = None

    def _add(self, path, times, **what):
        with self._state:
            self._faults.append(Fault(path, math.inf if times is None else times, **what))

    def _admit(self, listener, connection, method, parts):
        """Note a request; False where the server dies of it, or is dead already."""
        with self._state:
            self._requests.append((method, "/" + "/".join(parts)))
            alive = listener is self._listener and self._answers_left != 0
            if alive:
                listener.busy.add(connection)
                self._in_flight += 1
                self._peak = max(self._peak, self._in_flight)
                if self._answers_left is not None:
                    self._answers_left -= 1
                return True
            dying = listener is self._listener
            self._listener = None if dying else self._listener
        if dying:
            listener.cease(spare_busy=True)
        return False

    def _leave(self):
        with self._state:
            self._in_flight -= 1

    def _due(self, line):
        """The faults that meet a request, up to the first that settles it."""
        due = []
        with self._state:
            for fault in self._faults:
                if fault.left > 0 and fault.path in line:
                    fault.left -= 1
                    due.append(fault)
                    if fault.seconds is None:
                        break
        return due

    def _answer(self, listener, method, parts, headers, body):
        """The answer, or None to close the connection without one."""
        path = "/" + "/".join(parts)
        for fault in self._due(f"{method} {path}"):
            if fault.seconds is None:
                return fault.answer
            if listener.ceased.wait(fault.seconds):
                return None
        if self.api_key is not None and (text := unauthorized(self.api_key, path, headers)):
            return Answer(401, text.encode(), {"Content-Type": "text/plain; charset=utf-8"})
        with self.lock:
            if listener.ceased.is_set():
                return None
            return Answer(*respond(self.client, method, parts, body), {})


class _Listener(ThreadingTCPServer):
    """One run of the server: its socket and connections."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, owner, port):
        self.owner = owner
        self.open = {}
        self.busy = set()
        self.ceased = threading.Event()
        super().__init__(("127.0.0.1", port), _Handler)
        self.loop = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.loop.start()

    def process_request(self, request, client_address):
        """A thread for a connection; known from the moment it is accepted."""
        run = self.process_request_thread
        thread = threading.Thread(target=run, args=(request, client_address), daemon=True)
        self.open[request] = thread
        thread.start()

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.busy.discard(request)
        self.open.pop(request, None)

    def handle_error(self, request, client_address):
        """A client that went away is no error of the server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def refuse(self):
        """Stop listening; more than once does no harm."""
        self.shutdown()
        self.socket.close()

    def cease(self, spare_busy=False):
        """Close everything; `spare_busy` lets the requests being answered end first."""
        self.refuse()
        if not spare_busy:
            self.ceased.set()
        threads = list(self.open.items())
        for connection, _ in threads:
            if not (spare_busy and connection in self.busy):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # it was closed already
        for _, thread in threads:
            if not spare_busy and thread is not threading.current_thread():
                thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with connections kept alive; an answer goes out in one piece."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def handle_any(self):
        owner, listener = self.server.owner, self.server
        parts = [unquote(part) for part in urlsplit(self.path).path.split("/") if part]
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        kept, self.close_connection = not self.close_connection, True
        if len(body) < length or not owner._admit(listener, self.request, self.command, parts):
            return
        try:
            answer = owner._answer(listener, self.command, parts, self.headers, body)
        finally:
            owner._leave()
        if answer is None:
            return
        self.send_response(answer.status)
        sent = {"Content-Type": "application/json", **answer.headers}
        for name, value in {**sent, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()
        listener.busy.discard(self.request)
        self.close_connection = not (kept and listener is owner._listener)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = handle_any

    def log_message(self, *arguments):
        """Stay silent."""

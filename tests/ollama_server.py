"""An Ollama server without a network, for the transport of its own client, and one over HTTP."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx


class OllamaServer:
    """Answers as the server documents; a token is a word. Set `fail` to answer otherwise."""

    def __init__(self, model="embeddinggemma:latest", dimension=4, context=20):
        self.model, self.dimension, self.context = model, dimension, context
        self.digest = "ab" * 32
        self.requests = []
        self.fail = None

    def __call__(self, request):
        body = json.loads(request.content) if request.content else {}
        self.requests.append((request.url.path, body))
        if self.fail and (answer := self.fail(request.url.path, body)) is not None:
            return answer
        return getattr(self, request.url.path.removeprefix("/api/"))(body)

    @property
    def embedded(self):
        """The inputs of every embedding request."""
        return [body["input"] for path, body in self.requests if path == "/api/embed"]

    def tags(self, body):
        details = {"format": "gguf", "family": "gemma3", "parameter_size": "300M"}
        one = {"name": self.model, "model": self.model, "digest": self.digest, "size": 1}
        return httpx.Response(200, json={"models": [{**one, "details": details}]})

    def show(self, body):
        info = {"general.architecture": "gemma3", "gemma3.context_length": self.context}
        return httpx.Response(200, json={"model_info": info, "details": {"family": "gemma3"}})

    def embed(self, body):
        if body["model"] not in (self.model, self.model.removesuffix(":latest")):
            error = f'model "{body["model"]}" not found, try pulling it first'
            return httpx.Response(404, json={"error": error})
        words = [len(text.split()) for text in body["input"]]
        if max(words) > self.context and body.get("truncate") is False:
            error = "the input length exceeds the context length"
            return httpx.Response(400, json={"error": error})
        rows = [[float(len(text) + n) for n in range(self.dimension)] for text in body["input"]]
        answer = {"model": body["model"], "embeddings": rows, "prompt_eval_count": sum(words)}
        return httpx.Response(200, json={**answer, "total_duration": 1, "load_duration": 1})


class Served:
    """The same over real HTTP, which can be stopped, and started again on its port."""

    def __init__(self, server):
        self.server, self.port, self._listener = server, 0, None
        self.closing = threading.Event()
        self.start()

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        self.closing.clear()
        self._listener = _Listener(("127.0.0.1", self.port), _Handler)
        self._listener.owner, self.port = self, self._listener.server_port
        threading.Thread(target=self._listener.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Refuse connections; more than once does no harm."""
        self.closing.set()
        if self._listener is not None:
            self._listener.shutdown()
            self._listener.server_close()
            self._listener = None


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """A client that has gone away is none of the tests' business."""


class _Handler(BaseHTTPRequestHandler):
    """One request per connection, so that a stopped server holds none open."""

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        owner = self.server.owner
        reply = owner.server(httpx.Request(self.command, f"http://stub{self.path}", content=body))
        if owner.closing.is_set():
            return
        self.send_response(reply.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    do_GET = do_POST = answer

    def log_message(self, *arguments):
        """Stay silent."""

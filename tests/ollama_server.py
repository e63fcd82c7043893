"""An Ollama server without a network, for the transport of its own client."""

import json

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

"""A server that speaks as much of Qdrant as a sync and an evaluation ask for.

    python -m tests.benchmarks.many_points POINTS

Points are made as they are asked for, so that it needs no memory; every tenth is not eligible.
It prints its port and answers until it is ended.
"""

import json
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = """queue worker deploy backup restore index ledger metric shard replica quota alert pager
budget cluster node disk retry limit region tenant secret token policy""".split()  # noqa: SIM905
DIMENSION = 384


def eligible(number):
    return number % 10 != 9


def payload(number):
    """About 500 characters of text, by the number alone."""
    picked = random.Random(number)
    return {
        "id": f"chunk-{number}",
        "text": f"Number {number}. " + " ".join(picked.choices(WORDS, k=75)),
        "meta": {
            "document": f"document-{number // 20}",
            "status": "published" if eligible(number) else "draft",
        },
    }


def nearest(vector, limit, points):
    """Hits by the vector alone."""
    start = int(abs(sum(vector[:8])) * 1e6) % points
    near = (n for step in range(points) if eligible(n := (start + step * 7) % points))
    return [
        {"id": number, "version": 1, "score": 0.9 - rank / 1000}
        for rank, number in zip(range(limit), near, strict=False)
    ]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    points = 0

    def result(self, path, body):
        if path == "/":
            return None
        if path.endswith("/scroll"):
            first = body.get("offset") or 0
            last = min(first + body["limit"], self.points)
            records = [{"id": n, "payload": payload(n)} for n in range(first, last)]
            return {"points": records, "next_page_offset": last if last < self.points else None}
        if path.endswith("/count"):
            passing = self.points - self.points // 10
            return {"count": passing if body.get("filter") else self.points}
        if path.endswith("/query/batch"):
            return [
                {"points": nearest(one["query"]["nearest"], one["limit"], self.points)}
                for one in body["searches"]
            ]
        return {
            "status": "green", "optimizer_status": "ok", "segments_count": 1, "payload_schema": {},
            "points_count": self.points,
            "config": {
                "params": {"vectors": {"size": DIMENSION, "distance": "Cosine"}},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
                "optimizer_config": {
                    "deleted_threshold": 0.2, "vacuum_min_vector_number": 1_000,
                    "default_segment_number": 0, "flush_interval_sec": 5,
                },
            },
        }  # fmt: skip

    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        found = self.result(self.path.partition("?")[0], body)
        whole = {"result": found, "status": "ok", "time": 0.0}
        if found is None:
            whole = {"title": "many points", "version": "1.16.0"}
        sent = json.dumps(whole).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = answer

    def log_message(self, *arguments):
        """Stay silent."""


def main():
    Handler.points = int(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()

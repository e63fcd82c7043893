"""Qdrant's REST API, answered by qdrant-client's local engine: requests in, envelopes out."""

import re
import time
from functools import cache

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json
from qdrant_client.http import models

READS = {
    ("points",),
    ("points", "count"),
    ("points", "query"),
    ("points", "query", "batch"),
    ("points", "scroll"),
}
OPEN = {"/", "/healthz", "/readyz", "/livez"}
DONE = models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)
# What the local engine says, and what a server answers instead: status and text.
TRANSLATIONS = [
    (r"Collection (.+) already exists", 409, r"Wrong input: Collection `\1` already exists!"),
    (r"Point (.+) is not found in the collection", 404, r"Not found: No point with id \1 found"),
    (
        r"(?:Dense vector|Sparse vector|Multivector|Vector) (\S*) is not found in the collection",
        400,
        r"Wrong input: Not existing vector name error: \1",
    ),
    (
        r".*shapes \(\d+,(\d+)\) (?:and )?\((\d+),\).*",
        400,
        r"Wrong input: Vector dimension error: expected dim: \1, got \2",
    ),
    (r"(Wrong input: Vector dimension error: .*) for vector '.*'", 400, r"\1"),
]


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def changes(method, path):
    """Whether a request asks to change something; what is not known to read does."""
    parts = path.strip("/").split("/")
    reads = method == "POST" and parts[0] == "collections" and tuple(parts[2:]) in READS
    return method not in ("GET", "HEAD") and not reads


def unauthorized(key, path, headers):
    """Why a request lacks the key, or None where it has it or needs none."""
    given = headers.get("api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
    if given == key or path in OPEN:
        return None
    wanted = "Must provide an API key or an Authorization bearer token"
    return "Invalid API key or JWT" if given else wanted


def envelope(error):
    """The body of an error, as Qdrant writes it."""
    return to_json({"status": {"error": error}, "time": 0.0})


def respond(client, method, parts, body):
    """Status and body for a request, `parts` being its path cut at the slashes."""
    started = time.perf_counter()
    try:
        if (method, *parts) == ("GET",):
            return 200, to_json(client.info())
        result = routed(client, method, parts, body)
    except Refused as error:
        return error.status, envelope(str(error)) if str(error) else b""
    except ValidationError as error:
        return 400, envelope(f"Format error in JSON body: {error.errors()[0]['msg']}")
    except ValueError as error:
        for said, status, text in TRANSLATIONS:
            if found := re.fullmatch(said, str(error)):
                return status, envelope(found.expand(text))
        return 400, envelope(str(error))
    except (LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError) as error:
        return 500, envelope(f"Service internal error: {type(error).__name__}: {error}")
    took = time.perf_counter() - started
    return 200, to_json({"result": result, "status": "ok", "time": took})


def routed(client, method, parts, body):
    """The result of a request, a model of qdrant-client or plain data."""
    match (method, *parts):
        case ("GET", "collections"):
            return client.get_collections()
        case ("GET", "collections", name, "exists"):
            return {"exists": client.collection_exists(name)}
        case ("PUT", "collections", name):
            asked = parsed(models.CreateCollection, body)
            return client.create_collection(
                name,
                vectors_config=asked.vectors,
                sparse_vectors_config=asked.sparse_vectors,
                metadata=asked.metadata,
            )
        case ("DELETE", "collections", name):
            return client.delete_collection(name)
        case (_, "collections", name, *_) if not client.collection_exists(name):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        case ("GET", "collections", name):
            return client.get_collection(name)
        case ("PUT", "collections", name, "points"):
            asked = parsed(models.PointInsertOperations, body)
            points = asked.batch if isinstance(asked, models.PointsBatch) else asked.points
            return client.upsert(
                name, points, update_filter=asked.update_filter, update_mode=asked.update_mode
            )
        case ("PUT", "collections", name, "index"):
            parsed(models.CreateFieldIndex, body)
            return DONE
        case ("POST", "collections", name, "points", "delete"):
            return client.delete(name, parsed(models.PointsSelector, body))
        case ("POST", "collections", name, *rest) if tuple(rest) in READS:
            return read(client, name, rest, body)
        case (_, "collections", *_):
            raise Refused(501, f"{method} /{'/'.join(parts)} is not in tests/qdrant_routes.py")
    raise Refused(404, "")


def read(client, name, rest, body):
    """The result of a request that only reads, from a collection that exists."""
    match rest:
        case ["points"]:
            asked = parsed(models.PointRequest, body)
            return client.retrieve(name, asked.ids, **shown(asked, payload=True))
        case ["points", "count"]:
            asked = parsed(models.CountRequest, body)
            return client.count(name, count_filter=asked.filter, exact=asked.exact is not False)
        case ["points", "scroll"]:
            asked = parsed(models.ScrollRequest, body)
            points, following = client.scroll(
                name,
                scroll_filter=asked.filter,
                limit=10 if asked.limit is None else asked.limit,
                order_by=asked.order_by,
                offset=asked.offset,
                **shown(asked, payload=True),
            )
            return {"points": points, "next_page_offset": following}
        case ["points", "query"]:
            return queried(client, name, parsed(models.QueryRequest, body))
        case ["points", "query", "batch"]:
            searches = parsed(models.QueryRequestBatch, body).searches
            return [queried(client, name, asked) for asked in searches]


def queried(client, name, asked):
    return client.query_points(
        name,
        query=asked.query,
        using=asked.using,
        prefetch=asked.prefetch,
        query_filter=asked.filter,
        search_params=asked.params,
        limit=10 if asked.limit is None else asked.limit,
        offset=asked.offset,
        score_threshold=asked.score_threshold,
        lookup_from=asked.lookup_from,
        **shown(asked, payload=False),
    )


def shown(asked, payload):
    """What to return of each point; a server's default for the payload depends on the route."""
    with_payload = payload if asked.with_payload is None else asked.with_payload
    return {"with_payload": with_payload, "with_vectors": asked.with_vector or False}


@cache
def adapter(kind):
    return TypeAdapter(kind)


def parsed(kind, body):
    return adapter(kind).validate_json(body)

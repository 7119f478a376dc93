"""Qdrant's own engine (PyPI qdrant-edge-py) behind a REST layer of ours, for tests: paths and bodies as the server's
OpenAPI document has them, as far as the adapter and the tests use them; any other key of a body is refused.
What is ours and not Qdrant's: routes, status codes, messages, the API key.
usage: qdrant_front.py PORT    env QDRANT_API_KEY
"""
import json
import os
import shutil
import sys
import tempfile
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import qdrant_edge as E


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.message = message


def only(body, *keys):
    """The body, whose keys are all among these."""
    if not isinstance(body, dict):
        raise Refused(400, "Format error in JSON body: expected an object")
    for key in body:
        if key not in keys:
            raise Refused(400, f"Format error in JSON body: unknown field `{key}`")
    return body


def point_id(value):
    if isinstance(value, bool) or not isinstance(value, (int, str)) or (isinstance(value, int) and value < 0):
        raise Refused(400, f"Format error in JSON body: value {value} is not a valid point ID")
    try:
        return value if isinstance(value, int) else uuid.UUID(value)
    except ValueError:
        raise Refused(400, f"Format error in JSON body: value {value} is not a valid point ID") from None


def shown_id(value):
    return value if isinstance(value, int) else str(value)


DISTANCES = {name: getattr(E.Distance, name) for name in ("Cosine", "Euclid", "Dot", "Manhattan")}
SCHEMAS = {name.lower(): getattr(E.PayloadSchemaType, name) for name in ("Keyword", "Integer", "Float", "Text", "Bool", "Datetime", "Uuid")}


class Collection:
    """One collection: a shard of the engine in a folder of its own."""

    def __init__(self, name, body):
        only(body, "vectors", "sparse_vectors")
        vectors = body.get("vectors") or {}
        named = {"": vectors} if "size" in vectors else vectors
        dense = {key: E.EdgeVectorParams(spec["size"], DISTANCES[spec["distance"]]) for key, spec in named.items()}
        sparse = {key: E.EdgeSparseVectorParams(modifier=E.Modifier.Idf if (spec or {}).get("modifier") == "idf" else None) for key, spec in (body.get("sparse_vectors") or {}).items()}
        self.config, self.indexes, self.lock = body, {}, threading.RLock()
        self.path = tempfile.mkdtemp(prefix="collection-", dir=ROOT)
        config = {"vectors": dense[""] if "size" in vectors else dense}
        if sparse:
            config["sparse_vectors"] = sparse
        self.shard = E.EdgeShard.create(self.path, E.EdgeConfig(**config))

    def drop(self):
        with self.lock:
            self.shard.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def info(self):
        with self.lock:
            count = self.shard.count(E.CountRequest(exact=True))
        params = {"vectors": self.config.get("vectors") or {}}
        if self.config.get("sparse_vectors"):
            params["sparse_vectors"] = self.config["sparse_vectors"]
        return {
            "status": "green", "optimizer_status": "ok", "points_count": count, "segments_count": 1,
            "config": {"params": params, "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000}, "optimizer_config": {}},
            "payload_schema": {key: {"data_type": kind, "points": count} for key, kind in self.indexes.items()},
        }

    # ---- filters

    def filter(self, body):
        if body is None:
            return None
        only(body, "must", "must_not", "should")
        parts = {key: [self.condition(part) for part in (value if isinstance(value, list) else [value])] for key, value in body.items() if value}
        return E.Filter(**parts)

    def condition(self, body):
        if "has_id" in body:
            return E.HasIdCondition({point_id(one) for one in only(body, "has_id")["has_id"]})
        for key, make in (("is_empty", E.IsEmptyCondition), ("is_null", E.IsNullCondition)):
            if key in body:
                return make(only(only(body, key)[key], "key")["key"])
        if "nested" in body:
            nested = only(only(body, "nested")["nested"], "key", "filter")
            return E.NestedCondition(nested["key"], self.filter(nested["filter"]))
        if "key" not in body:
            return self.filter(body)
        only(body, "key", "match", "range", "values_count")
        more = {}
        if "match" in body:
            match = only(body["match"], "value", "any", "except", "text")
            if isinstance(match.get("value"), bool):
                return E.HasIdCondition(self.ids_where_bool(body["key"], match["value"]))
            more["match"] = E.MatchValue(match["value"]) if "value" in match else E.MatchAny(match["any"]) if "any" in match else E.MatchExcept(match["except"]) if "except" in match else E.MatchText(match["text"])
        if "range" in body:
            bounds = {key: bound for key, bound in only(body["range"], "gt", "gte", "lt", "lte").items() if bound is not None}
            texts = any(isinstance(bound, str) for bound in bounds.values())
            more["range"] = E.RangeDateTime(**bounds) if texts else E.RangeFloat(**{key: float(bound) for key, bound in bounds.items()})
        if "values_count" in body:
            more["values_count"] = E.ValuesCount(**only(body["values_count"], "gt", "gte", "lt", "lte"))
        return E.FieldCondition(body["key"], **more)

    def ids_where_bool(self, key, wanted):
        """The binding reads a boolean as an integer, which equals no boolean: the points are found here instead."""
        found, offset = set(), None
        while True:
            points, offset = self.shard.scroll(E.ScrollRequest(offset=offset, limit=1000, with_payload=True, with_vector=False))
            found |= {point.id for point in points if any(value is wanted for value in values_at(point.payload or {}, key))}
            if offset is None:
                return found

    # ---- reads

    def scroll(self, body):
        only(body, "filter", "limit", "offset", "with_payload", "with_vector")
        more = {} if body.get("offset") is None else {"offset": point_id(body["offset"])}
        with self.lock:
            points, following = self.shard.scroll(E.ScrollRequest(
                limit=body.get("limit", 10), filter=self.filter(body.get("filter")), with_payload=selector(body.get("with_payload", True)), with_vector=body.get("with_vector", False), **more))
        return {"points": [{"id": shown_id(one.id), **payload_of(one), **vector_of(one, body)} for one in points], "next_page_offset": None if following is None else shown_id(following)}

    def count(self, body):
        only(body, "filter", "exact")
        with self.lock:
            return {"count": self.shard.count(E.CountRequest(exact=body.get("exact", True), filter=self.filter(body.get("filter"))))}

    def query(self, body):
        only(body, "query", "using", "prefetch", "filter", "params", "limit", "offset", "with_payload", "with_vector", "score_threshold")
        with self.lock:
            prefetches = [self.prefetch(one) for one in body.get("prefetch") or []]
            request = E.QueryRequest(
                body.get("limit", 10), body.get("offset", 0), self.query_of(body.get("query"), body.get("using")), prefetches, body.get("with_vector", False),
                selector(body.get("with_payload", False)), self.filter(body.get("filter")), body.get("score_threshold"), params_of(body.get("params")))
            points = self.shard.query(request)
        return {"points": [{"id": shown_id(one.id), "version": 0, "score": one.score, **payload_of(one)} for one in points]}

    def prefetch(self, body):
        only(body, "query", "using", "filter", "params", "limit")
        return E.Prefetch(body.get("limit", 10), self.query_of(body.get("query"), body.get("using")), None, params_of(body.get("params")), self.filter(body.get("filter")), None)

    def query_of(self, query, using):
        if query is None:
            return None
        if isinstance(query, dict) and "fusion" in query:
            return E.Fusion.Rrf(2)
        if isinstance(query, dict) and "text" in query:
            if query.get("model", "").lower() != "qdrant/bm25":
                raise Refused(400, "Bad request: no such model")
            query = E.Bm25().embed_query(query["text"])
        elif isinstance(query, dict):
            query = E.SparseVector(query["indices"], query["values"])
        sizes = self.config.get("vectors") or {}
        size = (sizes if "size" in sizes else sizes.get(using or "", {})).get("size")
        if isinstance(query, list) and size is None:
            raise Refused(400, f"Wrong input: Not existing vector name error: {using or ''}")
        if isinstance(query, list) and len(query) != size:
            raise Refused(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(query)}")
        return E.Query.Nearest(query, using)

    # ---- writes, for the tests that fill

    def upsert(self, body):
        points = only(body, "points")["points"]
        with self.lock:
            self.shard.update(E.UpdateOperation.upsert_points([E.Point(point_id(one["id"]), vectors_of(one["vector"]), one.get("payload") or {}) for one in points]))
        return {"operation_id": 1, "status": "completed"}

    def index(self, body):
        only(body, "field_name", "field_schema")
        with self.lock:
            self.shard.update(E.UpdateOperation.create_field_index(body["field_name"], SCHEMAS[body["field_schema"]]))
            self.shard.optimize()
        self.indexes[body["field_name"]] = body["field_schema"]
        return {"operation_id": 1, "status": "completed"}


def values_at(value, path):
    """Values at a path as the engine walks it: through lists of objects, and into the list at the end."""
    head, quote, rest = path.partition(".") if not path.startswith('"') else (*path[1:].partition('"')[:1], "", path[1:].partition('"')[2].lstrip("."))
    inside, head = head.endswith("[]"), head.removesuffix("[]")
    found = value.get(head) if isinstance(value, dict) else None
    if found is None or (inside and not isinstance(found, list)):
        return []
    several = found if isinstance(found, list) else [found]
    return [one for part in several for one in values_at(part, rest)] if rest else several


def selector(value):
    return E.PayloadSelector.Include(value["include"]) if isinstance(value, dict) else value


def params_of(body):
    return None if not body else E.SearchParams(**only(body, "hnsw_ef", "exact", "indexed_only"))


def payload_of(point):
    return {} if point.payload is None else {"payload": point.payload}


def vector_of(point, body):
    """As the server shows it: a list where the vector has no name, else lists by name; nothing where it was not asked for."""
    if body.get("with_vector", False) is False or point.vector is None:
        return {}
    vector = point.vector
    if isinstance(vector, dict):
        plain = {name: [float(x) for x in one] for name, one in vector.items() if isinstance(one, (list, tuple))}
        return {"vector": plain[""] if set(plain) == {""} else plain}
    return {"vector": [float(x) for x in vector]}


def vectors_of(value):
    def one(part):
        if isinstance(part, dict) and "text" in part:
            return E.Bm25().embed_document(part["text"])
        return E.SparseVector(part["indices"], part["values"]) if isinstance(part, dict) and "indices" in part else part
    return {key: one(part) for key, part in value.items()} if isinstance(value, dict) else value


ROOT = tempfile.mkdtemp(prefix="toolsrv-qdrant-")
COLLECTIONS = {}


def collection(name):
    if name not in COLLECTIONS:
        raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
    return COLLECTIONS[name]


def route(method, path, body):
    parts = path.strip("/").split("/")
    if parts == [""]:
        return {"title": "qdrant - vector search engine", "version": "1.17.0"}
    if parts[0] != "collections":
        raise Refused(404, "")
    if len(parts) == 1:
        return {"result": {"collections": [{"name": name} for name in COLLECTIONS]}}
    name, rest = parts[1], "/".join(parts[2:])
    if rest == "" and method == "PUT":
        if name in COLLECTIONS:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        COLLECTIONS[name] = Collection(name, body)
        return {"result": True}
    if rest == "" and method == "DELETE":
        gone = COLLECTIONS.pop(name, None)
        if gone is not None:
            gone.drop()
        return {"result": gone is not None}
    found = collection(name)
    handlers = {("GET", ""): lambda _: found.info(), ("PUT", "index"): found.index, ("PUT", "points"): found.upsert, ("POST", "points/scroll"): found.scroll, ("POST", "points/count"): found.count, ("POST", "points/query"): found.query}
    if (method, rest) not in handlers:
        raise Refused(404, "")
    return {"result": handlers[method, rest](body)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def answer(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        key = os.environ.get("QDRANT_API_KEY")
        try:
            if key and self.headers.get("api-key") != key:
                raise Refused(401, "Must provide an API key or an Authorization bearer token")
            status, out = 200, {**route(self.command, self.path.split("?")[0], json.loads(raw) if raw else {}), "status": "ok", "time": 0.0}
        except Refused as error:
            status, out = error.status, {"status": {"error": error.message}, "time": 0.0}
        except json.JSONDecodeError as error:
            status, out = 400, {"status": {"error": f"Format error in JSON body: {error}"}, "time": 0.0}
        except Exception as error:  # what the engine refuses
            status, out = 400, {"status": {"error": f"{type(error).__name__}: {error}"}, "time": 0.0}
        data = json.dumps(out).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_DELETE = answer


if __name__ == "__main__":
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
        server.daemon_threads = True
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)

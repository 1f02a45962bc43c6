"""A model vendor on the loopback interface, with faults by script.

It speaks OpenAI's protocol (/v1/embeddings, /v1/chat/completions) and Cohere's (/v2/embed,
/v2/rerank), so that the real clients are tested against real sockets. Each request takes the next
entry of the script; an exhausted script means good answers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from memory.providers.contracts import Vectors
from memory.providers.static import HashingEmbedder

WORDS = HashingEmbedder()


class Fault(StrEnum):
    """What goes wrong with one answer."""

    NONE = "none"
    GARBAGE = "garbage"
    HALF_JSON = "half json"
    WRONG_SHAPE = "wrong shape"
    WRONG_SCHEMA = "valid JSON of another schema"
    NAN = "NaN"
    ZERO_VECTOR = "zero vector"
    WRONG_DIMENSION = "wrong dimension"
    WRONG_COUNT = "wrong count"
    WRONG_MODEL = "wrong model"
    CUT_OFF = "cut off by the output limit"
    REFUSAL = "refusal"
    ENDLESS = "endless body"
    DRIP = "a byte at a time"
    HANG = "hang before the headers"
    HANG_AFTER_HEADERS = "hang after the headers"
    DISCONNECT = "disconnect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An error answer: its status, Retry-After and the vendor's code."""

    status: int
    retry_after: str = ""
    code: str = ""


@dataclass(slots=True, kw_only=True)
class Vendor:
    """The running vendor: its address, what it will do and what it was asked."""

    url: str = ""
    script: list[Fault | Status] = field(default_factory=list)
    chat_content: str = '{"facts": ["tests pass"]}'
    answers: dict[str, str] = field(default_factory=dict)  # by the name of the schema asked for
    asked: list[dict[str, Any]] = field(default_factory=list)
    closing: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def next_entry(self, body: dict[str, Any]) -> Fault | Status:
        """Keep what was asked and return what happens."""
        with self.lock:
            self.asked.append(body)
            return self.script.pop(0) if self.script else Fault.NONE


@contextmanager
def running_vendor() -> Iterator[Vendor]:
    """Serve on a free loopback port until the block ends."""
    vendor = Vendor()
    handler = type("Handler", (_Handler,), {"vendor": vendor})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    vendor.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield vendor
    finally:
        vendor.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    vendor: Vendor

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        entry = self.vendor.next_entry(body)
        if isinstance(entry, Status):
            self._send_status(entry)
            return
        if entry in TRANSPORT_FAULTS:
            TRANSPORT_FAULTS[entry](self)
            return
        self._send(200, BODIES[urlsplit(self.path).path](body, entry, self.vendor))

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def _send_status(self, entry: Status) -> None:
        headers = {"Retry-After": entry.retry_after} if entry.retry_after else {}
        error = {"error": {"message": "secret words of the input", "code": entry.code}}
        self._send(entry.status, json.dumps(error), headers)

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        payload = text.encode()
        self._begin(status, {"Content-Length": str(len(payload)), **(headers or {})})
        self.wfile.write(payload)

    def _begin(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def hang(self) -> None:
        """Send nothing until the vendor closes."""
        self.vendor.closing.wait()
        self.close_connection = True

    def hang_after_headers(self) -> None:
        """Promise a body and send none."""
        self._begin(200, {"Content-Length": "100"})
        self.wfile.flush()
        self.hang()

    def drip(self) -> None:
        """Send a space every 20 ms: each read succeeds, the answer never ends."""
        self._begin(200, {"Content-Length": "1000000"})
        while not self.vendor.closing.wait(0.02):
            try:
                self.wfile.write(b" ")
            except OSError:
                break
        self.close_connection = True

    def endless(self) -> None:
        """Send spaces as fast as they are taken."""
        self._begin(200, {"Content-Length": str(10**12)})
        while not self.vendor.closing.is_set():
            try:
                self.wfile.write(b" " * 65_536)
            except OSError:
                break
        self.close_connection = True

    def disconnect(self) -> None:
        """Close without a word."""
        self.close_connection = True


TRANSPORT_FAULTS = {
    Fault.HANG: _Handler.hang,
    Fault.HANG_AFTER_HEADERS: _Handler.hang_after_headers,
    Fault.DRIP: _Handler.drip,
    Fault.ENDLESS: _Handler.endless,
    Fault.DISCONNECT: _Handler.disconnect,
}


def _broken(text: str, fault: Fault) -> str:
    if fault is Fault.GARBAGE:
        return "<html>so sorry</html>"
    if fault is Fault.HALF_JSON:
        return text[: len(text) // 2]
    if fault is Fault.WRONG_SHAPE:
        return '{"data": {"embedding": "none"}, "embeddings": [], "results": 7, "choices": []}'
    return text


def _rows(texts: list[str], dimensions: int, fault: Fault) -> list[list[float]]:
    rows = _made(texts, dimensions).astype(float).tolist()
    if fault is Fault.WRONG_COUNT:
        return rows[1:]
    if fault is Fault.WRONG_DIMENSION:
        return [row[:-1] for row in rows]
    if fault is Fault.ZERO_VECTOR:
        return [[0.0] * len(row) for row in rows]
    if fault is Fault.NAN:
        return [[float("nan"), *row[1:]] for row in rows]
    return rows


def _made(texts: list[str], dimensions: int) -> Vectors:
    """Return rows (n, dimensions); what tells texts apart stands behind the first 384 if it can."""
    words = WORDS.embed(texts=tuple(texts))
    length = words.shape[1]
    if dimensions <= length:
        return words[:, :dimensions]
    rows = np.zeros((len(texts), dimensions), dtype=np.float32)
    rows[:, 0] = 1.0
    tail = min(length, dimensions - length)
    rows[:, length : length + tail] = words[:, :tail]
    return rows


def _openai_embeddings(body: dict[str, Any], fault: Fault, vendor: Vendor) -> str:
    del vendor
    rows = _rows(body["input"], body.get("dimensions", 384), fault)
    answer = {
        "object": "list",
        "model": "another" if fault is Fault.WRONG_MODEL else body["model"],
        "data": [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in reversed(list(enumerate(rows)))
        ],
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
    }
    return _broken(json.dumps(answer), fault)


def _openai_chat(body: dict[str, Any], fault: Fault, vendor: Vendor) -> str:
    asked = body.get("response_format", {}).get("json_schema", {}).get("name", "")
    said = vendor.answers.get(asked, vendor.chat_content)
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if fault is Fault.WRONG_SCHEMA:
        message["content"] = '{"facts": "not a list"}'
    if fault is Fault.REFUSAL:
        message = {"role": "assistant", "content": None, "refusal": "no"}
    reason = "length" if fault is Fault.CUT_OFF else "stop"
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
    return _broken(json.dumps(answer), fault)


def _cohere_embed(body: dict[str, Any], fault: Fault, vendor: Vendor) -> str:
    del vendor
    rows = _rows(body["texts"], body["output_dimension"], fault)
    answer = {
        "id": "1",
        "embeddings": {"float": rows},
        "texts": body["texts"],
        "meta": {"billed_units": {"input_tokens": 5}},
        "response_type": "embeddings_by_type",
    }
    return _broken(json.dumps(answer), fault)


def _cohere_rerank(body: dict[str, Any], fault: Fault, vendor: Vendor) -> str:
    del vendor
    vectors = WORDS.embed(texts=tuple(body["documents"]))
    scores = (vectors @ WORDS.embed(texts=(body["query"],))[0]).clip(0.0, 1.0)
    results = [
        {"index": index, "relevance_score": float(scores[index])}
        for index in (-scores).argsort(kind="stable").tolist()
    ]
    if fault is Fault.WRONG_COUNT:
        results = results[1:]
    return _broken(json.dumps({"id": "1", "results": results}), fault)


BODIES = {
    "/v1/embeddings": _openai_embeddings,
    "/v1/chat/completions": _openai_chat,
    "/v2/embed": _cohere_embed,
    "/v2/rerank": _cohere_rerank,
}

"""A store that speaks as much of S3 as backups need, in memory, on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict[str, bytes]]
    parts: ClassVar[dict[str, dict[int, bytes]]]

    def do_GET(self) -> None:
        key, query = self._asked()
        if "list-type" in query:
            prefix = query.get("prefix", [""])[0]
            entries = "".join(
                f"<Contents><Key>{escape(name)}</Key><Size>{len(body)}</Size><ETag>e</ETag>"
                "<LastModified>2026-11-20T12:00:00.000Z</LastModified></Contents>"
                for name, body in sorted(self.objects.items())
                if name.startswith(prefix)
            )
            self._answer(200, f"<ListBucketResult>{entries}</ListBucketResult>".encode())
        elif key in self.objects:
            self._answer(200, self.objects[key])
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def do_PUT(self) -> None:
        key, query = self._asked()
        if "uploadId" in query:
            self.parts[query["uploadId"][0]][int(query["partNumber"][0])] = self._body()
        else:
            self.objects[key] = self._body()
        self._answer(200, b"")

    def do_POST(self) -> None:
        key, query = self._asked()
        body = self._body()
        if "uploads" in query:
            self.parts[key] = {}
            text = f"<UploadId>{escape(key)}</UploadId>"
            answer = f"<InitiateMultipartUploadResult>{text}</InitiateMultipartUploadResult>"
        elif "delete" in query:
            names = [
                node.text or "" for node in ElementTree.fromstring(body).iter() if "Key" in node.tag
            ]
            for name in names:
                self.objects.pop(name, None)
            gone = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
            answer = f"<DeleteResult>{gone}</DeleteResult>"
        else:
            parts = self.parts.pop(query["uploadId"][0])
            self.objects[key] = b"".join(parts[number] for number in sorted(parts))
            answer = "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>"
        self._answer(200, answer.encode())

    def do_DELETE(self) -> None:
        key, query = self._asked()
        if "uploadId" in query:
            self.parts.pop(query["uploadId"][0])
        else:
            self.objects.pop(key, None)
        self._answer(204, b"")

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _asked(self) -> tuple[str, dict[str, list[str]]]:
        parts = urlsplit(self.path)
        _bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        return key, parse_qs(parts.query, keep_blank_values=True)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("ETag", '"e"')
        self.send_header("Last-Modified", "Fri, 20 Nov 2026 12:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Serve an empty store; yield its address and what it holds by key."""
    objects: dict[str, bytes] = {}
    handler = type("Handler", (_Handler,), {"objects": objects, "parts": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", objects
    server.shutdown()
    thread.join()

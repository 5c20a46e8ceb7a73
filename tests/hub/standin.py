"""A stand-in for the Hub's HTTP interface on loopback, used by the real client code.

It answers requests for repository information, file listings and files as the Hub does. Large files
are behind a redirect whose headers give the client their hash and size.
Faults can be set: a file that is listed but missing, a transfer that breaks or brings other bytes,
answers that are late, and requests that are refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = (".parquet", ".safetensors")  # what the Hub keeps in its large-file storage

API = re.compile(
    r"/api/(?P<kind>datasets|models)/(?P<name>[^/]+/[^/]+)"
    r"(/(?P<what>revision|tree)/(?P<revision>[^/]+)(/(?P<folder>.*))?)?"
)
RESOLVE = re.compile(
    r"(/(?P<kind>datasets))?/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)"
)


@dataclass
class Repository:
    """A repository with one commit, which its branch ``main`` points at."""

    kind: str  # "datasets" or "models"
    name: str
    commit: str
    files: dict[str, bytes]


@dataclass
class Hub:
    """Served repositories, faults, and received requests."""

    repositories: list[Repository]
    endpoint: str = ""
    storage: str = ""  # address of large files: another origin, which the client treats differently
    missing: set[str] = field(default_factory=set)  # listed, but not available
    breaks: dict[str, int] = field(default_factory=dict)  # bytes sent before the first break
    corrupt: set[str] = field(default_factory=set)  # sent with other bytes than their hash says
    refusals: list[int] = field(default_factory=list)  # statuses of the next answers
    delay: float = 0.0  # seconds before every answer
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, range

    def downloads(self) -> list[str]:
        """Names of the large files whose content was requested, in order."""
        return [path.removeprefix("/large/") for m, path, _ in self.requests if "/large/" in path]

    def find(self, kind: str | None, name: str) -> Repository | None:
        wanted = (kind or "models", name)
        return next((r for r in self.repositories if (r.kind, r.name) == wanted), None)


@contextlib.contextmanager
def serving(repositories: list[Repository]) -> Iterator[Hub]:
    """Serve on free ports of the loopback interface until the context ends."""
    hub = Hub(repositories)

    class Handler(_Handler):
        content = hub

    with _running(Handler) as hub.endpoint, _running(Handler) as hub.storage:
        yield hub


@contextlib.contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    content: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output quiet; ``Hub.requests`` has it all."""

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.content.requests.append((self.command, path, self.headers.get("Range", "")))
        time.sleep(self.content.delay)
        if self.content.refusals:
            self._send(self.content.refusals.pop(0), b"", {"Retry-After": "1"})
        elif path.startswith("/large/"):
            self._large(path.removeprefix("/large/"))
        elif found := API.fullmatch(path):
            self._api(**found.groupdict())
        elif found := RESOLVE.fullmatch(path):
            self._resolve(**found.groupdict())
        else:
            self._error(404, "")

    # Answers

    def _api(
        self, kind: str, name: str, what: str | None, revision: str | None, folder: str | None
    ) -> None:
        repository = self._repository(kind, name, revision or "main")
        if repository is None:
            return
        if what == "tree":
            nested = "recursive=true" in urlsplit(self.path).query.lower()
            entries = _entries(repository, folder or "", nested)
            if folder and not entries:
                self._error(404, "EntryNotFound", repository)
            else:
                self._json(entries, repository)
        else:
            siblings = [{"rfilename": path} for path in repository.files]
            content = {"id": name, "sha": repository.commit, "siblings": siblings, "tags": []}
            self._json({**content, "private": False, "downloads": 0, "likes": 0}, repository)

    def _resolve(self, kind: str | None, name: str, revision: str, path: str) -> None:
        repository = self._repository(kind, name, revision)
        if repository is None:
            return
        if path not in repository.files or path in self.content.missing:
            self._error(404, "EntryNotFound", repository)
            return
        content = repository.files[path]
        commit = {"X-Repo-Commit": repository.commit}
        if path.endswith(LARGE):
            linked = {"X-Linked-Etag": f'"{_sha256(content)}"', "X-Linked-Size": str(len(content))}
            location = {"Location": f"{self.content.storage}/large/{path}"}
            self._send(302, b"", {**commit, **linked, **location})
        else:
            self._send(200, content, {**commit, "ETag": f'"{_git_hash(content)}"'})

    def _large(self, path: str) -> None:
        content = next(r.files[path] for r in self.content.repositories if path in r.files)
        headers = {"ETag": f'"{_sha256(content)}"', "Accept-Ranges": "bytes"}
        if path in self.content.corrupt:
            content = content[:-1] + bytes([content[-1] ^ 1])
        if (asked := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))) is None:
            self._send(200, content, headers, self.content.breaks.pop(path, None))
            return
        start, end = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        self._send(206, content[start : end + 1], headers)

    # Parts of answers

    def _repository(self, kind: str | None, name: str, revision: str) -> Repository | None:
        repository = self.content.find(kind, name)
        if repository is None:
            self._error(401, "RepoNotFound")  # what the Hub says without a token
        elif revision not in ("main", repository.commit):
            self._error(404, "RevisionNotFound", repository)
        else:
            return repository
        return None

    def _error(self, status: int, code: str, repository: Repository | None = None) -> None:
        commit = {"X-Repo-Commit": repository.commit} if repository else {}
        self._send(status, b"", {"X-Error-Code": code, **commit})

    def _json(self, content: object, repository: Repository) -> None:
        headers = {"Content-Type": "application/json", "X-Repo-Commit": repository.commit}
        self._send(200, json.dumps(content).encode(), headers)

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], breaks: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:breaks])
        if breaks is not None:
            self.close_connection = True


def _entries(repository: Repository, folder: str, nested: bool) -> list[dict[str, Any]]:
    """Listing of a folder as the interface gives it: files with hashes and sizes, and folders."""
    below = {p: c for p, c in repository.files.items() if not folder or p.startswith(f"{folder}/")}
    folders = {str(parent) for path in below for parent in PurePosixPath(path).parents}
    entries: list[dict[str, Any]] = [
        {"type": "directory", "oid": _git_hash(name.encode()), "size": 0, "path": name}
        for name in sorted(folders - {".", folder})
        if not folder or name.startswith(f"{folder}/")
    ]
    for path, content in below.items():
        entry = {"type": "file", "oid": _git_hash(content), "size": len(content), "path": path}
        if path.endswith(LARGE):
            entry["lfs"] = {"oid": _sha256(content), "size": len(content), "pointerSize": 130}
        entries.append(entry)
    if nested:
        return entries
    return [e for e in entries if str(PurePosixPath(e["path"]).parent) == (folder or ".")]


def _git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""The files of a benchmark: local ones, and those that are fetched."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fedkg.bench.data import files, loaders
from fedkg.bench.data.definitions import DatasetSource, Definition
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError

QUESTIONS = json.dumps({"question": "who?", "answers": ["b"]}).encode()


class Server(http.server.ThreadingHTTPServer):
    """Sends `body` at /q.jsonl, half of it at /half, leads from /moved to it, and counts what it is asked."""

    body = QUESTIONS
    asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        body = self.server.body
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/q.jsonl")
            self.end_headers()
            return
        self.send_response(200 if self.path in {"/q.jsonl", "/half"} else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/half" else body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback."""
    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def definition(url: str, sha256: str = hashlib.sha256(QUESTIONS).hexdigest()) -> Definition:
    """A benchmark of the test's own."""
    return Definition(title="mine", questions="q.jsonl", depth=1, graph="g.nt", source=DatasetSource(url, sha256))


def left(cache: Path) -> list[str]:
    """What lies in the cache folder."""
    return [path.name for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("path", ["/q.jsonl", "/moved"])
def test_what_is_not_there_is_fetched_once(server: Server, tmp_path: Path, path: str) -> None:
    """Checked, kept in the cache folder and used, with --data or without; offline what is kept is used too."""
    known, settings = definition(server.url + path), Settings(cache_dir=str(tmp_path / "cache"))
    (empty := tmp_path / "data").mkdir()
    for data in (None, empty):
        questions, _ = loaders.read(known, data, settings)
        assert questions[0].question == "who?"
    assert server.asked == (2 if path == "/moved" else 1)
    offline = msgspec.structs.replace(settings, mode="offline")
    assert files.find(known, "q.jsonl", None, offline).read_bytes() == QUESTIONS
    assert len(left(tmp_path / "cache")) == 1


def test_a_local_folder_comes_first(server: Server, tmp_path: Path) -> None:
    """Nobody is asked then, and the file is named by its whole path."""
    (tmp_path / "q.jsonl").write_bytes(b"local")
    settings = Settings(cache_dir=str(tmp_path / "cache"))
    file = files.find(definition(f"{server.url}/q.jsonl"), "q.jsonl", tmp_path, settings)
    assert (file, file.is_absolute(), server.asked) == (tmp_path / "q.jsonl", True, 0)


@pytest.mark.parametrize(
    ("path", "message"),
    [("/q.jsonl", "SHA-256"), ("/half", "could not be fetched|SHA-256"), ("/none", "404")],
)
def test_what_is_not_the_file_is_refused(server: Server, tmp_path: Path, path: str, message: str) -> None:
    """Another checksum, a reply that breaks off, an error: nothing of it stays."""
    server.body = QUESTIONS + b" "
    with pytest.raises(DatasetError, match=message) as caught:
        files.find(definition(server.url + path), "q.jsonl", None, Settings(cache_dir=str(tmp_path)))
    assert caught.value.hint
    assert left(tmp_path) == []


def test_the_size_of_a_reply_is_bounded(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the server sends."""
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    with pytest.raises(DatasetError, match="more than 10 bytes"):
        files.find(definition(f"{server.url}/q.jsonl"), "q.jsonl", None, Settings(cache_dir=str(tmp_path)))
    assert left(tmp_path) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "http://127.0.0.1:1/x", "http://"])
def test_a_place_that_cannot_be_reached(tmp_path: Path, url: str) -> None:
    """Only http and https are spoken; the place is named."""
    with pytest.raises(DatasetError, match="could not be fetched") as caught:
        files.find(definition(url), "q.jsonl", None, Settings(cache_dir=str(tmp_path)))
    assert "--data" in caught.value.hint


def test_a_cache_folder_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    """Is an error of the same kind."""
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="could not be fetched"):
        files.find(definition(f"{server.url}/q.jsonl"), "q.jsonl", None, Settings(cache_dir=str(tmp_path / "file")))


def test_nothing_is_fetched_unasked(server: Server, tmp_path: Path) -> None:
    """Not in offline mode, not without a checksum, not the graph; the official location is named."""
    url = f"{server.url}/q.jsonl"
    online = Settings(cache_dir=str(tmp_path))
    offline = msgspec.structs.replace(online, mode="offline")
    for known, name, settings in (
        (definition(url), "q.jsonl", offline),
        (definition(url), "q.jsonl", None),
        (definition(url, ""), "q.jsonl", online),
        (definition(url), "g.nt", online),
    ):
        with pytest.raises(DatasetError, match="no such file") as caught:
            files.find(known, name, None, settings)
        assert url in caught.value.hint
        assert caught.value.asked == name
    assert server.asked == 0


def test_a_checksum_follows_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reckoned once, and anew where the file has changed."""
    file = tmp_path / "g.nt"
    file.write_bytes(b"one")
    first = files.sha256(file)
    assert first == hashlib.sha256(b"one").hexdigest()
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", None)
        assert files.sha256(file) == first
    file.write_bytes(b"another")
    assert files.sha256(file) == hashlib.sha256(b"another").hexdigest()
    with pytest.raises(DatasetError, match="none"):
        files.sha256(tmp_path / "none")

"""Models by name, from a hub on loopback: fetched once, found again without it."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedkg.embed.hub import is_hub_name
from tests.embed.test_onnx import folder
from tests.support.extras import needs

REVISION = "1" * 40
SCRIPT = """
import sys
from pathlib import Path
from fedkg.embed.onnx import named
from fedkg.errors import ModelNameError
for keep, offline in (("a", False), ("a", False), ("b", True)):
    print(named("org/model", keep=Path(sys.argv[1]) / keep, offline=offline).embed(["place of birth"]).shape)
try:
    named("org/other", offline=True).embed(["a"])
except ModelNameError as error:
    print("offline" in str(error))
try:
    named("org/other").embed(["a"])
except ModelNameError as error:
    print("cannot be fetched" in str(error))
"""


class Hub(ThreadingHTTPServer):
    """A hub with one model, in a folder; `asked` are the paths of its requests."""

    def __init__(self, place: Path) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.place, self.asked = place, list[str]()


class HubHandler(BaseHTTPRequestHandler):
    """Replies as a hub does: what the model is, its files, and each file."""

    server: Hub

    def do_HEAD(self) -> None:  # the name of the base class
        """The headers of what GET gives."""
        self.do_GET(body=False)

    def do_GET(self, *, body: bool = True) -> None:
        """What is at that path."""
        self.server.asked.append(self.path)
        content = self.content()
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.send_header("ETag", f'"{hashlib.sha256(content or b"").hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if body:
            self.wfile.write(content or b"")

    def content(self) -> bytes | None:
        """The body; None where there is nothing."""
        place = self.server.place
        files = {str(file.relative_to(place)): file for file in place.rglob("*") if file.is_file()}
        if self.path.startswith("/api/models/org/model/tree/"):
            entries = [{"type": "file", "path": name, "size": files[name].stat().st_size, "oid": ""} for name in files]
            return json.dumps(entries).encode()
        if self.path.startswith("/api/models/org/model"):
            return json.dumps({"id": "org/model", "sha": REVISION, "siblings": []}).encode()
        name = self.path.rpartition(f"{REVISION}/")[2]
        return files[name].read_bytes() if name in files else None

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub on loopback with a small model, and a file that nothing here reads."""
    place = folder(tmp_path / "model")
    (place / "onnx").mkdir()
    (place / "onnx" / "model.onnx").write_bytes(b"not wanted")
    with Hub(place) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@needs("embeddings", "onnxruntime")
def test_a_model_is_fetched_once(hub: Hub, tmp_path: Path) -> None:
    """Its files come from the hub that HF_ENDPOINT names; then it is used without a request, also offline."""
    home = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_HOME": str(tmp_path / "home")}
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(
        command, env=os.environ | home | quiet, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["(1, 8)"] * 3 + ["True"] * 2
    weights = [path for path in hub.asked if path.endswith("model.safetensors")]
    assert len(weights) == 2  # its headers, and itself
    assert not [path for path in hub.asked if path.endswith(".onnx")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("org/model-v1.5", True), ("model", False), ("a/b/c", False), ("../model", False), ("/tmp/model", False)],
)
def test_names_on_a_hub(name: str, expected: bool) -> None:
    """An organisation and a model; paths are none."""
    assert is_hub_name(name) == expected

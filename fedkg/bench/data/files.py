"""The files of a benchmark: in a local folder, else fetched from the dataset's official location and cached.

Questions of our own, and what we tell of others, lie beside the bundled definitions. What is fetched is what the
definition's checksum says, or is refused; nothing is fetched that has none.
"""

import contextlib
import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO

from fedkg.bench.data.definitions import Definition
from fedkg.cache.folders import claim
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError

__all__ = ["fetchable", "find", "present", "sha256"]

SECONDS = 60.0
"""How long a server may be silent."""
MOST_BYTES = 1 << 30
CHUNK = 1 << 16
FOLDER = "datasets"


def find(definition: Definition, name: str, data: Path | None, settings: Settings | None = None) -> Path:
    """That file of the benchmark: in `data`, or fetched where these are its questions.

    Without settings, and in offline mode, nothing is fetched. Raises DatasetError where it cannot be had; the error
    says where it comes from.
    """
    if file := present(definition, name, data, settings):
        return file
    if settings and settings.mode != "offline" and fetchable(definition, name):
        return _fetch(definition, _kept(definition, settings))
    source = definition.source
    where = f"{(data or Path()) / name}: there is no such file"
    official = f"; the dataset comes from {source.url}" if source.url else ""
    raise DatasetError(where, hint=f"--data names the folder of question sets and graphs{official}", asked=name)


def present(definition: Definition, name: str, data: Path | None, settings: Settings | None = None) -> Path | None:
    """That file, by its whole path, where it is there already."""
    bundled = folder("eval") / "benchmarks" / name
    if bundled.suffix in {".json", ".jsonl"} and bundled.is_file():
        return bundled.absolute()
    local = (data or Path()) / name
    if local.is_file() and (data or local.is_absolute()):
        return local.absolute()
    if settings and fetchable(definition, name) and _kept(definition, settings).is_file():
        return _kept(definition, settings)
    return None


def fetchable(definition: Definition, name: str) -> bool:
    """Whether that file can be fetched: the questions, where the definition has a checksum of theirs."""
    return name == definition.questions and bool(definition.source.url and definition.source.sha256)


def sha256(file: Path) -> str:
    """The SHA-256 of a file; reckoned once, as long as it stays the same.

    Raises DatasetError where it cannot be read.
    """
    try:
        now = file.stat()
        return _sha256(file, now.st_size, now.st_mtime_ns)
    except OSError as error:
        raise DatasetError(f"{file}: {error.strerror}") from error


@lru_cache(maxsize=256)
def _sha256(file: Path, _size: int, _changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _kept(definition: Definition, settings: Settings) -> Path:
    """Where a fetched file is kept: by its checksum, so that another version is another file."""
    name = Path(definition.questions).name
    return settings.cache_path / FOLDER / f"{definition.source.sha256[:12]}-{name}"


def _fetch(definition: Definition, target: Path) -> Path:
    """Fetches the questions, checks them, and only then puts them where they are kept."""
    url, wanted = definition.source.url, definition.source.sha256
    try:
        claim(target.parent)
        with _draft(target) as draft, _opened(url) as reply:
            digest = _copied(reply, draft, url)
            if digest != wanted:
                hint = "the file has changed, or something stands in between: nothing of it is used"
                raise DatasetError(f"{url} has the SHA-256 {digest}, and not {wanted}", hint=hint)
            draft.close()
            os.replace(draft.name, target)  # noqa: PTH105  # a name, and no Path
    except (OSError, http.client.HTTPException) as error:
        hint = "try again later, or fetch it yourself and name its folder with --data"
        raise DatasetError(f"{url} could not be fetched: {error}", hint=hint) from error
    return target


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target, which is gone afterwards unless it was moved there."""
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", delete=False) as draft:
        try:
            yield draft
        finally:
            Path(draft.name).unlink(missing_ok=True)


def _opened(url: str) -> http.client.HTTPResponse:
    """The reply; redirects are followed. Raises OSError."""
    if not url.startswith(("https://", "http://")):
        raise OSError("only http and https are spoken")
    request = urllib.request.Request(url, headers={"User-Agent": "fedkg"})  # noqa: S310  # the scheme is checked
    try:
        reply: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        raise OSError(f"HTTP {error.code} {error.reason}") from error
    return reply


def _copied(reply: IO[bytes] | http.client.HTTPResponse, draft: IO[bytes], url: str) -> str:
    """Copies in pieces; the SHA-256 of what has come."""
    seen, size = hashlib.sha256(), 0
    while piece := reply.read(CHUNK):
        size += len(piece)
        if size > MOST_BYTES:
            raise DatasetError(f"{url} sends more than {MOST_BYTES:,} bytes")
        seen.update(piece)
        draft.write(piece)
    return seen.hexdigest()

"""The page at `/`: the files that the package carries, and the headers that keep everything else out of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

__all__ = ["HEADERS", "Asset", "asset", "page", "read_assets"]

FOLDER = Path(__file__).with_name("page")
MEDIA = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
"""What is served, by the file's ending; licences and checksums lie beside and are not."""
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in POLICY.items()),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""The page runs its own scripts alone, none that a label brings along, and reaches its own server alone."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page: its bytes, its media type, and a tag that changes with the bytes."""

    body: bytes
    media: str
    tag: str


def read_assets(folder: Path = FOLDER) -> Mapping[str, Asset]:
    """The files by their path below the folder, read once: a request names one of them, and no path on the disk."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in MEDIA)
    return {path.relative_to(folder).as_posix(): _read(path) for path in files}


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    return Asset(body, MEDIA[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:32]}"')


ASSETS = read_assets()


@get("/", exclude_from_auth=True, include_in_schema=False)
async def page(request: Request[None, None, State]) -> Response[bytes]:
    """The page; it needs no token itself, and asks for the one that its questions need."""
    return _reply("index.html", request)


@get("/page/{name:path}", exclude_from_auth=True, include_in_schema=False)
async def asset(name: FromPath[str], request: Request[None, None, State]) -> Response[bytes]:
    """A file of the page."""
    return _reply(name.removeprefix("/"), request)


def _reply(name: str, request: Request[None, None, State]) -> Response[bytes]:
    """The file, or that the browser has it. Raises NotFoundException."""
    kept = ASSETS.get(name)
    if kept is None:
        raise NotFoundException("the page has no such file")
    headers = {**HEADERS, "ETag": kept.tag}
    if request.headers.get("if-none-match") == kept.tag:
        return Response(b"", status_code=304, headers=headers, media_type=kept.media)
    return Response(kept.body, headers=headers, media_type=kept.media)

"""The page's files, and the headers that they come with."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.serve.assets import ASSETS, FOLDER
from fedkg.serve.clients import Client, digest
from tests.serve.conftest import MakeDesk, asked

MOST = 1_500_000
LANGUAGES = ("en", "de")
MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc")
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / "app").glob("*.js"))}
INDEX = (FOLDER / "index.html").read_text(encoding="utf-8")


def texts(language: str) -> dict[str, str]:
    """The page's texts in that language."""
    read: dict[str, str] = json.loads((FOLDER / "texts" / f"{language}.json").read_text(encoding="utf-8"))
    return read


async def test_the_page_runs_its_own_scripts_alone(desk: MakeDesk) -> None:
    """No inline script or style, no other host, no frame around it, no guessed media type, no address given away."""
    async with asked(desk()) as client:
        reply = await client.get("/")
    policy = dict(part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


async def test_the_page_comes_without_a_token(desk: MakeDesk) -> None:
    """Where the questions need one: the page asks for it."""
    async with asked(desk(clients={"alice": Client(digest("a token of alice"))})) as client:
        statuses = [(await client.get(path)).status_code for path in ("/", "/page/app/main.js", "/methods")]
    assert statuses == [200, 200, 401]


async def test_a_file_is_sent_once(desk: MakeDesk) -> None:
    """A browser that has it is told so."""
    async with asked(desk()) as client:
        first = await client.get("/page/style/theme.css")
        again = await client.get("/page/style/theme.css", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


@pytest.mark.parametrize(
    "path",
    ["/page/", "/page/app", "/page/vendor/SHA256SUMS", "/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd"],
)
async def test_nothing_but_the_page_is_served(desk: MakeDesk, path: str) -> None:
    """A path names one of the files that were read at the start, and leads nowhere else."""
    async with asked(desk()) as client:
        assert (await client.get(path)).status_code == 404


def test_the_page_is_small() -> None:
    """All files together, the library for the graph included."""
    assert sum(len(asset.body) for asset in ASSETS.values()) < MOST


def test_the_library_is_the_one_that_its_sums_name() -> None:
    """Library and licence lie there as they came (`make vendor`)."""
    folder = FOLDER / "vendor"
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest_, name = line.split()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest_


def test_every_import_is_a_file() -> None:
    """What a script or the page refers to is served."""
    imported = [name for text in SCRIPTS.values() for name in re.findall(r'(?:from|import\() ?"\./([^"]+)"', text)]
    linked = re.findall(r'(?:href|src)="page/([^"]+)"', INDEX)
    assert {*(f"app/{name}" for name in imported), *linked} <= set(ASSETS)
    assert imported


def test_nothing_from_outside_becomes_markup() -> None:
    """No script reads a text as HTML, or makes code of it."""
    for name, text in SCRIPTS.items():
        assert not MARKUP.findall(text), name


def _forms(key: str, known: dict[str, str]) -> set[str]:
    return {key, f"{key}.one", f"{key}.other"} & set(known)


def test_both_languages_have_the_same_texts() -> None:
    """The same keys, and the same places for values in each."""
    english, german = map(texts, LANGUAGES)
    assert english.keys() == german.keys()
    for key, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", german[key])), key


def test_every_text_that_is_named_is_there() -> None:
    """Each `t("key")` of the scripts and each data-text of the page."""
    known = texts("en")
    named = [key for text in SCRIPTS.values() for key in re.findall(r'\bt\("([\w.]+)"', text)]
    named += re.findall(r'data-text="([\w.]+)"', INDEX)
    assert not [key for key in named if not _forms(key, known)]


def test_every_text_is_used() -> None:
    """Each key stands in a script or in the page, whole or by its beginning."""
    source = "".join(SCRIPTS.values()) + INDEX
    begun: Any = re.findall(r"`([\w.]+\.)\$\{", source)
    bare = [re.sub(r"\.(one|other)$", "", key) for key in texts("en")]
    assert not [key for key in bare if f'"{key}"' not in source and not key.startswith(tuple(begun))]


def test_scripts_are_short() -> None:
    """One noun each."""
    assert all(len(text.splitlines()) < 200 for text in SCRIPTS.values())
    assert Path(FOLDER / "app").is_dir()

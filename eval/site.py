"""What MkDocs is to do when it builds the site: describe the HTTP interface, and name what links outside lead to."""

import re
from pathlib import Path
from typing import Any

from litestar.testing import TestClient

from fedkg import Session
from fedkg.serve.app import application
from fedkg.serve.clients import ClientBook
from fedkg.serve.desk import Desk
from fedkg.serve.gate import Gate

__all__ = ["on_page_markdown", "on_pre_build"]

DESCRIPTION = Path(__file__).resolve().parents[1] / "build" / "openapi.json"
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#]+)[^)]*\)")


def on_pre_build(**_: Any) -> None:
    """Writes the description that http_reference.md shows: what a server over the sample gives."""
    DESCRIPTION.parent.mkdir(exist_ok=True)
    desk = Desk(Session("sample", cache=False), (), Gate(1, 0), ClientBook({}), None)
    with TestClient(application(desk), base_url="http://localhost") as client:
        DESCRIPTION.write_text(client.get("/schema/openapi.json").text, encoding="utf-8")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A link to a file of the project that is no page of the site becomes its name."""
    depth = page.file.src_uri.count("/")
    return OUTSIDE.sub(lambda link: link[0] if link[0].count("../") <= depth else f"{link[1]} (`{link[2]}`)", markdown)

"""docs/http.md: its question is asked as told, and its tables and options are those of the server."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from fedkg.serve.clients import Client, read_clients
from tests.support.documents import blocks, read, transcripts
from tests.support.extras import needs

pytestmark = needs("serve", "litestar")
HTTP = read("http")


async def test_the_question_is_answered_as_shown() -> None:
    """What curl is told to send gets the reply that the document begins."""
    from fedkg.serve.clients import ClientBook  # noqa: PLC0415
    from fedkg.serve.desk import Desk  # noqa: PLC0415
    from fedkg.serve.gate import Gate  # noqa: PLC0415
    from tests.serve.conftest import asked  # noqa: PLC0415
    from tests.support.pets import session_of  # noqa: PLC0415

    [(command, shown)] = transcripts(HTTP)
    words = shlex.split(command)
    body = words[words.index("-d") + 1]
    desk = Desk(session_of("sample", cache=False), (), Gate(1, 0), ClientBook({}), None)
    async with asked(desk) as client:
        reply = await client.post("/ask", content=body, headers={"content-type": "application/json"})
    assert reply.text.startswith(shown[0].rstrip("…"))


def test_the_clients_file_is_one(tmp_path: Path) -> None:
    """The example can be read, and uses every bound."""
    [example] = blocks(HTTP, "toml")
    path = tmp_path / "clients.toml"
    path.write_text(example)
    [client] = read_clients(path).values()
    assert all(getattr(client, name) for name in Client.__struct_fields__)


async def test_every_route_stands_in_the_table() -> None:
    """Those of the description, and the ones that it leaves out."""
    from fedkg.serve.app import ROUTES  # noqa: PLC0415

    shown = set(re.findall(r"`(?:GET |POST )?(/[\w./]*)", HTTP))
    paths = {
        path.replace("{name:str}", "NAME").replace("{name:path}", "NAME") for route in ROUTES for path in route.paths
    }
    assert paths <= shown


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--[a-z-]+)", HTTP))))
def test_every_option_is_one(option: str) -> None:
    """`fedkg serve --help` knows each option that the document names."""
    assert option in CliRunner().invoke(main, ["serve", "--help"], terminal_width=200).output


def test_the_shown_reply_is_json_as_far_as_it_goes() -> None:
    """The question in the reply is the question that was asked."""
    [(command, shown)] = transcripts(HTTP)
    words = shlex.split(command)
    assert json.loads(words[words.index("-d") + 1])["question"] in shown[0]

"""Replies that are made to fill memory or time are refused; eval/measure/bombs.py has their figures."""

from pathlib import Path

import pytest

from eval.measure.bombs import MEMORY, measured
from eval.support.bombs import SHAPES, Bomb
from fedkg.errors import EndpointError
from fedkg.sparql.results import accept
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport

SMALLER = 1_000_000
QUICK = [
    "empty rows",
    "rows of variables of their own",
    "a million variables in a row",
    "variables of the head",
    "arrays in arrays",
    "one literal of backslashes",
    "one key",
    "one number",
    "an ASK with much beside",
    "gzip of zeros",
    "XML: empty rows",
    "XML: names of elements",
    "XML: attributes",
    "XML: namespaces",
    "XML: billion laughs",
]


@pytest.mark.parametrize("name", QUICK)
async def test_a_bomb_is_an_error_of_its_endpoint(name: str) -> None:
    """Each shape in a smaller size, from a real server: refused, with one line that says why."""
    async with Bomb(SHAPES[name]._replace(size=SMALLER)).running() as url:
        transport = HttpTransport(url)
        client = EndpointClient([transport], lambda reply: accept(reply, endpoint="e"), endpoint="e")
        with pytest.raises(EndpointError) as caught:
            await client.select("SELECT * {}")
        await client.close()
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 600


@pytest.mark.parametrize("name", SHAPES)
async def test_no_bomb_fills_the_memory(name: str, request: pytest.FixtureRequest) -> None:
    """A session asks, in a process of its own: its memory stays bounded, and it ends by itself."""
    if not request.config.getoption("--all"):
        pytest.skip("it takes minutes: --all")
    figures = await measured(name, Path(__file__).parents[2])
    assert figures["peak, MB"] < MEMORY, figures
    assert figures["outcome"].startswith(("not_found", "none", "failed")), figures
    assert figures["requests"], figures

"""Clients of the protocol, in process, over a desk of the graph of pets or of the sample."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest

from tests.serve.conftest import MakeDesk, Stalled, desk, pets

if TYPE_CHECKING:
    from mcp import Client

    from fedkg.mcp.tools import Toolbox

__all__ = ["MakeBox", "MakeDesk", "Stalled", "desk", "pets", "talking"]

Era = Literal["legacy", "auto"]


class MakeBox(Protocol):
    """Makes the tools of a desk over these endpoints, with these limits."""

    def __call__(self, *endpoints: Any, tokens: int = 4_000, **limits: Any) -> "Toolbox": ...


@pytest.fixture
def box(desk: MakeDesk) -> MakeBox:
    """The tools over the pets, or other endpoints."""

    def make(*endpoints: Any, tokens: int = 4_000, **limits: Any) -> "Toolbox":
        from fedkg.mcp.tools import Toolbox  # noqa: PLC0415  # the extra may be missing

        return Toolbox(desk(*endpoints, **limits), tokens)

    return make


@asynccontextmanager
async def _talking(box: "Toolbox", era: Era = "auto") -> AsyncIterator["Client"]:
    from mcp import Client  # noqa: PLC0415

    from fedkg.mcp.server import protocol_server  # noqa: PLC0415

    async with Client(protocol_server(box), mode=era) as client:
        yield client


def talking(box: "Toolbox", era: Era = "auto") -> AbstractAsyncContextManager["Client"]:
    """The SDK's client of a server around the tools, in this process; `legacy` shakes hands as before 2026."""
    return _talking(box, era)

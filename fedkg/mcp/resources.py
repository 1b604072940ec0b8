"""What a client may read beside the tools: the answers that are kept, the endpoints, the methods."""

from dataclasses import dataclass

from fedkg.core.encoding import encode
from fedkg.errors import DocumentError
from fedkg.mcp.results import safe
from fedkg.mcp.tools import Toolbox

__all__ = ["ANSWERS", "Listed", "listed", "read"]

ENDPOINTS, METHODS, ANSWERS = "fedkg://endpoints", "fedkg://methods", "fedkg://answers/"


@dataclass(frozen=True, slots=True)
class Listed:
    """A resource as the list of them has it: its URI, a name, and what is in it."""

    uri: str
    name: str
    description: str


def listed(box: Toolbox, client: str) -> list[Listed]:
    """What the client may read now, its latest answer first."""
    answers = [
        Listed(f"{ANSWERS}{name}", f"answer {name}", f"The whole document of: {safe(answer.question)}")
        for name, answer in reversed(list(box.kept.of(client).items()))
    ]
    return [
        Listed(ENDPOINTS, "endpoints", "The endpoints that are asked, by the names that `ask` takes and proofs have."),
        Listed(METHODS, "methods", "The methods that `ask` takes; the first is used where none is named."),
        *answers,
    ]


async def read(box: Toolbox, client: str, uri: str) -> str:
    """The resource as JSON. Raises DocumentError where there is none."""
    if uri in {ENDPOINTS, METHODS}:
        offer = await box.desk.offer()
        return encode(offer.endpoints if uri == ENDPOINTS else offer.methods).decode()
    if uri.startswith(ANSWERS):
        return box.kept.get(client, uri.removeprefix(ANSWERS)).to_json().decode()
    raise DocumentError(f"there is no resource {uri[:200]!r}", hint=f"{ENDPOINTS}, {METHODS}, {ANSWERS}NAME")

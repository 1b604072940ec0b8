"""What endpoints list: everything that one of them can, and a note of the rest."""

import pytest

from fedkg.core.terms import Iri
from fedkg.core.usage import Gap
from fedkg.engine.listing import Listing, listed
from fedkg.errors import EndpointError, EndpointTimeoutError, QueryRejectedError, UnreachableError

A, B, P, Q = (Iri(f"http://x/{name}") for name in "abpq")


class Lists:
    """A graph that lists these, or fails; `asked` is what it was asked for."""

    def __init__(self, name: str, entities: list[Iri] | EndpointError, relations: list[Iri] | EndpointError) -> None:
        self.name = name
        self.asked: list[str] = []
        self._entities, self._relations = entities, relations

    async def labelled(self, limit: int) -> list[Iri]:
        self.asked.append("entities")
        return self._listed(self._entities)[:limit]

    async def relations(self, limit: int) -> list[Iri]:
        self.asked.append("relations")
        return self._listed(self._relations)[:limit]

    def _listed(self, what: list[Iri] | EndpointError) -> list[Iri]:
        if isinstance(what, EndpointError):
            raise what
        return what


async def test_everything_is_listed_once() -> None:
    """Of all graphs together, at most so many of each."""
    graphs = [Lists("g", [A, B], [P]), Lists("h", [B, A], [P, Q])]
    assert await listed(graphs, 9) == Listing([A, B], [P, Q], ())
    assert await listed(graphs, 1) == Listing([A, B], [P], ())


async def test_what_cannot_be_listed_is_noted() -> None:
    """The rest is listed all the same."""
    graphs = [Lists("g", [A], EndpointTimeoutError("slow")), Lists("h", QueryRejectedError("no"), [Q])]
    missing = (Gap("h", "its entities", "no"), Gap("g", "its relations", "slow"))
    assert await listed(graphs, 9) == Listing([A], [Q], missing)


async def test_one_that_is_away_is_asked_once() -> None:
    """There is nothing to be had of it."""
    away = Lists("g", UnreachableError("gone"), [P])
    assert await listed([away, Lists("h", [A], [])], 9) == Listing([A], [], (Gap("g", "its entities", "gone"),))
    assert away.asked == ["entities"]


@pytest.mark.parametrize(
    ("error", "hint"), [(EndpointTimeoutError("slow"), "--limit"), (UnreachableError("gone"), "check the URL")]
)
async def test_where_nothing_is_listed_the_first_error_says_why(error: EndpointError, hint: str) -> None:
    """What takes too long does so with a hint that helps."""
    with pytest.raises(type(error)) as caught:
        await listed([Lists("g", error, QueryRejectedError("no"))], 9)
    assert hint in caught.value.hint

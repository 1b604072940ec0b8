"""What engines understand: how a query has to be put so that an engine can plan it, as data.

Which engine answers is detected from its replies (`fedkg.sparql.detect`), never from the host's name: public endpoints
move from one engine to another. The dialect of an engine that is not detected comes from an installed package
(`fedkg.dialects`), and is used where a profile names it.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from fedkg.common.plugins import Registry

__all__ = ["DIALECTS", "GENERIC", "PLAIN", "Dialect", "Engine", "Format", "Query", "find", "known_names", "loaded"]

Engine = Literal["generic", "blazegraph", "qlever", "virtuoso", "oxigraph", "rdflib", "comunica"]
"""The engines that are detected by how they answer; `plain` is one that a profile may name beside them."""
Format = Literal["json", "xml"]
"""The standard formats of results that are read."""


class Dialect(msgspec.Struct, frozen=True):
    """How queries are put to one engine.

    inline: a known term stands in the pattern itself, one branch each, instead of in VALUES. branches: most branches of
    one UNION. typed_strings: a literal of type xsd:string is another term than the same one without a type.
    fast_distinct_predicates: an entity's distinct relations are read off an index, whatever the number of its edges.
    text: which search in labels the engine brings along ("" for none). simple: it joins patterns in the order in which
    they stand and evaluates a query inside of another one by itself, so that no LIMIT stands inside of a pattern; and a
    batch begins small. lone_names: a name in several languages is a constant in a branch of its own for each, instead
    of one VALUES. together: what is joined with known terms is joined once, with the UNION of their branches, and not
    in each of these. decodes_twice: its server decodes a query once more than it was encoded, so that a "%" is written
    as SPARQL's escape for it. format: the format of results that the engine writes quickest.
    """

    engine: str = "generic"
    inline: bool = False
    branches: int = 40
    typed_strings: bool = False
    fast_distinct_predicates: bool = False
    text: Literal["", "bif", "qlever"] = ""
    simple: bool = False
    lone_names: bool = False
    together: bool = False
    decodes_twice: bool = False
    format: Format = "json"

    def written(self, query: str) -> str:
        """The query as its server must be sent it."""
        return query.replace("%", "\\u0025") if self.decodes_twice else query


GENERIC = Dialect()
PLAIN = Dialect("plain", inline=True, branches=150, simple=True, lone_names=True)
"""Nothing but constants, variables, FILTER and UNION: what an engine is asked that refuses a query with an error of its
own."""

DIALECTS: dict[str, Dialect] = {
    "generic": GENERIC,
    "blazegraph": Dialect("blazegraph"),
    # VALUES are not pushed into a scan with free predicate: constants are index look-ups
    # (ad-freiburg/qlever#3103, #3276)
    "qlever": Dialect("qlever", inline=True, branches=150, fast_distinct_predicates=True, text="qlever"),
    # Each branch adds to the generated SQL, whose length is bounded (openlink/virtuoso-opensource#280). A hop of 50
    # entities takes Virtuoso 7.2.5 a third of the processor time in XML: 15 ms instead of 45.
    "virtuoso": Dialect("virtuoso", typed_strings=True, fast_distinct_predicates=True, text="bif", format="xml"),
    "oxigraph": Dialect("oxigraph", branches=100),
    # joins of joins are evaluated side by side in full (rdflib's algebra.analyse): constants keep them flat
    "rdflib": Dialect("rdflib", inline=True, branches=150, typed_strings=True, simple=True, decodes_twice=True),
    # a join is planned anew in each branch, which takes more time than to evaluate it
    "comunica": Dialect("comunica", inline=True, branches=150, simple=True, together=True),
    "plain": PLAIN,
}

Query = str | Callable[[Dialect], str]
"""A query's text, or what makes it for a dialect: replicas of one endpoint may run different engines."""

_REGISTRY: Registry[Dialect] = Registry(
    "fedkg.dialects", DIALECTS, lambda thing: isinstance(thing, Dialect), "a fedkg.config.dialects.Dialect"
)
_LOADED: dict[str, Dialect] = {}


def find(engine: str) -> Dialect | None:
    """The dialect of that engine, None where there is none. Raises PluginError."""
    dialect = _REGISTRY.get(engine)
    if dialect and engine not in DIALECTS:
        _LOADED[engine] = dialect
    return dialect


def known_names() -> list[str]:
    """The engines that a profile may name."""
    return _REGISTRY.names()


def loaded() -> list[Dialect]:
    """The dialects that queries may be written in: fedkg's own, and those of packages that profiles have named."""
    return [*DIALECTS.values(), *_LOADED.values()]

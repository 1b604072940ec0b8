"""What engines understand: how a query has to be put so that an engine can plan it, as data.

Which engine answers is told by what it answers like (`fedkg.sparql.detect`), never by the host's name: public endpoints move
from one engine to another.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

__all__ = ["DIALECTS", "GENERIC", "Dialect", "Engine", "Query"]

Engine = Literal["generic", "blazegraph", "qlever", "virtuoso", "oxigraph"]


class Dialect(msgspec.Struct, frozen=True):
    """How queries are put to one engine.

    inline: a known term stands in the pattern itself, one branch each, instead of in VALUES. branches: most branches of one
    UNION. typed_strings: a literal of type xsd:string is another term than the same one without a type. skims: an entity's
    distinct relations are read off an index, whatever the number of its edges. text: which search in labels the engine brings
    along ("" for none).
    """

    engine: Engine = "generic"
    inline: bool = False
    branches: int = 40
    typed_strings: bool = False
    skims: bool = False
    text: Literal["", "bif", "qlever"] = ""


GENERIC = Dialect()

DIALECTS: dict[Engine, Dialect] = {
    "generic": GENERIC,
    "blazegraph": Dialect("blazegraph"),
    # VALUES are not pushed into a scan with free predicate: constants are index look-ups (ad-freiburg/qlever#3103, #3276)
    "qlever": Dialect("qlever", inline=True, branches=150, skims=True, text="qlever"),
    # each branch adds to the generated SQL, whose length is bounded (openlink/virtuoso-opensource#280)
    "virtuoso": Dialect("virtuoso", typed_strings=True, skims=True, text="bif"),
    "oxigraph": Dialect("oxigraph", branches=100),
}

Query = str | Callable[[Dialect], str]
"""A query's text, or what makes it for the dialect of whoever will be asked: mirrors of one endpoint differ in engine."""

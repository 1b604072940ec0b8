"""SPARQL results in XML, which some endpoints send whatever they are asked for: the only importer of defusedxml.

A result becomes the value that its JSON form would have, so that everything after the parsing is the same for both.
"""

import io
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import iterparse

__all__ = ["BrokenOffError", "read"]

BOOLEANS = {"true": True, "false": False}
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class BrokenOffError(ValueError):
    """Raised for XML that is not whole or not well formed."""


def read(body: bytes) -> dict[str, Any]:
    """The value of the same result in SPARQL JSON.

    Raises BrokenOffError where the XML is not whole, ValueError where it is no result or declares a DTD or entities:
    no result needs them, and they are how a small document fills the memory.
    """
    found: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    name = ""
    try:
        for _, element in iterparse(io.BytesIO(body), forbid_dtd=True):
            name = _name(element)
            if name == "result":
                rows.append({str(part.get("name")): _term(part) for part in element})
                element.clear()
            elif name == "results":
                found[name] = {"bindings": rows}
            elif name == "boolean":
                found[name] = BOOLEANS.get((element.text or "").strip())
            elif name == "head":
                found[name] = {}
    except (ParseError, LookupError) as error:
        raise BrokenOffError(str(error)) from error
    if name != "sparql":
        raise ValueError(f"the root is <{name[:40]}>")
    return found


def _term(binding: Element) -> dict[str, Any]:
    """The term of a binding as JSON says it; one without a term, or with several, is of a type that nobody knows."""
    if len(binding) != 1:
        return {"type": "binding", "value": ""}
    (term,) = binding
    said = {
        "type": _name(term),
        "value": term.text or "",
        "datatype": term.get("datatype"),
        "xml:lang": term.get(LANGUAGE),
    }
    return {key: value for key, value in said.items() if value is not None}


def _name(element: Element) -> str:
    """The element's name without its namespace."""
    return element.tag.rpartition("}")[2]

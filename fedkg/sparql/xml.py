"""SPARQL results in XML, which some endpoints send whatever they are asked for: the only importer of defusedxml.

A result becomes the value that its JSON form would have, so that everything after the parsing is the same for both. No
tree is built, so a document takes no more memory than what it says.
"""

from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.ElementTree import DefusedXMLParser

__all__ = ["BrokenOffError", "read"]

DEPTH = 32
"""Elements within elements; a result has five, and some more where its terms are triples."""

HEAD = ["sparql", "head"]
RESULTS = ["sparql", "results"]
RESULT = [*RESULTS, "result"]
BINDING = [*RESULT, "binding"]
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class BrokenOffError(ValueError):
    """Raised for XML that is not whole or not well formed."""


def read(body: bytes) -> dict[str, Any]:
    """The value of the same result in SPARQL JSON.

    Raises BrokenOffError where the XML is not whole, ValueError where it is no result or declares a DTD or entities:
    no result needs them, and they are how a small document fills the memory.
    """
    reader = _Reader()
    parser = DefusedXMLParser(target=reader, forbid_dtd=True)
    try:
        parser.feed(body)
        parser.close()
    except (ParseError, LookupError) as error:
        raise BrokenOffError(str(error)) from error
    return reader.value


class _Reader:
    """What the parser tells of the elements, in their order; `value` is what they said."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._path: list[str] = []
        self._row: dict[str, dict[str, str]] = {}
        self._variable = ""
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins. Raises ValueError for one that no result has."""
        self._path.append(tag.rpartition("}")[2])
        if self._path[0] != "sparql" or len(self._path) > DEPTH:
            raise ValueError(f"the root is <{self._path[0][:40]}>" if len(self._path) == 1 else "it is nested too deep")
        if self._path == RESULTS:
            self.value.setdefault("results", {"bindings": []})
        elif self._path == RESULT:
            self._row = {}
        elif self._path == BINDING:
            self._variable = attributes.get("name", "")
        elif self._path[:-1] == BINDING:
            # a binding of several terms is of an unknown type
            kind = "binding" if self._variable in self._row else self._path[-1]
            parts = {"type": kind, "datatype": attributes.get("datatype"), "xml:lang": attributes.get(LANGUAGE)}
            self._row[self._variable] = {key: value for key, value in parts.items() if value is not None}
        self._text = []

    def data(self, text: str) -> None:
        """Some of an element's text."""
        self._text.append(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._path[:-1] == BINDING:
            self._row[self._variable]["value"] = "".join(self._text)
        elif self._path == RESULT:
            self.value["results"]["bindings"].append(self._row)
        elif self._path == HEAD:
            self.value["head"] = {}
        self._path.pop()

    def close(self) -> None:
        """The document ends."""

"""SPARQL results in XML, which some endpoints send whatever they are asked for: the only importer of defusedxml.

The terms are those of the JSON form, so that everything after the parsing is the same for both. No tree is built, so a
document takes no more memory than its rows.
"""

from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from fedkg.sparql.pieces import Pieces
from fedkg.sparql.solutions import (
    LONGEST,
    VARIABLES,
    BadTermError,
    Binding,
    BrokenOffError,
    NoResultError,
    Solutions,
    TooMuchError,
    bounded,
)

__all__ = ["read"]

DEPTH = 32
"""Elements within elements, beside the rows."""
ELEMENTS = 4 * VARIABLES
"""Most elements of a row, and of what stands before and after the rows."""
NAMES = 64
"""Most names that elements and attributes of a document have, and most namespaces: a parser keeps them all."""
ATTRIBUTES = 16

HEAD = ["sparql", "head"]
RESULTS = ["sparql", "results"]
RESULT = [*RESULTS, "result"]
BINDING = [*RESULT, "binding"]
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def read(body: bytes, solutions: Solutions) -> bool:
    """Reads the rows into `solutions`; whether there were results at all, as there are none in the reply to an ASK.

    Raises the errors of `Solutions` and `Pieces`, BrokenOffError, and NoResultError also for what declares a DTD or
    entities: no result needs them, and they are how a small document fills the memory.
    """
    pieces = Pieces(body)
    reader = _Reader(solutions, pieces)
    parser = DefusedXMLParser(target=reader, forbid_dtd=True)
    try:
        for piece in pieces:
            parser.feed(piece)
        parser.close()
    except DefusedXmlException:
        raise NoResultError("it declares a document type or an entity") from None
    except (TooMuchError, NoResultError, BadTermError):
        raise
    except (ParseError, LookupError, ValueError) as error:  # the last two for encodings that expat does not take
        raise BrokenOffError(str(error)) from None
    finally:
        pieces.close()  # parser and reader are a cycle, which is not freed at once
    if not reader.has_head:
        raise NoResultError("it has no head")
    return reader.has_results


class _Reader:
    """What the parser tells of the elements, in their order."""

    def __init__(self, solutions: Solutions, pieces: Pieces) -> None:
        self.has_head = self.has_results = False
        self._solutions = solutions
        self._pieces = pieces
        self._path: list[str] = []
        self._elements = self._namespaces = self._length = 0
        self._names: set[str] = set()
        self._row: dict[str, Binding] = {}
        self._variable = ""
        self._attributes: dict[str, str] = {}
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins. Raises NoResultError for one that no result has."""
        self._path.append(tag.rpartition("}")[2])
        self._check(tag, attributes)
        if self._path == RESULTS:
            if self.has_results:
                raise NoResultError("it has results twice")
            self.has_results = True
        elif self._path == RESULT:
            self._solutions.expect()
            self._row = {}
        elif self._path == BINDING:
            self._variable = attributes.get("name", "")
        elif self._path[:-1] == BINDING:
            self._attributes = attributes
        self._text, self._length = [], 0

    def data(self, text: str) -> None:
        """Some of an element's text, of which no more is kept than shows that it is too long."""
        if self._length <= LONGEST:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._path[:-1] == BINDING:
            self._row[self._variable] = self._binding()
        elif self._path == RESULT:
            self._solutions.add(self._row)
            self._next()
        elif self._path == HEAD:
            self.has_head = True
            self._next()
        self._path.pop()

    def start_ns(self, prefix: str, uri: str) -> None:
        """A namespace is declared."""
        self._namespaces += 1
        if self._namespaces > NAMES:
            raise NoResultError(f"more than {NAMES} namespaces")

    def close(self) -> None:
        """The document ends."""

    def _next(self) -> None:
        self._elements = 0
        self._pieces.row()

    def _check(self, tag: str, attributes: dict[str, str]) -> None:
        if self._path[0] != "sparql" or len(self._path) > DEPTH:
            reason = f"the root is <{self._path[0][:40]}>" if len(self._path) == 1 else "it is nested too deep"
            raise NoResultError(reason)
        if self._misplaced():
            raise NoResultError(f"<{self._path[-1][:40]}> stands where no result has it")
        self._elements += 1
        self._names.update((tag, *attributes))
        if self._elements > ELEMENTS or len(attributes) > ATTRIBUTES or len(self._names) > NAMES:
            raise NoResultError("it holds too much beside its rows")

    def _misplaced(self) -> bool:
        """Whether it is none of the elements of a row, in their order, or stands in a term, whose text it would cut."""
        path = self._path
        return path[:2] == RESULTS and (path[:4] != BINDING[: len(path)] or len(path) > len(BINDING) + 1)

    def _binding(self) -> Binding:
        # a binding of several terms is of an unknown type
        kind = "binding" if self._variable in self._row else self._path[-1]
        datatype, language = self._attributes.get("datatype"), self._attributes.get(LANGUAGE)
        value = bounded("".join(self._text))
        return Binding(kind, value, datatype and bounded(datatype), language and bounded(language))

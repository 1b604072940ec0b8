"""Results of SPARQL queries as engines write them down: the same rows as JSON, as XML, and as Virtuoso's XML."""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

__all__ = ["END", "XML_LITERAL", "Row", "Term", "in_json", "in_virtuoso_xml", "in_xml"]

Term = dict[str, str]
"""A term as JSON results have it."""
Row = Mapping[str, Term]

NAMESPACE = "http://www.w3.org/2005/sparql-results#"
XML_LITERAL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"
HEAD = f"""\
<sparql xmlns="{NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.w3.org/2001/sw/DataAccess/rf1/result2.xsd">
 <head>
  <variable name="s"/>
  <variable name="o"/>
 </head>
 <results distinct="false" ordered="true">
"""
END = b" </results>\n</sparql>"


def in_json(rows: Sequence[Row]) -> bytes:
    """The rows as JSON."""
    return json.dumps({"head": {"vars": []}, "results": {"bindings": rows}}).encode()


def in_xml(rows: Iterable[Row], start: str = '<?xml version="1.0"?>\n') -> bytes:
    """The rows as XML, after that start."""
    written = "".join(f"<result>{''.join(_binding(*pair) for pair in row.items())}</result>\n" for row in rows)
    return f'{start}<sparql xmlns="{NAMESPACE}"><head/><results>{written}</results></sparql>'.encode()


def _binding(name: str, term: Term) -> str:
    attributes = "".join(f" {key}={quoteattr(term[key])}" for key in ("xml:lang", "datatype") if key in term)
    value = escape(term["value"], {"\r": "&#13;"})
    return f"<binding name={quoteattr(name)}><{term['type']}{attributes}>{value}</{term['type']}></binding>"


def in_virtuoso_xml(rows: Iterable[Row]) -> bytes:
    """The rows as Virtuoso writes XML."""
    written = (f"  <result>\n{''.join(_virtuoso_binding(*pair) for pair in row.items())}  </result>\n" for row in rows)
    return (HEAD + "".join(written)).encode() + END


def _virtuoso_binding(name: str, term: Term) -> str:
    kind, value = term["type"], _virtuoso_text(term["value"])
    attributes = "".join(f' {key}="{_virtuoso_text(term[key])}"' for key in ("xml:lang", "datatype") if key in term)
    value = f"<![CDATA[{value}]]>" if term.get("datatype") == XML_LITERAL else value
    return f'   <binding name="{name}"><{kind}{attributes}>{value}</{kind}></binding>\n'


def _virtuoso_text(text: str) -> str:
    """Control characters by their numbers, line ends and tabs as they are."""
    text = html.escape(text).replace("&#x27;", "&#39;")
    return "".join(f"&#{ord(char)};" if char < " " and char not in "\t\n\r" else char for char in text)

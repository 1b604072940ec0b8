"""HTML that holds whatever it is given: built as a tree, so that no text can become a tag, and without any script.

Texts from graphs, models and files are one line without control and direction marks; a policy in the page's head
forbids everything but its own style and pictures.
"""

import base64
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

from fedkg.common.one_line import line

__all__ = ["Element", "details", "element", "picture", "rendered", "table"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; \
color: #222; background: #fff; }
table { border-collapse: collapse; margin: .5rem 0; display: block; overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
.note { color: #555; font-size: .9em; margin-top: 0; }
.published { background: #f6f3ea; padding: 0 .6rem; margin: .6rem 0; }
details { margin: .3rem 0 .3rem .8rem; }
summary { cursor: pointer; }
img { max-width: 100%; height: auto; }
.bars { display: table; width: 100%; }
.bars th { width: 22rem; font-weight: 400; border: 0; } .bars td { border: 0; white-space: nowrap; }
.bars .track { width: 60%; }
.bar { background: #b9b9b9; height: .9em; margin-top: .3em; } .ours { background: #2f6f9f; }
.right { color: #14682a; } .wrong { color: #94240f; }
"""
TEXT = 500


def element(tag: str, *inside: Element | str, **attributes: str) -> Element:
    """An element; `cls` is its class. What is text in it is cleaned, and escaped when it is written."""
    made = Element(tag, {"class" if name == "cls" else name: value for name, value in attributes.items()})
    for part in inside:
        if isinstance(part, Element):
            made.append(part)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + _clean(part)
        else:
            made.text = (made.text or "") + _clean(part)
    return made


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Element:
    """A table of plain texts."""
    head = element("thead", element("tr", *(element("th", column) for column in columns)))
    body = element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows))
    return element("table", element("caption", caption), head, body)


def details(summary: Element | str, *inside: Element | str, cls: str = "") -> Element:
    """What is shown on a click."""
    return element("details", element("summary", summary), *inside, **({"cls": cls} if cls else {}))


def picture(svg: str, title: str) -> Element:
    """An SVG as a picture: whatever is in it stays in it."""
    data = base64.b64encode(svg.encode()).decode()
    return element("p", element("img", src=f"data:image/svg+xml;base64,{data}", alt=_clean(title)))


def rendered(title: str, *body: Element) -> str:
    """The whole page."""
    meta = Element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY})
    style = Element("style")
    style.text = STYLE
    head = element("head", element("meta", charset="utf-8"), meta, element("title", title), style)
    page = element("html", head, element("body", *body), lang="en")
    ET.indent(page, " ")
    return "<!DOCTYPE html>\n" + ET.tostring(page, encoding="unicode", method="html") + "\n"


def _clean(text: str) -> str:
    """One line; a blank at an end, which sets a text apart from its neighbour, stays."""
    return f"{' ' * text.startswith(' ')}{line(text, TEXT)}{' ' * (text.endswith(' ') and text != ' ')}"

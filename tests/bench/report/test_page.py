"""HTML of texts that would be HTML."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.report import page
from fedkg.bench.report.page import details, element, picture, rendered, table

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e&amp;"


class Reader(HTMLParser):
    """Which tags and texts a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_hostile_texts_are_text() -> None:
    """In a title, a cell, an attribute: no tag and no attribute but our own, no mark that turns the writing round."""
    body = details(HOSTILE, table(HOSTILE, [HOSTILE], [[HOSTILE]]), element("b", HOSTILE, title=HOSTILE))
    read = Reader(rendered(HOSTILE, body, picture("<svg/>", HOSTILE)))
    assert read.tags.count("script") == 0
    assert read.tags.count("img") == 1
    assert {name for name, _ in read.attributes} <= {"lang", "charset", "http-equiv", "content", "title", "src", "alt"}
    shown = [text for text in read.texts if "alert" in text]
    assert len(shown) == 6
    assert all(text.startswith("‹script›alert(1)‹/script›") and "\u202e" not in text for text in shown)


def test_nothing_is_loaded_from_anywhere() -> None:
    """A policy says so, and pictures lie in the page."""
    read = Reader(rendered("t", picture("<svg/>", "plot")))
    assert ("content", page.POLICY) in read.attributes
    assert "default-src 'none'" in page.POLICY
    [source] = [value for name, value in read.attributes if name == "src"]
    assert str(source).startswith("data:image/svg+xml;base64,")


def test_texts_and_elements_keep_their_order() -> None:
    """And the blanks between them."""
    made = element("p", "a ", element("b", "c"), " d ", element("i", "e"), "f", cls="note")
    assert '<p class="note">a <b>c</b> d <i>e</i>f' in rendered("t", made)


@given(st.text())
def test_every_text_is_one_text(plain: str) -> None:
    """Whatever it is, it is read as the tags that were made and nothing else."""
    assert Reader(rendered("t", element("p", plain))).tags == [
        "html",
        "head",
        "meta",
        "meta",
        "title",
        "style",
        "body",
        "p",
    ]

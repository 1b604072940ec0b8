"""All documents: what they link to and name exists."""

import re
from pathlib import Path

import pytest

from tests.support.documents import DOCS, ROOT


@pytest.mark.parametrize("document", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_what_a_document_names_exists(document: Path) -> None:
    """Sections that links lead to, and files and folders of the project."""
    text = document.read_text(encoding="utf-8")
    for name, anchor in re.findall(r"\]\(([\w./]*)#([\w-]+)\)", text):
        assert anchor in _anchors((document.parent / name if name else document).read_text(encoding="utf-8"))
    for name in re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", text):
        assert (document.parent / name).exists()
    for path in re.findall(r"`((?:endpoints|models|prompts|fedkg|tests|eval|cache)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path


def _anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"(?m)^##+ (.*)", text)}

"""The documentation as a site: `make docs`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import DOCS, ROOT
from tests.support.extras import needs

NAVIGATION = re.findall(r"(?m)([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_every_page_can_be_reached() -> None:
    """Once, from the site's navigation."""
    assert sorted(NAVIGATION) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


@pytest.mark.exhaustive
@needs("dev", "mkdocs")
@needs("serve", "litestar")
def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    """A link that leads nowhere would be an error; nothing is loaded from elsewhere, and all routes are described."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert not [name for name, page in pages.items() if re.search(r"<(script|link|img)[^>]+(src|href)=.https?:", page)]
    assert "POST /ask" in pages["http_reference.html"]

"""docs/index.md, docs/asking.md and the guides by person: what they show is what happens."""

import contextlib
import re
from io import StringIO
from pathlib import Path

import pytest

from tests.support.documents import ROOT, blocks, check_shown, follow, programs, read, run, transcripts
from tests.support.extras import needs

GUIDES = ["guides/agent_builder", "guides/developer", "guides/expert", "guides/researcher"]
PAGES = ["asking", *GUIDES]
SHOWN = [(page, command, shown) for page in PAGES for command, shown in transcripts(read(page))]


@needs("embeddings", "onnxruntime")
@pytest.mark.parametrize(("page", "command", "shown"), SHOWN)
def test_every_transcript_is_what_the_command_prints(page: str, command: str, shown: list[str]) -> None:
    """Line by line, apart from the last digits of a score."""
    code, printed = run(command)
    assert code == 0
    check_shown([re.sub(r"score \d\.\d+\)|0\.69$", "…", line) for line in shown], printed)


@pytest.mark.parametrize("code", [block for page in PAGES for block in blocks(read(page), "python")])
def test_a_program_runs(code: str) -> None:
    """As it stands."""
    printed = StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    assert "answered ['Irène Joliot-Curie', 'Ève Curie']" in printed.getvalue()
    assert "<http://www.wikidata.org/entity/Q7186>" in printed.getvalue()


def test_the_start_is_followed(here: Path) -> None:
    """From the first question over a check of its proof to a file of one's own."""
    follow(read("index"), lambda text: text)
    assert (here / "pets.ttl").exists()


def test_no_guide_is_left_out() -> None:
    """Each page in docs/guides is tested above, and some show a command or a program."""
    assert {f"guides/{path.stem}" for path in (ROOT / "docs" / "guides").iterdir()} == set(GUIDES)
    assert programs(read("guides/developer"))
    assert transcripts(read("guides/expert"))

"""docs/training.md: what is refused is refused as shown, and its options exist."""

import re

from tests.support.documents import follow, read, run, sections

TRAINING = read("training")


def test_the_refusals_are_those_that_are_shown() -> None:
    """Each command with its message."""
    follow(sections(TRAINING)["What is refused"], lambda text: text)


def test_the_options_that_are_named_exist() -> None:
    """Of `fedkg train scorer` or `fedkg ask`."""
    helps = "".join(run(f"fedkg {name} --help")[1] for name in ("train scorer", "ask"))
    text = re.sub(r"python -m .*?`", "", TRAINING)
    assert {flag for flag in re.findall(r"--[a-z][a-z-]*", text) if flag not in helps} == set()

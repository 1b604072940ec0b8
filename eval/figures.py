"""The figures in README and docs follow from the result files: this fills the places that show them.

A place stands between the lines `<!-- figures: NAME -->` and `<!-- end of figures -->`. What it holds is the block
NAME of `eval/figures.md.j2`, rendered with the figures of `eval/results/*.json`, each file by its name. Without --write
it shows which places differ, and ends with 1 where some do.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import jinja2

__all__ = ["Figures", "documents", "filled"]

ROOT = Path(__file__).resolve().parents[1]
END = "<!-- end of figures -->"
PLACE = re.compile(rf"^( *)<!-- figures: (\w+) -->\n(.*?){END}\n", re.DOTALL | re.MULTILINE)


class Figures(Mapping[str, Any]):
    """The figures of a folder of result files, by the names of the files, each read when it is needed."""

    def __init__(self, folder: Path = ROOT / "eval" / "results") -> None:
        self._files = {file.stem: file for file in sorted(folder.glob("*.json"))}

    def __getitem__(self, name: str) -> Any:  # figures of any shape
        return json.loads(self._files[name].read_text(encoding="utf-8"))["figures"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def main() -> None:
    """Shows which places differ, or fills them in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="fill the places in")
    chosen = parser.parse_args()
    texts = {file: file.read_text(encoding="utf-8") for file in documents()}
    changed = {file: new for file, text in texts.items() if (new := filled(text, Figures())) != text}
    for file, text in changed.items():
        print(f"{file.relative_to(ROOT)}: {'filled in' if chosen.write else 'differs from the result files'}")
        if chosen.write:
            file.write_text(text, encoding="utf-8")
    sys.exit(bool(changed) and not chosen.write)


def documents() -> list[Path]:
    """The files that may show figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str, figures: Mapping[str, Any]) -> str:
    """The text with all of its places filled in, each as far indented as its mark.

    Raises jinja2.TemplateError where there is no block of that name, or a figure is missing.
    """
    blocks = _blocks()
    values = blocks.new_context(dict(figures))

    def place(match: re.Match[str]) -> str:
        indent, name, _ = match.groups()
        if name not in blocks.blocks:
            raise jinja2.TemplateNotFound(name, f"eval/figures.md.j2 has no block {name!r}")
        lines = [f"<!-- figures: {name} -->", *"".join(blocks.blocks[name](values)).strip().splitlines(), END]
        return "".join(f"{indent}{line}\n" for line in lines)

    return PLACE.sub(place, text)


def _blocks() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(ROOT / "eval")
    undefined = jinja2.StrictUndefined
    environment = jinja2.Environment(  # noqa: S701  # Markdown, not HTML
        loader=loader, undefined=undefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": "{:,}".format, "percent": _percent, "places": _places, "mean": _mean}
    return environment.get_template("figures.md.j2")


def _places(value: float, places: int) -> str:
    return f"{value:.{places}f}"


def _mean(rows: Sequence[Mapping[str, float]], key: str) -> float:
    return fmean(row[key] for row in rows)


def _percent(share: float, places: int = 1) -> str:
    """A share as README writes it: `96.3 %`, all of it as `100 %`."""
    return "100 %" if share == 1 else f"{100 * share:.{places}f} %"


if __name__ == "__main__":
    main()

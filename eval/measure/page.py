"""What was measured as one page that is read in a minute: eval/results/measured.html, and the same as measured.md.

Reads the result files of the other measurements and measures nothing; what is not there is left out.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.support.report import FOLDER
from fedkg.bench.report import bars, markdown, page
from fedkg.bench.report.bars import Bar, BarChart
from fedkg.bench.report.page import element

RESULTS = FOLDER / "results"
TITLE = "fedkg, measured"
ABOUT = "Blue is fedkg, grey what one would take instead; shorter is better unless a chart says otherwise."
OTHERS = ("SPARQLWrapper, one by one", "Think-on-Graph's requests")
Figures = Mapping[str, Any]
Charts = Iterator[BarChart]


def rivals(figures: Figures) -> Charts:
    """Against what a user would write, or take, instead."""
    for name, sides in figures.items():
        if name == "two endpoints":
            continue
        number = sides["questions"]
        rows = {side: row for side, row in sides.items() if isinstance(row, Mapping)}
        note = f"{name}, {number} questions one after the other, each program from its start on, all edges 100 ms away."
        yield chart(f"{name}: seconds for {number} questions, cold", "s", rows, "seconds for all", note)
        yield chart(f"{name}: the same questions again", "s", rows, "seconds for all, again")
        yield chart(f"{name}: requests", "requests", rows, "requests")
    yield chart("From the start of the program to its first answer", "s", rows, "seconds to the first answer")
    yield chart("Memory", "MB", rows, "memory, MB")
    sides = figures["two endpoints"]
    rows = {side: row for side, row in sides.items() if isinstance(row, Mapping)}
    yield chart(f"Two endpoints: seconds for {sides['questions']} questions", "s", rows, "seconds for all")
    yield chart("Two endpoints: requests", "requests", rows, "requests")


def neighbourhoods(figures: Figures) -> Charts:
    """100 neighbourhoods at a distance."""
    for engine in ("oxigraph", "virtuoso"):
        rows = figures.get(f"{engine}: neighbourhoods")
        if not isinstance(rows, Mapping):
            continue
        yield BarChart(
            f"{rows['entities']} neighbourhoods, both directions, {engine.capitalize()} 100 ms away",
            "s",
            (
                Bar("one request", rows["one request"]),
                Bar("fedkg", rows["fedkg, endpoint known"]["seconds"], ours=True),
                *(Bar(name, rows[name]["seconds for all (scaled)"]) for name in OTHERS),
            ),
        )


def many(figures: Figures) -> Charts:
    """Many questions at once."""
    runs = {name: row for name, row in figures.items() if "at a time" in name}
    for state in ("cold", "warm"):
        rates = {name: row[state] for name, row in runs.items()}
        yield chart(f"Questions a second, {state} (longer is better)", "a second", rates, "questions a second")
        yield chart(f"99 of 100 questions take at most, {state}", "s", rates, "p99, s")
    fair = {name.removesuffix(", median s"): {"s": value} for name, value in figures["fairness"].items()}
    note = "Beside: another question wants a hundred requests at once. Waiting questions have their turns."
    yield chart("A question beside a large one", "s", fair, "s", note)


def chart(title: str, unit: str, rows: Mapping[str, Figures], figure: str, note: str = "") -> BarChart:
    """One figure of all rows that have it."""
    others = ("SPARQLWrapper", "Think-on-Graph", "Comunica", "one query", "queries written")
    shown = (Bar(name, row[figure], ours=not name.startswith(others)) for name, row in rows.items() if figure in row)
    return BarChart(title, unit, tuple(shown), note)


PARTS: Mapping[str, tuple[str, Callable[[Figures], Charts]]] = {
    "rivals": ("Against what one would take instead", rivals),
    "latency": ("One hop", neighbourhoods),
    "many": ("Many questions at once", many),
}


def sections() -> Iterator[tuple[str, str, list[BarChart]]]:
    """Of each part that was measured its title, how it was measured, and its charts."""
    for name, (title, drawn) in PARTS.items():
        file = RESULTS / f"{name}.json"
        if file.is_file():
            document = json.loads(file.read_text(encoding="utf-8"))
            machine = f"{document['cores']} cores, load {document['load_before']} before"
            how = f"{document['command']}, {document['date']}, {machine}."
            yield title, how, list(drawn(document["figures"]))


def as_html() -> str:
    """The page."""
    body = [element("h1", TITLE), element("p", ABOUT, cls="note")]
    for title, how, charts in sections():
        body += [element("h2", title), element("p", how, cls="note"), *map(bars.as_element, charts)]
    return page.rendered(TITLE, *body)


def as_markdown() -> str:
    """The same as Markdown."""
    parts = [markdown.heading(1, TITLE)]
    for title, how, charts in sections():
        parts += [markdown.heading(2, title), f"{markdown.text(how)}\n", *map(bars.as_markdown, charts)]
    return "\n".join(parts)


def main() -> None:
    """Writes both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS / "measured.html", help="the page; Markdown goes beside it")
    # make gives its options to all measurements
    parser.add_argument("--write", action="store_true", help="no effect: it is written anyway")
    out = parser.parse_args().out
    out.write_text(as_html(), encoding="utf-8")
    out.with_suffix(".md").write_text(as_markdown(), encoding="utf-8")
    print(f"{out} and {out.with_suffix('.md').name}")


if __name__ == "__main__":
    main()

"""An answer or a path as a notebook shows it: what a terminal shows, with the proof as a drawing."""

from collections.abc import Iterable, Sequence

from fedkg.core import rendering
from fedkg.core.answer import Answer
from fedkg.core.proof import Path
from fedkg.core.rendering import RenderedLine
from fedkg.display.proof_drawing import drawing

__all__ = ["answer_html", "path_html"]


def answer_html(answer: Answer) -> str:
    """The answers with their caveats, the proof as a drawing and, folded, as text, and how the question ended."""
    heading, *paths, ending = rendering.paragraphs(answer.lines())
    parts = [rendering.html(heading)] if heading else []
    terms = [value.term for value in answer.answers if value.term]
    parts.append(drawing(_proofs(answer), terms))
    if paths:
        summary = f"{rendering.counted(len(answer.paths), 'path')} as text"
        parts.append(f"<details><summary>{summary}</summary>{_text(paths)}</details>")
    return _box([*parts, rendering.html(ending)])


def path_html(path: Path) -> str:
    """The path as a drawing, and as text."""
    lines = [line for line in rendering.path_lines(path, "path") if line]
    return _box([drawing([path], [path.end] if path.end else []), rendering.html(lines)])


def _proofs(answer: Answer) -> Sequence[Path]:
    """The paths, those that prove an answer first: of many the first are drawn."""
    proving = dict.fromkeys(value.paths[0] for value in answer.answers if value.paths)
    rest = (index for index in range(len(answer.paths)) if index not in proving)
    return [answer.paths[index] for index in (*proving, *rest) if index < len(answer.paths)]


def _text(paragraphs: Sequence[Sequence[RenderedLine]]) -> str:
    return rendering.html(line for lines in paragraphs for line in (*lines, ()))


def _box(parts: Iterable[str]) -> str:
    return f"<div>{''.join(parts)}</div>"

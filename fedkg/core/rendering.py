"""Answers, proofs and edges as a person reads them: lines of parts, for plain text, HTML and terminals.

Labels come from outside: what could steer a terminal, or pass for an arrow of ours, is taken out of every part.
"""

import html as escaping
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal as OneOf
from typing import NamedTuple

from fedkg.common.plain_text import plain
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.operation import Computation
from fedkg.core.operation_text import operation_text
from fedkg.core.proof import AnswerValue, Path, PathEdge, Status
from fedkg.core.question import JUDGED, Kind
from fedkg.core.terms import Iri, Term
from fedkg.core.usage import Gap, Usage

__all__ = [
    "RenderedLine",
    "Role",
    "Span",
    "caveat_line",
    "closest_line",
    "counted",
    "dollars",
    "edge_line",
    "gap_line",
    "html",
    "more_lines",
    "operation_line",
    "paragraphs",
    "path_lines",
    "status_line",
    "text",
    "usage_line",
    "value_line",
    "warning_line",
]

Role = OneOf["text", "answer", "status", "relation", "detail", "caution"]
"""What a part of a line is, from which a terminal or a page takes its colour."""

OPTION, REASON, WARNING = 500, 500, 1_000
"""Most characters of an option or IRI, of a gap's parts, and of a warning."""
CLOSEST = 3
"""Most entities and values that are named as what came closest."""
SMALLEST = 0.0001
"""US dollars; less is not told in figures."""
SENTENCES = {
    Status.ANSWERED: "Answered.",
    Status.NONE: "No answer: the graph has none.",
    Status.NOT_FOUND: "No answer was found within the limits of the search.",
    Status.FAILED: "No answer: an endpoint or the model failed, so the question stays open.",
    Status.ABSTAINED: "No answer: the model does not answer questions of this kind.",
}
ADMITTED = {
    CaveatKind.GUESS: "the answer is a guess",
    CaveatKind.PARTIAL: "data are missing on the way, so that the answer might be another one with all of them",
    CaveatKind.UNPROVEN: "no edge shows this condition of the question",
    CaveatKind.BRIDGE: "the verdict rests on common knowledge as well",
    CaveatKind.LOOSELY_LINKED: "a topic was not linked by exactly what the question calls it",
    CaveatKind.DROPPED_TOPIC: "the search went on without a topic of the question",
    CaveatKind.CUT: "there is more than was looked at",
    CaveatKind.RECALLED: "the answer is what the model remembers, and no path proves it",
}
COLOURS: dict[Role, str] = {
    "answer": "font-weight:bold;color:color-mix(in srgb,currentColor 45%,#1f9d55)",
    "status": "font-weight:bold",
    "relation": "color:color-mix(in srgb,currentColor 45%,#1c86b8)",
    "detail": "opacity:.75",
    "caution": "color:color-mix(in srgb,currentColor 40%,#c98500)",
}
"""Styles for a page: mixed with the colour of the text around them, so that they can be read on light and on dark."""


class Span(NamedTuple):
    """A part of a line."""

    text: str
    role: Role = "text"


RenderedLine = tuple[Span, ...]


def text(lines: Iterable[RenderedLine]) -> str:
    """The lines as plain text, without a line end after the last."""
    return "\n".join("".join(span.text for span in line) for line in lines)


def paragraphs(lines: Iterable[RenderedLine]) -> list[list[RenderedLine]]:
    """The lines between empty ones: of an answer what it is, each of its paths, and how it ended.

    At least two paragraphs, of which the first may be empty.
    """
    parts: list[list[RenderedLine]] = [[]]
    for line in lines:
        if line:
            parts[-1].append(line)
        else:
            parts.append([])
    return parts if len(parts) > 1 else [[], *parts]


def html(lines: Iterable[RenderedLine]) -> str:
    """The lines as one element of HTML with styles of its own; all text is escaped."""
    written = "\n".join("".join(map(_html, line)) for line in lines)
    return f'<pre style="white-space:pre-wrap">{written}</pre>'


def _html(span: Span) -> str:
    escaped = escaping.escape(span.text)
    return f'<span style="{COLOURS[span.role]}">{escaped}</span>' if span.role in COLOURS else escaped


def value_line(value: AnswerValue, kind: Kind) -> RenderedLine:
    """One answer: the option's number, what a person reads, the IRI, and whether it stands in the graph."""
    number = f"{plain(value.label)}. " if kind == "choice" else ""
    spans = [Span(f"{number}{plain(value.value, OPTION)}", "answer")]
    if value.iri:
        spans.append(Span(f"  <{plain(value.iri, OPTION)}>", "detail"))
    if kind in JUDGED and value.paths:
        spans.append(Span("  (judged from these paths, not grounded in the graph)", "caution"))
    elif not value.grounded:
        spans.append(Span("  (not grounded in the graph)", "caution"))
    return tuple(spans)


def path_lines(path: Path, heading: str) -> Iterator[RenderedLine]:
    """An empty line, the heading with the path's score, and a line for each edge."""
    yield ()
    yield (Span(f"{heading} (score {path.score:.2f})", "detail"),)
    for edge in path.edges:
        yield edge_line(edge, "  ")


def edge_line(edge: PathEdge, mark: str = "") -> RenderedLine:
    """One edge, in the direction it was walked: `A → relation → B  (qualifiers)  [endpoint]`."""
    arrow = "→" if edge.direction == "out" else "←"
    start, end = (edge.subject, edge.object) if edge.direction == "out" else (edge.object, edge.subject)
    spans = [
        Span(f"{mark}{_node(start, edge)}"),
        Span(f" {arrow} {_relation(edge)} {arrow} ", "relation"),
        Span(_node(end, edge)),
    ]
    if edge.qualifiers:
        qualifiers = (f"{_name(leg.relation, edge)}: {_name(leg.value, edge)}" for leg in edge.qualifiers)
        spans.append(Span(f"  ({'; '.join(qualifiers)})", "detail"))
    spans.append(Span(f"  [{plain(edge.endpoint)}]", "detail"))
    return tuple(spans)


def more_lines(count: int, most: int | None, noun: str, how: str) -> Iterator[RenderedLine]:
    """How many more there are than the `most` that were shown, and how all of them would be; nothing where all were."""
    if most is not None and count > most:
        yield (Span(f"… and {count - most} more {noun}; {how}", "detail"),)


def status_line(status: Status) -> RenderedLine:
    """How the question ended, as a sentence."""
    return (Span(SENTENCES[status], "status"),)


def closest_line(values: Sequence[AnswerValue]) -> RenderedLine:
    """What came closest and is no answer, the first few of it."""
    names = [plain(value.value, OPTION) for value in values[:CLOSEST]]
    names += [f"{len(values) - CLOSEST} more"] if len(values) > CLOSEST else []
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    closest = f"The closest {'is' if len(names) == 1 else 'are'} {listed},"
    return (Span(f"{closest} which the graph states, but it may not answer this.", "caution"),)


def caveat_line(caveat: Caveat) -> RenderedLine:
    """What an answer admits, as a sentence, and what that is about."""
    about = f": {plain(caveat.about, REASON)}" if caveat.about else ""
    return (Span(f"caveat: {ADMITTED[caveat.kind]}{about}", "caution"),)


def operation_line(operation: Computation, label: Callable[[Term], str]) -> RenderedLine:
    """What was computed, and the first values that decided; no parts where the ends were taken as they are."""
    text = operation_text(operation, label)
    return (Span(f"computed: {text}", "detail"),) if text else ()


def gap_line(gap: Gap) -> RenderedLine:
    """What is missing from the walk, and why."""
    parts = (plain(gap.endpoint), plain(gap.asked, REASON), plain(gap.reason, REASON))
    return (Span(f"gap: {': '.join(parts)}", "caution"),)


def warning_line(warning: str, times: int = 1) -> RenderedLine:
    """A warning, and how often it was given."""
    again = f" ({times} times)" if times > 1 else ""
    return (Span(f"warning: {plain(warning, WARNING)}{again}", "caution"),)


def usage_line(cost: Usage, replayed: int = 0) -> RenderedLine:
    """What a question cost; `replayed` of its model calls were answered by kept replies, at no cost now."""
    parts = [
        f"{counted(cost.requests, 'request')} in {counted(cost.round_trips, 'round trip')}",
        f"{cost.bytes / 1000:.1f} kB",
        counted(cost.cache_hits, "cache hit"),
        f"{counted(cost.labels_embedded, 'label')} embedded",
        counted(cost.model_calls, "model call") + (f" ({replayed} replayed)" if replayed else ""),
    ]
    if cost.model_calls:
        cached = f" ({cost.cached} cached)" if cost.cached else ""
        parts += [f"{cost.tokens_in} + {cost.tokens_out} tokens{cached}", dollars(cost.price)]
    if replayed:
        parts.append("all replayed" if replayed == cost.model_calls else "partly replayed")
    unpriced = cost.spent.endswith("money") and cost.price is None
    spent = f"; the budget of {cost.spent} {'cannot hold' if unpriced else 'is spent'}" if cost.spent else ""
    return (Span(f"{', '.join(parts)}, {cost.seconds:.1f} s{spent}", "detail"),)


def dollars(price: float | None) -> str:
    """An amount of money; small ones are not rounded to nothing."""
    if price is None:
        return "price unknown"
    return f"${price:.4f}" if price == 0 or price >= SMALLEST else f"less than ${SMALLEST}"


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the plural where it is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _name(term: Term, edge: PathEdge) -> str:
    name = plain(edge.label(term)).replace("→", "->").replace("←", "<-")
    return name or term.text


def _node(term: Term, edge: PathEdge) -> str:
    """The node's name; an identifier with the entity that it stands for."""
    name = _name(term, edge)
    meant = edge.identifies if term == edge.object else None
    return f"{name} = {_name(meant, edge)}" if meant else name


def _relation(edge: PathEdge) -> str:
    legs: Sequence[Iri] = (edge.relation, edge.through.relation) if edge.through else (edge.relation,)
    return " / ".join(_name(leg, edge) for leg in legs)

"""The questions of a run to browse: by what is wrong with them, each with its answers, its paths and their proof."""

from collections.abc import Iterator, Sequence

from fedkg.bench.data.questions import Gold
from fedkg.bench.report.page import Element, details, element
from fedkg.bench.run.record import GivenAnswer, QuestionRecord, WalkedEdge
from fedkg.bench.scoring.error_classes import FAULTS, fault
from fedkg.bench.scoring.variants import VariantRun

__all__ = ["browsable"]

MOST = 100
"""Questions of one class of one run that a page lists; the result file has all."""
VALUES = 20
"""Answers and gold answers that are listed of one question."""


def browsable(run: VariantRun) -> Element:
    """The questions of a run; the classes in their order, what is right last."""
    classes: dict[str, list[QuestionRecord]] = {}
    for record in run.records:
        classes.setdefault(fault(record) or "right", []).append(record)
    known = [name for name in (*FAULTS, "right") if name in classes]
    return details(f"{run.header.benchmark}: {run.name}", *(_class(name, classes[name]) for name in known))


def _class(name: str, records: Sequence[QuestionRecord]) -> Element:
    inside = [_question(record, name) for record in records[:MOST]]
    if len(records) > MOST:
        inside.append(element("p", f"… and {len(records) - MOST:,} more, in the result file", cls="note"))
    return details(f"{name}: {len(records):,}", *inside)


def _question(record: QuestionRecord, name: str) -> Element:
    mark = "right" if name == "right" else "wrong"
    head = element("span", element("b", record.id), " ", record.question, " ", element("span", name, cls=mark))
    return details(head, element("ul", *(element("li", *parts) for parts in _facts(record))), *_paths(record))


def _facts(record: QuestionRecord) -> Iterator[list[Element | str]]:
    """What is known of a question, one line each."""
    yield ["Answers: ", _listed([_answer(answer) for answer in record.answers])]
    yield ["Gold: ", _listed([_gold(answer) for answer in record.gold])]
    yield [f"Ended: {record.status}; kind: {record.kind}"]
    if record.topics:
        yield ["Topics: ", _listed(record.topics)]
    if record.error:
        yield ["Error: ", record.error]
    for warning in record.warnings:
        yield ["Warning: ", warning]
    usage = record.usage
    calls, tokens = usage.model_calls - usage.replayed_calls, usage.tokens_in + usage.tokens_out - usage.replayed_tokens
    cost = f"{calls:,} model calls, {tokens:,} tokens"
    yield [f"Cost: {cost}, {usage.requests:,} requests, {usage.seconds:.2f} s"]
    if usage.replayed_calls or usage.cache_hits:
        kept = f"{usage.replayed_calls:,} model calls, {usage.replayed_tokens:,} tokens"
        yield [f"From the cache, at no cost: {kept}, {usage.cache_hits:,} neighbourhoods and labels"]


def _answer(answer: GivenAnswer) -> str:
    named = f"{answer.label} ({answer.key})" if answer.label else answer.key
    if not answer.grounded:
        return f"{named}, not grounded"
    return f"{named}, {_confirmed(answer.confirmed)}"


def _gold(gold: Gold) -> str:
    return f"{gold.label} ({gold.iri})" if gold.label and gold.iri else gold.key


def _confirmed(confirmed: bool | None) -> str:
    return {True: "confirmed", False: "not confirmed", None: "not asked again"}[confirmed]


def _listed(values: Sequence[str]) -> Element:
    """The values as a list, each apart from its neighbours in whatever direction it is written."""
    more = [element("li", f"… and {len(values) - VALUES:,} more")] if len(values) > VALUES else []
    items = (element("li", element("bdi", value)) for value in values[:VALUES])
    return element("ul", *items, *more) if values else element("i", "none")


def _paths(record: QuestionRecord) -> Iterator[Element]:
    for number, path in enumerate(record.paths, 1):
        proof = element("ol", *(element("li", *_step(step)) for step in path))
        yield element("p", f"Path {number}: ", *_way(path))
        yield details("Proof", proof)


def _way(path: Sequence[WalkedEdge]) -> Iterator[Element | str]:
    """`A → relation → B ← relation ← C`, as it was walked."""
    for number, step in enumerate(path):
        arrow = "→" if step.direction == "out" else "←"
        if not number:
            yield element("bdi", step.start)
        yield f" {arrow} "
        yield element("i", step.relation)
        yield f" {arrow} "
        yield element("bdi", step.end)


def _step(step: WalkedEdge) -> Iterator[Element | str]:
    """The triple as the graph has it, who said it, and whether again."""
    start, relation, end = step.terms
    ends = (start, end) if step.direction == "out" else (end, start)
    yield element("code", f"{ends[0]} {relation} {ends[1]}")
    yield f" said by {step.endpoint}; {_confirmed(step.confirmed)}"

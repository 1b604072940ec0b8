"""What a reasoning model is shown of paths and candidates: one safe line each, numbered from 1.

`A → relation → B` is an edge from A to B, `A ← relation ← B` one from B to A. Labels come from endpoints and may carry
anything, instructions for the model included: they are folded into one bounded line and cannot contain an arrow.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from fedkg.common.one_line import line
from fedkg.core.choice import PromptCandidate
from fedkg.core.descriptions import SHORT
from fedkg.core.nameless import NO_NAME, nameless
from fedkg.core.path import QUALIFIERS, PartialPath, Step
from fedkg.core.question import Match
from fedkg.core.terms import (
    DirectedRelation,
    Direction,
    Edge,
    Iri,
    Term,
    own_name,
    relation_name,
    relation_text,
    typed_name,
)
from fedkg.engine.mentions import ALIAS

__all__ = [
    "SHOWN_ON_THE_WAY",
    "SHOWN_TAILS",
    "RelationKey",
    "ShownSteps",
    "onward_candidate",
    "path_candidate",
    "path_text",
    "relation_candidate",
    "safe",
    "shown_terms",
    "step_candidates",
    "surrounded",
    "topic_line",
    "weighted",
    "whole_names",
    "with_others",
]

SHOWN_ON_THE_WAY = 3
SHOWN_TAILS = 40
ARROWS: dict[Direction, str] = {"out": "→", "in": "←"}
NAMES = 10_000
"""Names that are remembered as they are shown: a walk shows the same ones again and again."""
SHOWN_EDGES = 3
"""Most edges to one tail whose qualifiers are shown."""
NUMBER = re.compile(r"(?<!\S)(\d+)\)")  # as prompts number the ends of a path
MARK = re.compile(r"\(\+\d*\??\)|\(no name(?:, \d+ times)?\)")  # as they say how many ends are not listed, or nameless
QUOTED = re.compile(r'"[^"]*"(?: \([^"]*)?$')  # a label that is one thing already, and what is told of it
RelationKey = tuple[Iri, Iri | None]
"""A relation in either direction, with a mediator's second leg."""


class ShownStep(NamedTuple):
    """A step as it is shown: its direction, the relation's name, the labels of its first tails, and how many it has.

    `complete`: the graph has no others. `whole` is how the text names the relation. `shared` is what all tails have in
    common, which stands once behind them.
    """

    direction: Direction
    relation: str
    tails: list[str]
    total: int
    complete: bool
    whole: str
    shared: str = ""


ShownSteps = dict[tuple[int, int], ShownStep]
"""Steps as they are shown, by their `id` and how many tails are: paths shown together have their first ones in common.

It is for one set of paths under one set of names: names and what is described change from one to the next.
"""


def step_candidates(
    paths: Sequence[PartialPath],
    candidates: Sequence[Step],
    names: Mapping[Term, str],
    topics: Sequence[Match],
    tails: int,
) -> list[PromptCandidate]:
    """One line per candidate: the path so far and the step that it adds."""
    extended = [paths[candidate.path_index].extend(candidate) for candidate in candidates]
    shown_steps: ShownSteps = {}
    return [
        path_candidate(number, path, names, topics, tails, shown_steps=shown_steps)
        for number, path in enumerate(extended, 1)
    ]


def path_candidate(
    number: int,
    path: PartialPath,
    names: Mapping[Term, str],
    topics: Sequence[Match],
    tails: int = SHOWN_TAILS,
    *,
    in_line: int | None = None,
    numbered: bool = False,
    whole: Mapping[RelationKey, str] = MappingProxyType({}),
    described: set[Term] | None = None,
    shown_steps: ShownSteps | None = None,
) -> PromptCandidate:
    """One line for a walked path; its tails are numbered in the order of `path.tails`.

    `tails` are listed, and `in_line` of them (None: all of these) stand in the text too, with their numbers where they
    are `numbered` and several. The text names relations by their `whole` names, where these have them. Qualifiers of
    mediators that are `described` are left out; those that the path describes are added. Steps that are among
    `shown_steps` are not written anew, others are added to these.
    """
    steps = _shown(path, names, tails, whole, described, shown_steps=shown_steps)
    start = _name(path.topic, names)
    labels, total = (steps[-1].tails, steps[-1].total) if steps else ([start], 1)
    mention = next((match.mention or match.label for match in topics if match.iri == path.topic), "")
    listed = tails if in_line is None else in_line
    last = _last(steps, listed, numbered=numbered)
    parts = _parts(start, steps, last)
    return PromptCandidate(
        number,
        " ".join(parts),
        tuple(step.relation for step in steps),
        tuple(labels),
        total - len(labels),
        path.score,
        mention,
        tuple(step.direction for step in steps),
        start,
        stem=" ".join(parts[:-1]),
        step=_below(steps[-1], last) if steps else "",
        typed=tuple(typed_name(step.relation) for step in path.steps),
    )


def relation_candidate(number: int, relation: DirectedRelation, names: Mapping[Term, str]) -> PromptCandidate:
    """One line for a relation, whatever it leads to: `→ author →`, or `← author ←` where it is walked backwards."""
    arrow, name = ARROWS[relation.direction], safe(relation_name(relation, names))
    return PromptCandidate(number, f"{arrow} {name} {arrow}", (name,), directions=(relation.direction,))


def onward_candidate(
    number: int,
    path: PartialPath,
    relation: DirectedRelation,
    names: Mapping[Term, str],
    topics: Sequence[Match],
    *,
    alone: bool,
) -> PromptCandidate:
    """One line for a relation as the next step of a path, whatever it leads to; `alone` without the path before it."""
    shown, step = (
        path_candidate(number, path, names, topics, SHOWN_ON_THE_WAY),
        relation_candidate(number, relation, names),
    )
    text = step.text if alone else f"{shown.text} {step.text}"
    return PromptCandidate(
        number,
        text,
        (*shown.relations, *step.relations),
        topic=shown.topic,
        directions=(*shown.directions, *step.directions),
        start=shown.start,
    )


def topic_line(match: Match, names: Mapping[Term, str], *, given: bool) -> str:
    """A topic with what it is: `King Kong, 2005 film`; how it was linked, where it is neither given nor so called.

    Where it is called otherwise, with what the question calls it before it: `"Kong" is King Kong (part of its name)`.
    """
    name = safe(names.get(match.iri, "")) or safe(match.label)
    mention = safe(match.mention)
    called = f'"{mention}" is ' if mention and mention.casefold() != name.casefold() else ""
    about = line(safe(match.description or match.type), SHORT)
    way = " (another of its names)" if match.score >= ALIAS else " (part of its name)"
    return f"{called}{name}{', ' if about else ''}{about}{'' if given or match.score == 1.0 else way}"


def whole_names(relations: Iterable[DirectedRelation], names: Mapping[Term, str]) -> dict[RelationKey, str]:
    """The whole names of those relations that share their label with another one, as far as these say more.

    A country's currency and that of its GDP are both labelled "currency" in Freebase.
    """
    alike: dict[str, dict[RelationKey, str]] = {}
    for relation in dict.fromkeys(relations):
        key = relation.relation, relation.via
        alike.setdefault(relation_name(relation, names), {})[key] = relation_text(relation, names)
    return {key: text for label, same in alike.items() if len(same) > 1 for key, text in same.items() if text != label}


def surrounded(candidate: PromptCandidate, near: Sequence[Step], names: Mapping[Term, str]) -> PromptCandidate:
    """An entity with the steps that the graph has around it: `… → entity [→ r → B; ← r ← C, D, (+2)]`."""
    texts = [_line("", [_step(step, names, SHOWN_ON_THE_WAY)], SHOWN_ON_THE_WAY).strip() for step in near]
    return msgspec.structs.replace(candidate, text=f"{candidate.text} [{'; '.join(texts)}]") if texts else candidate


def with_others(candidate: PromptCandidate, others: Sequence[PromptCandidate]) -> PromptCandidate:
    """A path with those that lead to the same ends: `A → r → B; also C → r → B`."""
    text = "; also ".join([candidate.text, *(other.text for other in others)])
    return msgspec.structs.replace(candidate, text=text, also=tuple(others))


def weighted(candidate: PromptCandidate, weights: Sequence[float]) -> PromptCandidate:
    """A path with its score, `… → entity (score 0.81)`; with those of the ways to its tails where they differ."""
    shown = tuple(round(weight, 2) for weight in weights[: len(candidate.tails)])
    text = f"{candidate.text} (score {max(weights, default=candidate.score):.2f})"
    return msgspec.structs.replace(candidate, text=text, weights=shown if len(set(shown)) > 1 else ())


def path_text(path: PartialPath, names: Mapping[Term, str], tails: int = SHOWN_ON_THE_WAY) -> str:
    """The path as one line: `Topic → relation → tail, tail, (+3) ← relation ← …`."""
    return _line(_name(path.topic, names), _shown(path, names, tails), tails)


def shown_terms(path: PartialPath) -> list[Term]:
    """The terms that a walked path's line shows: their labels are needed."""
    terms: list[Term] = [path.topic]
    for number, step in enumerate(path.steps, 1):
        tails = dict.fromkeys(step.tails[: SHOWN_TAILS if number == len(path.steps) else SHOWN_ON_THE_WAY])
        legs = [leg for edge in step.edges if edge.end in tails for leg in edge.qualifiers[:QUALIFIERS]]
        terms += [term for term in (step.relation.relation, step.relation.via) if term]
        terms += [*tails, *(term for leg in legs for term in (leg.relation, leg.value))]
    return list(dict.fromkeys(terms))


@lru_cache(NAMES)
def safe(text: str) -> str:
    """A label as a line may hold it: at most 200 characters, no arrow, nothing like the number of an end."""
    return line(NUMBER.sub(r"\1.", line(text)).replace("→", "-›").replace("←", "‹-"))


def _name(term: Term, names: Mapping[Term, str]) -> str:
    return safe(names.get(term, "")) or safe(own_name(term))  # a label may be empty, or nothing that is drawn


def _end_name(term: Term, names: Mapping[Term, str]) -> str:
    """The name of what a step leads to; an identifier is none, and no model is offered one as an answer."""
    if nameless(term, names):
        return NO_NAME
    name = _name(term, names)
    return _quoted(name) if MARK.search(name) else name


def _quoted(name: str) -> str:
    """A name that reads like a part of the line it stands in, as one thing."""
    return '"{}"'.format(name.replace('"', "'"))


def _shown(
    path: PartialPath,
    names: Mapping[Term, str],
    tails: int,
    whole: Mapping[RelationKey, str] = MappingProxyType({}),
    described: set[Term] | None = None,
    *,
    shown_steps: ShownSteps | None = None,
) -> list[ShownStep]:
    """The steps of a path, the last one with so many tails."""
    shown_steps = {} if shown_steps is None else shown_steps
    shown: list[ShownStep] = []
    for number, step in enumerate(path.steps, 1):
        most = tails if number == len(path.steps) else SHOWN_ON_THE_WAY
        key = id(step), most
        if (ready := shown_steps.get(key)) is None:
            ready = _step(step, names, most, whole, described)
            if described is None or not _describes(step):
                shown_steps[key] = ready
        shown.append(ready)
    return shown


def _describes(step: Step) -> bool:
    """Whether it shows what mediators say, which stands once among paths that are shown together."""
    return any(edge.through and edge.qualifiers for edge in step.edges)


def _step(
    step: Step,
    names: Mapping[Term, str],
    most: int,
    whole: Mapping[RelationKey, str] = MappingProxyType({}),
    described: set[Term] | None = None,
) -> ShownStep:
    """Each tail with the qualifiers of the edges that lead to it: two terms of an office are told apart."""
    edges = step.by_end
    tails = {tail: _undescribed(tail_edges, described) for tail, tail_edges in itertools.islice(edges.items(), most)}
    qualified = [_qualified(tail_edges, tails, names) for tail_edges in tails.values()]
    shared = qualified[0] if len(tails) == len(edges) > 1 and step.complete and len(set(qualified)) == 1 else ""
    labels = [_end_name(tail, names) for tail in tails]
    if not shared:
        labels = [label if label == NO_NAME else label + text for label, text in zip(labels, qualified, strict=True)]
    relation = safe(relation_name(step.relation, names))
    name = safe(whole.get((step.relation.relation, step.relation.via), "")) or relation
    shared = shared and f", each{shared}"
    return ShownStep(step.relation.direction, relation, labels, len(edges), step.complete, name, shared)


def _line(start: str, steps: Sequence[ShownStep], tails: int) -> str:
    """The path as text, with so many of the tails of its last step."""
    return " ".join(_parts(start, steps, _last(steps, tails)))


def _parts(start: str, steps: Sequence[ShownStep], last: str) -> list[str]:
    """The texts of its start and its steps; `last` is what the last one leads to."""
    parts = [start]
    for number, step in enumerate(steps, 1):
        arrow = ARROWS[step.direction]
        ends = last if number == len(steps) else _ends(step, len(step.tails))
        parts.append(f"{arrow} {step.whole} {arrow} {ends}")
    return parts


def _last(steps: Sequence[ShownStep], tails: int, *, numbered: bool = False) -> str:
    """What the last step leads to, with so many of its tails; nothing where there is no step."""
    return _ends(steps[-1], tails, numbered=numbered) if steps else ""


def _below(step: ShownStep, ends: str) -> str:
    """A step as it stands below the path that it extends: `relation: B, C`, or `← relation: B, C`."""
    name = _quoted(step.whole) if ": " in step.whole else step.whole
    return f"{'← ' if step.direction == 'in' else ''}{name}: {ends}"


def _ends(step: ShownStep, tails: int, *, numbered: bool = False) -> str:
    """So many of its tails, `numbered` where they are several, how many others there are, and what all share."""
    listed = step.tails[:tails]
    ends = _counted(listed) if numbered and len(listed) > 1 else _listed(listed)
    return f"{ends}{_more(step, len(listed))}{step.shared}"


def _more(step: ShownStep, listed: int) -> str:
    """How many ends are not listed: `, (+2)`; with a question mark where that is not known."""
    number = step.total - listed
    return f", (+{number or ''}{'' if step.complete else '?'})" if number or not step.complete else ""


def _listed(labels: Sequence[str]) -> str:
    """The labels as a list; of several, one with a comma of its own is quoted: "Diarrhea, Infantile" is one thing."""
    if len(labels) == 1:
        return labels[0]
    named = [
        _quoted(label) if ", " in label and not QUOTED.match(label) else label for label in labels if label != NO_NAME
    ]
    return ", ".join([*named, *_unnamed(labels)])


def _counted(labels: Sequence[str]) -> str:
    """The labels with their numbers, by which they are picked: `1) B 3) C (no name)`. What has no name has no number.

    It is no answer; who walks on does so from all ends.
    """
    named = (f"{number}) {label}" for number, label in enumerate(labels, 1) if label != NO_NAME)
    return " ".join([*named, *_unnamed(labels)])


def _unnamed(labels: Sequence[str]) -> list[str]:
    """What stands for all of the labels that are none: `(no name)`, or `(no name, 3 times)`."""
    times = labels.count(NO_NAME)
    return [NO_NAME if times == 1 else f"{NO_NAME[:-1]}, {times} times)"] if times else []


def _undescribed(edges: Sequence[Edge], described: set[Term] | None) -> Sequence[Edge]:
    """The edges, those over a described mediator without its qualifiers; a mediator that is shown whole is added."""
    if described is None:
        return edges
    bare = [msgspec.structs.replace(edge, qualifiers=()) if _over(edge) in described else edge for edge in edges]
    described |= {edge.through.node for edge in bare[:SHOWN_EDGES] if edge.through and _whole(edge)}
    return bare


def _over(edge: Edge) -> Term | None:
    return edge.through.node if edge.through else None


def _whole(edge: Edge) -> bool:
    """Whether it shows all that its mediator says."""
    return 0 < len(edge.qualifiers) <= QUALIFIERS


def _qualified(edges: Sequence[Edge], tails: Collection[Term], names: Mapping[Term, str]) -> str:
    """The qualifiers of the first edges, equal ones once; most edges have none."""
    if not any(edge.qualifiers for edge in edges):
        return ""
    return "".join(dict.fromkeys(_qualifiers(edge, tails, names) for edge in edges[:SHOWN_EDGES]))


def _qualifiers(edge: Edge, tails: Collection[Term], names: Mapping[Term, str]) -> str:
    """What an edge says beside its end, but for other ends of its mediator that the step shows anyway."""
    role = edge.through and edge.through.relation
    legs = [leg for leg in edge.qualifiers[:QUALIFIERS] if leg.relation != role or leg.value not in tails]
    texts = [f"{_name(leg.relation, names)}: {_end_name(leg.value, names)}" for leg in legs]
    return f" ({'; '.join(texts)})" if texts else ""

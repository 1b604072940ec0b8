"""What a reasoning model is shown of paths and candidates: one safe line each, numbered from 1.

`A → relation → B` is an edge from A to B, `A ← relation ← B` one from B to A. Labels come from endpoints and may carry
anything, instructions for the model included: they are folded into one bounded line and cannot contain an arrow.
"""

import re
from collections.abc import Mapping, Sequence

from fedkg.prompts import line
from fedkg.records import QUALIFIERS, Beam, Candidate, Match, Offer
from fedkg.terms import Edge, Term, own_name, relation_name

__all__ = ["SHOWN_ON_THE_WAY", "SHOWN_TAILS", "offer_beam", "offer_candidates", "path_text", "safe"]

SHOWN_ON_THE_WAY = 3
SHOWN_TAILS = 40
SHOWN_EDGES = 3
"""Most edges to one tail whose qualifiers are shown."""
NUMBER = re.compile(r"(?<!\S)(\d+)\)")  # as prompts number the ends of a path


def offer_candidates(
    beams: Sequence[Beam],
    candidates: Sequence[Candidate],
    names: Mapping[Term, str],
    topics: Sequence[Match],
    tails: int,
) -> list[Offer]:
    """One offer per candidate: the path so far and the step that it adds."""
    extended = [beams[candidate.beam].extend(candidate) for candidate in candidates]
    return [offer_beam(number, beam, names, topics, tails) for number, beam in enumerate(extended, 1)]


def offer_beam(
    number: int,
    beam: Beam,
    names: Mapping[Term, str],
    topics: Sequence[Match],
    tails: int = SHOWN_TAILS,
    *,
    in_line: int | None = None,
) -> Offer:
    """One offer for a walked path; its tails are numbered in the order of `beam.tails`.

    `tails` are listed, and `in_line` of them (None: all of these) stand in the text too.
    """
    relations = tuple(safe(relation_name(relation, names)) for relation in beam.chain)
    shown = tuple(_tail(beam, tail, names) for tail in beam.tails[:tails])
    mention = next((match.mention or match.label for match in topics if match.iri == beam.topic), "")
    text = path_text(beam, names, tails if in_line is None else in_line)
    return Offer(number, text, relations, shown, len(beam.tails) - len(shown), beam.score, mention)


def path_text(beam: Beam, names: Mapping[Term, str], tails: int = SHOWN_ON_THE_WAY) -> str:
    """The path as one line: `Topic → relation → tail, tail, (+3) ← relation ← …`."""
    parts = [_name(beam.topic, names)]
    for position, step in enumerate(beam.steps, 1):
        arrow = "→" if step.relation.direction == "out" else "←"
        upto = Beam(beam.topic, beam.steps[:position])
        most = tails if position == len(beam.steps) else SHOWN_ON_THE_WAY
        listed = ", ".join(_tail(upto, tail, names) for tail in step.tails[:most])
        more = f", (+{len(step.tails) - most})" if len(step.tails) > most else ""
        parts += [arrow, safe(relation_name(step.relation, names)), arrow, listed + more]
    return " ".join(parts)


def safe(text: str) -> str:
    """A label as it may stand in a line of ours: at most 200 characters, no arrow, and nothing like the number of an end."""
    return line(NUMBER.sub(r"\1.", line(text)).replace("→", "-›").replace("←", "‹-"))


def _name(term: Term, names: Mapping[Term, str]) -> str:
    return safe(names.get(term, "")) or safe(own_name(term))  # a label may be empty, or nothing that is drawn


def _tail(beam: Beam, tail: Term, names: Mapping[Term, str]) -> str:
    """The tail's label, with the qualifiers of each edge that leads to it: two terms of an office are told apart."""
    edges = [edge for edge in beam.steps[-1].edges if edge.end == tail] if beam.steps else []
    said = dict.fromkeys(_qualifiers(edge, names) for edge in edges[:SHOWN_EDGES])
    return _name(tail, names) + "".join(said)


def _qualifiers(edge: Edge, names: Mapping[Term, str]) -> str:
    said = [f"{_name(leg.relation, names)}: {_name(leg.value, names)}" for leg in edge.qualifiers[:QUALIFIERS]]
    return f" ({'; '.join(said)})" if said else ""

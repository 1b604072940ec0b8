"""Events as one line of plain text each: what a log, a terminal and the progress of a call show of a walk."""

from collections.abc import Sequence

from fedkg.common.plain_text import plain
from fedkg.core.events import (
    Answered,
    Chosen,
    Computed,
    Event,
    Fetched,
    Judged,
    Linked,
    Planned,
    Proposed,
    Ranked,
    Reached,
    Scored,
    Verified,
    Warned,
)

__all__ = ["described"]

SHOWN = 5
LINE = 300


def described(event: Event) -> str:
    """The event as one line of plain text."""
    match event:
        case Planned(plan):
            text = f"planned: {plan.kind}, keywords {', '.join(plan.keywords)}"
        case Linked(topics):
            text = "linked: " + ("; ".join(f"{topic.label} <{topic.iri.value}>" for topic in topics) or "nothing")
        case Fetched(depth, entities, edges, incomplete, usage):
            cut = f", {incomplete} neighbourhoods incomplete" if incomplete else ""
            text = f"depth {depth}: {edges} edges of {entities} entities{cut}, {usage.requests} requests so far"
        case Ranked(depth, considered, offered):
            text = f"depth {depth}: {considered} candidates, {len(offered)} offered: {_listed(offered)}"
        case Proposed() | Scored() | Judged() | Computed() | Reached():
            text = _thought(event)
        case Chosen(depth, steps):
            text = f"depth {depth}: chose {len(steps)}: {_listed(steps)}"
        case Verified(depth, kept, finished):
            text = f"depth {depth}: kept {len(kept)}, finished {len(finished)}: {_listed(finished)}"
        case Warned(message):
            text = f"warning: {message}"
        case Answered(answer):
            text = f"ended: {answer.status}, {len(answer.answers)} answers"
    return plain(text, 2_000)


def _thought(event: Proposed | Scored | Judged | Computed | Reached) -> str:
    """What was made of relations, steps or paths, without choosing among them, and where steps lead to."""
    match event:
        case Proposed(chains):
            return f"proposed {len(chains)} chains of relations: {_listed(chains)}"
        case Scored(depth, what, steps, scores):
            lines = [f"{score:.2f} {step}" for step, score in zip(steps, scores, strict=True)]
            return f"depth {depth}: scored {len(steps)} {what}: {_listed(lines)}"
        case Judged(paths, adequate):
            return f"judged {len(paths)} paths: {'enough' if adequate else 'not enough'} to answer"
        case Computed(result, members, values):
            ends = "1 end" if members == 1 else f"{members} ends"
            return f"computed: {result} over {ends}: {_listed(values)}"
        case Reached(depth, stage, tails):
            return f"depth {depth}: {stage}: {len(tails)} steps to {len(frozenset().union(*tails))} ends"


def _listed(lines: Sequence[str]) -> str:
    more = f" (+{len(lines) - SHOWN})" if len(lines) > SHOWN else ""
    return " | ".join(plain(line, LINE) for line in lines[:SHOWN]) + more

"""An event of each kind, with the line that it is told in."""

from fedkg.core.answer import Answer, Status
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
    Scored,
    Verified,
    Warned,
)
from fedkg.core.question import Match, Plan
from fedkg.core.terms import Iri
from fedkg.core.usage import Usage

__all__ = ["EVENTS"]

EVENTS: list[tuple[Event, str]] = [
    (Planned(Plan(("capital",))), "planned: entities, keywords capital"),
    (Linked((Match(Iri("http://a/b"), "B", 1.0),)), "linked: B <http://a/b>"),
    (Linked(()), "linked: nothing"),
    (Fetched(1, 2, 30, 0, Usage(requests=4)), "depth 1: 30 edges of 2 entities, 4 requests so far"),
    (Fetched(2, 2, 30, 1, Usage()), "depth 2: 30 edges of 2 entities, 1 neighbourhoods incomplete, 0 requests so far"),
    (Ranked(1, 9, ("A → r → B",)), "depth 1: 9 candidates, 1 offered: A → r → B"),
    (Proposed(("→ a →", "→ a → → b →")), "proposed 2 chains of relations: → a → | → a → → b →"),
    (Scored(1, "relations", ("→ a →", "→ b →"), (1.0, 0.25)), "depth 1: scored 2 relations: 1.00 → a → | 0.25 → b →"),
    (Judged(("a", "b"), adequate=False), "judged 2 paths: not enough to answer"),
    (Judged(("a",), adequate=True), "judged 1 paths: enough to answer"),
    (Chosen(1, tuple("abcdefg")), "depth 1: chose 7: a | b | c | d | e (+2)"),
    (Verified(2, ("a", "b"), ("b",)), "depth 2: kept 2, finished 1: b"),
    (Computed("extreme", 2, ("Dawn: 90", "Noon: 120")), "computed: extreme over 2 ends: Dawn: 90 | Noon: 120"),
    (Warned("slow\x1b[31m"), "warning: slow"),
    (Answered(Answer("q", "entities", Status.NONE)), "ended: none, 0 answers"),
]

"""The statement of a plan with what a path leads to in the place of its placeholder (FiDeLiS v4, appendix C.6)."""

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import JUDGED, Plan
from fedkg.reasoner.calls.plan import HOLE

__all__ = ["conclusion"]

NAMED = 3
"""Ends that stand in a statement; the paper's paths have one."""


def conclusion(plan: Plan, path: PromptCandidate) -> str:
    """What the path would prove; "" where the statement has no place for an end, or the path none."""
    if plan.kind in JUDGED or HOLE not in plan.statement or not path.tails:
        return ""
    named = path.tails[:NAMED]
    others = len(path.tails) + path.more - len(named)
    ends = ", ".join(named) + (f" (+{others})" if others else "")
    return plan.statement.replace(HOLE, ends)

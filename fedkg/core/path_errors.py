"""What becomes of paths that a model plans or writes without seeing the graph: in it, or where they are at fault.

The split is that of RoG's errors (FiDeLiS v1, its error analysis, and v4, section 4.3; GCR, Figure 1): an error of
format, or a relation or a step that the graph does not have.
"""

from typing import Literal, get_args

import msgspec

__all__ = ["IN_GRAPH", "PATH_FAULTS", "WRITTEN", "PathErrors", "PathFault"]

PathFault = Literal["format errors", "relations not in the graph", "steps not in the graph"]
"""Not in the form that was asked for; with a relation that was not offered; with one that does not follow there."""
PATH_FAULTS: tuple[PathFault, ...] = get_args(PathFault)
WRITTEN, IN_GRAPH = "paths written", "paths in the graph"


class PathErrors(msgspec.Struct, frozen=True):
    """How many paths were `written`, and how many of them have which fault: the others are in the graph."""

    written: int = 0
    faults: dict[PathFault, int] = {}

    @property
    def measures(self) -> dict[str, float | str]:
        """The figures for a document, by name; all five, or none where nothing was written."""
        if not self.written:
            return {}
        faulty: dict[str, float | str] = {fault: self.faults.get(fault, 0) for fault in PATH_FAULTS}
        return {WRITTEN: self.written, IN_GRAPH: self.written - sum(self.faults.values()), **faulty}

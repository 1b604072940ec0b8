"""Who says that a path is enough to answer: the verifiers of FiDeLiS v4, Table 5."""

from collections.abc import Sequence

import msgspec

from fedkg.config.settings import Verifier
from fedkg.core.choice import Choice, Verdict
from fedkg.core.path import PartialPath
from fedkg.methods.base import Deducing, Judging, Walking, ask

__all__ = ["VerifiedPaths", "by_verdicts", "verified"]


class VerifiedPaths(msgspec.Struct, frozen=True):
    """The paths that are walked on, and those of them that are enough to answer."""

    kept: tuple[PartialPath, ...] = ()
    finished: tuple[PartialPath, ...] = ()


def verified(
    verifier: Verifier, depth: int, beams: tuple[PartialPath, ...], before: tuple[PartialPath, ...]
) -> Walking[VerifiedPaths]:
    """What the verifier makes of the paths that one depth has come to; those of `before` count as well.

    `deductive` prunes what does not follow (C_local) and finishes what the statement can be deduced from (C_global). The
    others prune nothing: by `log-probability` a path finishes on its own, by `adequacy` (Think-on-Graph) all do together, and
    with `none` no path does.
    """
    if not beams or verifier == "none":
        return VerifiedPaths(beams)
    if verifier == "adequacy":
        enough = yield from ask(Judging((*beams, *before)))
        return VerifiedPaths(beams, beams if enough else ())
    verdicts = yield from ask(Deducing(depth, beams, before, weighed=verifier == "log-probability"))
    return by_verdicts([(beams[verdict.number - 1], verdict) for verdict in verdicts])


def by_verdicts(judged: Sequence[tuple[PartialPath, Verdict | Choice]]) -> VerifiedPaths:
    """The beams that follow, and those that finish, by the verdict on each."""
    kept = [(beam, verdict) for beam, verdict in judged if verdict.follows]
    return VerifiedPaths(tuple(beam for beam, _ in kept), tuple(beam for beam, verdict in kept if verdict.finishes))

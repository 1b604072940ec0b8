"""Who says that a path is enough to answer: the verifiers of FiDeLiS v4, Table 5."""

from collections.abc import Sequence

import msgspec

from fedkg.config.settings import Verifier
from fedkg.core.choice import Verdict
from fedkg.core.path import PartialPath
from fedkg.methods.base import Deducing, Judging, Walking, ask

__all__ = ["VerifiedPaths", "by_verdicts", "verified"]


class VerifiedPaths(msgspec.Struct, frozen=True):
    """The paths that are walked on, and those of them that are enough to answer."""

    kept: tuple[PartialPath, ...] = ()
    finished: tuple[PartialPath, ...] = ()


def verified(
    verifier: Verifier, depth: int, partial_paths: tuple[PartialPath, ...], before: tuple[PartialPath, ...]
) -> Walking[VerifiedPaths]:
    """What the verifier makes of the paths that one depth has come to; those of `before` count as well.

    `deductive` prunes what does not follow (C_local) and finishes what the statement can be deduced from (C_global).
    The others prune nothing: by `log-probability` a path finishes on its own, by `adequacy` (Think-on-Graph) all do
    together, and with `none` no path does.
    """
    if not partial_paths or verifier == "none":
        return VerifiedPaths(partial_paths)
    if verifier == "adequacy":
        enough = yield from ask(Judging((*partial_paths, *before)))
        return VerifiedPaths(partial_paths, partial_paths if enough else ())
    verdicts = yield from ask(Deducing(depth, partial_paths, before, weighed=verifier == "log-probability"))
    return by_verdicts([(partial_paths[verdict.number - 1], verdict) for verdict in verdicts])


def by_verdicts(judged: Sequence[tuple[PartialPath, Verdict]]) -> VerifiedPaths:
    """The paths that follow, and those that finish, by the verdict on each."""
    kept = [(path, verdict) for path, verdict in judged if verdict.follows]
    return VerifiedPaths(tuple(path for path, _ in kept), tuple(path for path, verdict in kept if verdict.finishes))

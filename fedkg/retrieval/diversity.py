"""Variant 2 of Path-RAG: candidates that differ from those before them (FiDeLiS, first version, appendix E, Eq. 9).

S(p) = λ1 · (S0 + α · Σ over the next hop of S0) + λ2 · Σ over k of D(p, P_k). The paper does not say what the distance
D is, which paths the P_k are, or how much λ1 and λ2 weigh; and it speaks of randomness, of which its equation has none.
Here the P_k are the candidates that were ranked before this one, one after the other from the best on, each with the
path that it extends; D is the Jaccard distance of what two paths consist of, their relations and nodes; and nothing is
random. The mean stands for the sum over k: at each place both put the same candidate first, and its score does not grow
with its rank.
"""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath, Step

__all__ = ["diverse"]


def diverse(
    paths: Sequence[PartialPath], candidates: Sequence[Step], quality: float, difference: float, tails: int
) -> list[Step]:
    """The candidates, whose scores are their quality, in the order of S(p), with λ1 = `quality` and λ2 = `difference`.

    At most `tails` of the nodes that a step leads to count. Of equal ones the first stays first. The first is as far as
    can be from those before it: there are none.
    """
    left = {number: _parts(paths[step.path_index].extend(step), tails) for number, step in enumerate(candidates)}
    distances = dict.fromkeys(left, 0.0)
    ranked: list[Step] = []
    while left:
        score = {
            number: quality * candidates[number].score
            + difference * (distances[number] / len(ranked) if ranked else 1.0)
            for number in left
        }
        best = max(left, key=lambda number: score[number])
        ranked.append(msgspec.structs.replace(candidates[best], score=score[best]))
        chosen = left.pop(best)
        for number, parts in left.items():
            distances[number] += _distance(parts, chosen)
    return ranked


def _parts(path: PartialPath, tails: int) -> frozenset[object]:
    """What a path consists of: its topic, relations and nodes."""
    return frozenset([path.topic, *path.chain, *(node for step in path.steps for node in step.tails[:tails])])


def _distance(left: frozenset[object], right: frozenset[object]) -> float:
    """The share of what only one of them has, in 0..1."""
    return 1.0 - len(left & right) / len(left | right)

"""Who says that paths are enough: what each verifier asks, and what it keeps."""

from typing import Any

import pytest

from fedkg.config.settings import Verifier
from fedkg.core.choice import Verdict
from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri
from fedkg.methods.base import Deducing, Judging, Need
from fedkg.methods.verifiers import VerifiedPaths, by_verdicts, verified

BEAMS = tuple(PartialPath(Iri(f"http://x/{name}")) for name in "abc")
BEFORE = (PartialPath(Iri("http://x/before")),)
VERDICTS = (Verdict(1, True, True), Verdict(2, False, False), Verdict(3, True, False))


def said(
    verifier: Verifier, reply: Any, partial_paths: tuple[PartialPath, ...] = BEAMS
) -> tuple[list[Need[object]], VerifiedPaths]:
    """What a verifier asks at the second depth, and what it makes of the reply."""
    needs, walk = [], verified(verifier, 2, partial_paths, BEFORE)
    try:
        needs.append(next(walk))
        walk.send(reply)
    except StopIteration as end:
        return needs, end.value
    raise AssertionError("it asks once")


def test_deductions_prune_and_finish() -> None:
    """C_local and C_global."""
    assert said("deductive", VERDICTS) == ([Deducing(2, BEAMS, BEFORE)], VerifiedPaths((BEAMS[0], BEAMS[2]), BEAMS[:1]))


def test_verdicts_are_taken_by_their_numbers() -> None:
    """A path without one is not kept."""
    assert said("deductive", VERDICTS[:0:-1])[1] == VerifiedPaths((BEAMS[2],))


@pytest.mark.parametrize("enough", [True, False])
def test_adequacy_is_of_all_paths(enough: bool) -> None:
    """Those that were kept before count; what finishes are those of this depth."""
    assert said("adequacy", enough) == ([Judging((*BEAMS, *BEFORE))], VerifiedPaths(BEAMS, BEAMS if enough else ()))


def test_probabilities_are_asked_for() -> None:
    """The driver makes verdicts of them."""
    assert said("log-probability", VERDICTS)[0] == [Deducing(2, BEAMS, BEFORE, weighed=True)]


def test_nobody_is_asked_where_nobody_verifies() -> None:
    """Everything is kept, and nothing is ever enough."""
    assert said("none", None) == ([], VerifiedPaths(BEAMS))


@pytest.mark.parametrize("verifier", ["deductive", "adequacy", "log-probability", "none"])
def test_nothing_is_not_verified(verifier: Verifier) -> None:
    """No call is paid for where there is no path."""
    assert said(verifier, None, ()) == ([], VerifiedPaths())


def test_what_finishes_without_following_does_neither() -> None:
    """C_global alone does not finish a path (FiDeLiS v4 section 3.2)."""
    judged = [(BEAMS[0], Verdict(7, True, True)), (BEAMS[1], Verdict(2, False, True))]
    assert by_verdicts(judged) == VerifiedPaths(BEAMS[:1], BEAMS[:1])

"""Offers are written under the path that they extend."""

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.prompts.grouping import OfferGroup, by_path


def offer(number: int, stem: str, beyond: int = 0) -> PromptCandidate:
    """An offer of that number which goes on from a path."""
    return PromptCandidate(number, f"{stem} step {number}", stem=stem, step=f"step {number}", beyond=beyond)


def test_offers_stand_under_their_paths() -> None:
    """Those beyond kept paths first, in the order of the paths; the others by path, in the order of their first."""
    first, second, third, fourth = offer(5, "B"), offer(6, "A", 2), offer(7, "B"), offer(8, "A", 1)
    kept = [offer(1, ""), offer(2, "")]
    assert by_path([first, second, third, fourth], kept) == [
        OfferGroup("path 1", (fourth,)),
        OfferGroup("path 2", (second,)),
        OfferGroup("B", (first, third)),
    ]


def test_a_single_offer_is_written_as_a_whole() -> None:
    """Also one without a path before it; a kept path that nothing extends has no heading."""
    assert by_path([offer(3, "A"), offer(4, "")], [offer(1, "")]) == [
        OfferGroup("", (offer(3, "A"),)),
        OfferGroup("", (offer(4, ""),)),
    ]


def test_an_entity_cannot_pass_for_a_kept_path() -> None:
    """One that is called as these are stands in quotes."""
    offers = [offer(1, "path 7"), offer(2, "path 7")]
    assert [group.heading for group in by_path(offers, [])] == ['"path 7"']


def test_nothing_is_nothing() -> None:
    """No offers, no groups."""
    assert by_path([], [offer(1, "A")]) == []

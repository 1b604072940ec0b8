"""Questions with their gold answers."""

from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.data.questions import BenchmarkQuestion, Gold, drawn

MANY = [BenchmarkQuestion(str(number), "who?") for number in range(50)]


def test_gold_is_compared_by_iri_before_label() -> None:
    """Literals have no IRI."""
    assert (Gold("a", "http://x/a").key, Gold("1999").key) == ("http://x/a", "1999")


@given(st.integers(1, 80), st.integers())
def test_a_sample_is_drawn_by_its_seed(limit: int, seed: int) -> None:
    """The same seed draws the same questions, none of them twice; a limit that is no limit keeps the order."""
    sample = drawn(MANY, limit, seed)
    assert sample == drawn(MANY, limit, seed)
    assert len({question.id for question in sample}) == min(limit, 50)
    assert drawn(MANY, None, seed) == drawn(MANY, 50, seed) == MANY


def test_another_seed_draws_others() -> None:
    """Or the seed would be no use."""
    assert drawn(MANY, 5, 0) != drawn(MANY, 5, 1)

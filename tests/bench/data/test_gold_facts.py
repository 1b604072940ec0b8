"""Gold facts in words are cut into subject, relation and object."""

from fedkg.bench.data.gold_facts import readings, worded_facts


def test_facts_are_cut_at_their_first_commas() -> None:
    """Values have commas and brackets of their own; qualifiers and what is no fact are left out."""
    text = "1- (Horsens, population, 59,449), 2- ((Bo (king), job, deputy {employer, Council}), 3- (nothing here)"
    assert worded_facts(text) == (("Horsens", "population", "59,449"), ("Bo (king)", "job", "deputy"))


def test_names_with_commas_are_read_in_every_way() -> None:
    """The first two commas first."""
    assert list(readings(("Rome", "Italy", "capital, no"))) == [
        ("Rome", "Italy", "capital, no"),
        ("Rome", "Italy, capital", "no"),
        ("Rome, Italy", "capital", "no"),
    ]

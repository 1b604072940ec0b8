"""Names of relations that say domain and type."""

import pytest

from fedkg.reasoner.local.typed_names import beside, owner


def test_what_a_label_lacks() -> None:
    """The words of the whole name that the label has not, each once; general domains say nothing."""
    assert beside("film", "film.actor.film..film.performance.film") == "actor performance"
    assert (
        beside("participant", "base.popstra.celebrity.dated..base.x.dated.participant") == "popstra celebrity dated x"
    )
    assert beside("spouse", "") == ""


@pytest.mark.parametrize(
    ("typed", "type_"),
    [
        ("film.film.directed_by", "film"),
        ("education.educational_institution.students..education.education.student", "educational institution"),
        ("award.award_winning_work.awards_won..award.award_honor.award", "work"),
        ("", ""),
    ],
)
def test_what_a_relation_starts_from(typed: str, type_: str) -> None:
    """The type before the property, as a noun."""
    assert owner(typed) == type_

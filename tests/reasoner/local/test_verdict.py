"""Verdicts of what paths lead to."""

from fedkg.core.choice import ChainEvidence, PromptCandidate
from fedkg.reasoner.local.reading import ChainJudgement
from fedkg.reasoner.local.verdict import verdict

GOOD, BAD = ChainJudgement(0.9, 0.9, 0, 0, 0), ChainJudgement(0.2, 0.2, 0, 0, 0)
NONE = ChainEvidence()


def path(number: int, topic: str, relation: str, *tails: str, more: int = 0) -> PromptCandidate:
    """A path of one step."""
    return PromptCandidate(number, "", (relation,), tails, more, topic=topic, directions=("out",), start=topic)


def test_yes_where_a_fitting_path_leads_to_the_other_topic() -> None:
    """One that is not said does not count."""
    paths = [path(1, "A", "spouse", "B", "C"), path(2, "B", "country", "D")]
    assert verdict("Was A married to B?", paths, [GOOD, BAD], NONE).verdict == "yes"
    assert verdict("Was A married to B?", paths, [GOOD, BAD], NONE).paths == (1,)
    assert verdict("Was A married to B?", paths, [BAD, GOOD], NONE).verdict != "yes"


def test_yes_where_it_leads_to_what_is_named() -> None:
    """The claimed end need be no topic."""
    assert verdict("Was A born in 1999?", [path(1, "A", "born", "1999")], [GOOD], NONE).verdict == "yes"


def test_no_where_all_ends_are_others() -> None:
    """It says what the graph has; nothing where there may be more ends, or no chain is meant."""
    paths = [path(1, "A", "spouse", "C"), path(2, "B", "country", "D")]
    no = verdict("Was A married to B?", paths, [GOOD, BAD], NONE)
    assert (no.verdict, no.paths) == ("no", (1,))
    assert "C" in no.note
    more = [path(1, "A", "spouse", "C", more=3), path(2, "B", "country", "D")]
    assert verdict("Was A married to B?", more, [GOOD, BAD], NONE).verdict == ""
    assert verdict("Was A married to B?", paths, [BAD, BAD], NONE).verdict == ""


def test_nothing_where_the_claimed_end_is_not_known() -> None:
    """It may be called otherwise here."""
    assert verdict("Was A married to B?", [path(1, "A", "spouse", "C")], [GOOD], NONE).verdict == ""

"""How well a run of words expresses a relation."""

import numpy as np
import pytest

from fedkg.reasoner.local.likeness import CROSSED, WORDED, covered, likeness, lists, senses, worded


def test_a_span_goes_beyond_a_relation_by_its_genitives() -> None:
    """An "of" in the relation's own name is no further step; words in common count in any form."""
    spans = ["place of birth", "place of birth of the wife", "screenwriter"]
    table = likeness(spans, ["place of birth", "written by"], np.zeros((3, 2), dtype=np.float32))
    assert table[0, 0] == pytest.approx(WORDED)
    assert table[1, 0] < WORDED - CROSSED
    assert table[:, 1] == pytest.approx([-CROSSED, -2 * CROSSED, WORDED])


def test_likeness_in_meaning_counts_beside_words() -> None:
    """What has no word in common is as like as the embedder says, weighed."""
    table = likeness(["country"], ["actor", "country"], np.ones((1, 2), dtype=np.float32))
    assert table[0] == pytest.approx([1 - WORDED, 1])


@pytest.mark.parametrize(
    ("span", "relation"),
    [
        ("what kinds", "genre"),
        ("words that describe", "has tags"),
        ("mom", "parents"),
        ("kids", "child"),
        ("husband", "spouse"),
        ("where did come out", "publication date"),
        ("who made", "director"),
        ("go out with", "unmarried partner"),
        ("born", "place of birth"),
        ("helps against", "treats"),
        ("work", "profession"),
        ("what line of business", "profession"),
        ("working on", "occupation"),
        ("become famous for", "profession"),
        ("unpleasant things do to me", "side effect"),
    ],
)
def test_everyday_words_mean_what_a_graph_has_one_word_for(span: str, relation: str) -> None:
    """Wordings count, in singular and plural; words of other relations do not."""
    assert worded(span, relation) > 0.5
    assert worded("country", relation) == 0


@pytest.mark.parametrize(
    ("span", "relation"),
    [
        ("who taught", "employer"),
        ("what does teach", "employer"),
        ("who supports", "member of political party"),
        ("who is at risk", "side effect"),
        ("what does produce", "country of origin"),
    ],
)
def test_everyday_words_of_other_relations_say_nothing(span: str, relation: str) -> None:
    """A company produces no country, and who taught somebody is no university: such answers would be unmarked."""
    assert worded(span, relation) == 0


def test_words_are_forms_of_one_only_where_their_roots_are() -> None:
    """A son is no person."""
    assert worded("son", "person") == 0
    assert worded("directed", "director") == worded("co-director", "director") == 1


def test_the_longest_wording_counts() -> None:
    """To die of something is not to die somewhere."""
    assert worded("die of", "cause of death") > worded("die of", "place of death")
    assert worded("where did die", "place of death") > 0.5


def test_words_that_nothing_says_are_left_over() -> None:
    """On both sides; what an end is ("films") weighs less than how to get there."""
    assert covered("directed badly", "director") == (0.5, 1.0)
    assert covered("movement", "art movement") == (1.0, 0.5)
    assert covered("films directed", "director")[0] > 0.7


def test_relations_share_senses() -> None:
    """What graphs call otherwise is one relation to who asks."""
    assert senses("treats") & senses("palliates")
    assert not senses("treats") & senses("spouse")


def test_a_relation_that_only_lists_things_of_its_type_is_said_by_the_type() -> None:
    """The people of a cause of death tell what somebody died of; a label that says more stands for itself."""
    assert worded("die from", "people", "cause of death") > worded("die from", "place of death") > 0
    assert worded("die from", "people") == 0
    assert covered("cause of death", "people", "cause of death") == (1.0, 1.0)
    assert [lists(label) for label in ("people", "artists", "children", "nominated for")] == [True, True, False, False]

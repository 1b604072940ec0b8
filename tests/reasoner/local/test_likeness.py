"""How well a run of words expresses a relation."""

import numpy as np
import pytest

from fedkg.reasoner.local.likeness import CROSSED, OVERLAP, likeness


def test_a_span_goes_beyond_a_relation_by_its_genitives() -> None:
    """An "of" in the relation's own name is no further step; words in common count in any form."""
    spans = ["place of birth", "place of birth of the wife", "screenwriter"]
    zeros = np.zeros(3, dtype=np.float32)
    assert likeness(spans, "place of birth", zeros) == pytest.approx([OVERLAP, OVERLAP - CROSSED, 0])
    assert likeness(spans, "written by", zeros) == pytest.approx([-CROSSED, -2 * CROSSED, OVERLAP])
    assert likeness(spans, "by", zeros + 1)[2] == pytest.approx(1 - OVERLAP)


def test_words_are_forms_of_one_only_where_their_stems_are() -> None:
    """Short words have to be equal: a son is no person."""
    zeros = np.zeros(3, dtype=np.float32)
    assert likeness(["son", "directed", "sons"], "person", zeros) == pytest.approx([0, 0, 0])
    assert likeness(["son", "directed", "co-director"], "director", zeros) == pytest.approx([0, OVERLAP, OVERLAP])


@pytest.mark.parametrize(
    ("span", "relation"),
    [
        ("what kinds", "genre"),
        ("words that describe", "tags"),
        ("mom", "parents"),
        ("kids", "child"),
        ("husband", "wife"),
    ],
)
def test_everyday_words_mean_what_a_graph_has_one_word_for(span: str, relation: str) -> None:
    """Synonyms count like forms of one word, in singular and plural; words of two groups do not."""
    zeros = np.zeros(2, dtype=np.float32)
    assert likeness([span, "country"], relation, zeros) == pytest.approx([OVERLAP, 0])
    assert likeness([span, "type of parent"], "spouse", zeros)[1] < 0

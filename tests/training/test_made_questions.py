"""Questions made of chains by templates."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.english import wordings
from fedkg.reasoner.local.chain_texts import NamedStep
from fedkg.training.made_questions import name_form, question

NAMES = st.sampled_from(("spouse", "place of birth", "directed by", "treats", "has genre", "educated at", "r 2", "←"))
CHAINS: st.SearchStrategy[list[NamedStep]] = st.lists(
    st.tuples(NAMES, st.sampled_from(("out", "in"))), min_size=1, max_size=3
)


@given(CHAINS, st.integers(0, 99))
def test_every_chain_can_be_asked_for(chain: list[NamedStep], seed: int) -> None:
    """One line with the topic in it, the same for the same draw; no template leaves a place open."""
    text = question(chain, "Marie Curie", random.Random(seed))
    assert text == question(chain, "Marie Curie", random.Random(seed))
    assert text.count("Marie Curie") == 1
    assert text.endswith("?")
    assert not set("{}\n") & set(text)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("spouse", "noun"),
        ("has genre", "noun"),
        ("place of birth", "noun"),
        ("directed by", "by"),
        ("located in the administrative territorial entity", "done"),
        ("causes side effect", "does"),
        ("presents symptom", "does"),
        ("director", "doer"),
        ("father", "noun"),
        ("status", "noun"),
    ],
)
def test_a_relation_is_called_by_a_noun_or_by_what_is_done(name: str, kind: str) -> None:
    """Which templates fit is told by the form of the name."""
    assert name_form(name).kind == kind


def test_each_direction_has_its_own_templates() -> None:
    """Who directed a film is asked in other words than which films somebody directed."""
    asked = {
        way: {question([("directed by", way)], "Jaws", random.Random(seed)) for seed in range(60)}
        for way in ("out", "in")
    }
    assert "who directed Jaws?" in asked["out"]
    assert "what Jaws directed?" in asked["in"]
    assert any(text.startswith("what did Jaws ") for text in asked["in"])
    assert not any(text.startswith("what did Jaws ") for text in asked["out"])


def test_people_ask_in_other_words_than_graphs_have() -> None:
    """The word lists' wordings stand beside the relation's own name; a name that no list has stays as it is."""
    asked = {question([("spouse", "out")], "Jaws", random.Random(seed)) for seed in range(200)}
    assert any("wife" in text for text in asked)
    assert any("spouse" in text for text in asked)
    assert wordings("no such relation") == ()
    assert all("qwv" in question([("qwv", "out")], "Jaws", random.Random(seed)) for seed in range(20))

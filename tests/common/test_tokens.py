"""The estimate stays near what real vocabularies count, and on the safe side."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.tokens import PER_CHARACTER, estimate

# each with the count of o200k_base
COUNTED = [
    ("In which city did the author of Momo die?", 11),
    ("Momo → author → Michael Ende → place of death → Filderstadt, Stuttgart, (+12)", 21),
    ("Pick the candidates that are most likely to lead to the answer. Fewer good picks are better than many.", 22),
    ("CYP3A4, COMT, DRD2 and 5-hydroxytryptamine receptor 2A", 25),
    ("1990-01-01, 12,345 and 3.14159", 17),
    ('{"picks": [{"offer": 3, "follows": true, "deducible": false}, {"offer": 12, "follows": true}]}', 36),
    ("Straßenbahnhaltestelle in München, größte Brücke der Städte", 15),
    ("в каком городе умер автор этой книги", 7),
    ("在哪个城市去世", 6),
    ("في أي مدينة توفي مؤلف هذا الكتاب", 9),
    ("この本の著者はどの都市で亡くなりましたか", 15),
    ("이 책의 저자는 어느 도시에서 사망했습니까", 12),
    ("Σε ποια πόλη πέθανε ο συγγραφέας αυτού του βιβλίου;", 18),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_the_estimate_is_near_and_rather_too_high(text: str, counted: int) -> None:
    """In no script much below the count of a real vocabulary, and nowhere above its double."""
    assert 0.85 * counted <= estimate(text) <= 2 * counted


def test_the_sum_of_many_texts_is_nearer() -> None:
    """Errors of single texts even out, on the safe side."""
    counted = sum(count for _, count in COUNTED)
    assert counted <= sum(estimate(text) for text, _ in COUNTED) <= 1.35 * counted


def test_nothing_costs_nothing() -> None:
    """An empty text and blanks between words are free; every visible character and every word costs."""
    assert estimate("") == estimate("  ") == 0
    assert estimate("a") == estimate("a  ") > 0
    assert all(estimate(char) for char in "a1é<→中かдअ한አ😀")


@given(st.text(), st.text())
def test_parts_add_up(first: str, other: str) -> None:
    """Lines below one another cost what they cost alone, and a line break: a longer list never costs less."""
    together = estimate(f"{first}\n{other}")
    assert max(estimate(first), estimate(other)) <= together <= estimate(first) + estimate(other) + 1


@given(st.text() | st.text("aBé×1 \n.中→अДአ"))
def test_no_character_costs_more_than_the_bound(text: str) -> None:
    """What is short enough needs no estimate."""
    assert estimate(text) <= math.ceil(PER_CHARACTER * len(text))


@given(st.lists(st.sampled_from(["Momo", "→", "author", "GENES", "é", "12,3", "中", "\n", " "]), max_size=60))
def test_a_word_costs_the_same_every_time(words: list[str]) -> None:
    """The order of words does not matter, and as many of them again cost as much again."""
    text, breaks = " ".join(words), words.count("\n")
    alone = " ".join(word for word in words if word != "\n")
    assert estimate(" ".join(sorted(alone.split()))) == estimate(alone)
    assert estimate(alone) <= estimate(text) <= estimate(alone) + breaks
    assert 2 * estimate(alone) - 1 <= estimate(f"{alone} {alone}") <= 2 * estimate(alone)

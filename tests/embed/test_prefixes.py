"""The prefixes of E5: whose model gets them, and that vectors with and without them are never taken for each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.core.terms import Iri
from fedkg.embed.label_index import LabelIndex
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.prefixes import E5, NO_PREFIXES, prefixes_of, unmarked
from fedkg.wiring.adapters import kept_similarity


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("intfloat/e5-base-v2", True),
        ("multilingual-E5-small", True),
        ("/models/my_e5", True),
        ("intfloat/multilingual-e5-large-instruct", False),
        ("sentence-transformers/all-MiniLM-L6-v2", False),
        ("org/made5-small", False),
        ("", False),
    ],
)
def test_the_name_tells_the_family(model: str, family: bool) -> None:
    """A part of the name is E5, and it is not tuned to instructions; a choice counts for more."""
    assert prefixes_of(model) == (E5 if family else NO_PREFIXES)
    assert (prefixes_of(model, "e5"), prefixes_of(model, "none")) == (E5, NO_PREFIXES)


@pytest.mark.parametrize(
    ("config", "family"), [({"_name_or_path": "intfloat/e5-base"}, True), ({"_name_or_path": 5}, False), ([], False)]
)
def test_a_folder_tells_what_it_was_made_from(tmp_path: Path, config: Any, family: bool) -> None:
    """A trained E5 may be called anything; a damaged file tells nothing."""
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "config.json").write_text(json.dumps(config))
    assert prefixes_of(str(tmp_path / "trained")) == (E5 if family else NO_PREFIXES)


async def test_queries_and_passages_are_told_apart(make_counting: Any) -> None:
    """What is compared with gets `query: `, labels get `passage: `; the index of labels likewise."""
    counting = make_counting()
    lazy = LazySimilarity(counting, MemoryStore(), prefixes=E5)
    await lazy.scores("birth", ["birth", "capital"])
    await LabelIndex(None, "graph", lazy).add({Iri("http://x/r"): "river"})
    await lazy.query_half("water")
    assert counting.asked == [
        ["query: birth", "passage: birth", "passage: capital"],
        ["passage: river"],
        ["query: water"],
    ]
    lazy.close()


async def test_vectors_with_and_without_prefixes_are_kept_apart(make_counting: Any) -> None:
    """One cache, one embedder: neither takes the other's vectors, and a replay finds those of its name."""
    store, counting = MemoryStore(), make_counting()
    plain, prefixed = (LazySimilarity(counting, store, prefixes=prefixes) for prefixes in (NO_PREFIXES, E5))
    scores = [await each.scores("birth", ["birth"]) for each in (plain, prefixed)]
    assert [len(asked) for asked in counting.asked] == [1, 2]
    assert scores[0][0] > scores[1][0]
    with kept_similarity(prefixed.name, store) as kept:
        assert (await kept.scores("birth", ["birth"]) == scores[1]).all()
    assert [unmarked(each.name) for each in (plain, prefixed)] == [("counting", NO_PREFIXES), ("counting", E5)]
    for each in (plain, prefixed):
        each.close()

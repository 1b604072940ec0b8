import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.embed.bm25 import K1, B, Bm25Similarity, terms, words

LABELS = ["place of birth", "date of birth", "country of citizenship", "place of death", "birth"]
TEXTS = st.lists(st.text(st.characters(), max_size=12) | st.sampled_from(LABELS), max_size=8)


async def scores(query: str, texts: list[str]) -> list[float]:
    """The scores as plain numbers, their shape checked."""
    matrix = await Bm25Similarity().scores(query, texts)
    assert matrix.shape == (len(texts),)
    assert matrix.dtype == np.float32
    return [float(score) for score in matrix]


async def test_shared_words_score() -> None:
    """More and rarer words in common, and fewer others, score higher; none in common score 0."""
    ranks = dict(zip(LABELS, await scores("birth place", LABELS), strict=True))
    assert max(ranks, key=ranks.__getitem__) == "place of birth"
    assert ranks["birth"] > ranks["date of birth"] > 0
    assert ranks["country of citizenship"] == 0


async def test_scores_are_bm25_over_the_sum_of_idf() -> None:
    """The formula of the docstring, computed by hand."""
    texts = ["a b", "a", "c c d"]
    [first, _, third] = await scores("a c x", texts)
    idf = {word: math.log(1 + (3 - n + 0.5) / (n + 0.5)) for word, n in {"a": 2, "c": 1, "x": 0}.items()}

    def part(word: str, count: int, length: int) -> float:
        return idf[word] * count / (count + K1 * (1 - B + B * length / 2))

    assert first == pytest.approx(part("a", 1, 2) / sum(idf.values()), rel=1e-5)
    assert third == pytest.approx(part("c", 2, 3) / sum(idf.values()), rel=1e-5)


@pytest.mark.parametrize(
    ("query", "text"), [("born", "place of birth"), ("treat", "treats"), ("lions", "lion"), ("who wrote it", "writer")]
)
async def test_forms_of_one_word_meet(query: str, text: str) -> None:
    """Inflected and derived forms count as the word itself."""
    other, score = await scores(query, ["country", text])
    assert score > other == 0


@given(st.text(st.characters(), max_size=20) | st.sampled_from(LABELS), TEXTS)
async def test_always_between_0_and_1(query: str, texts: list[str]) -> None:
    """Whatever the query and the texts, scores lie in 0..1, equal texts score alike, and only shared words count."""
    ranks = await scores(query, texts)
    asked = set(terms(query))
    for text, score in zip(texts, ranks, strict=True):
        assert 0 <= score < 1
        assert score == ranks[texts.index(text)]
        assert (score > 0) == bool(asked & set(terms(text)))


@given(st.lists(st.text(st.characters(), max_size=20) | st.sampled_from(LABELS), max_size=4), TEXTS)
async def test_a_table_has_the_scores_of_many_queries(queries: list[str], texts: list[str]) -> None:
    """One row for each query, as if it had been asked alone."""
    table = await Bm25Similarity().table(queries, texts)
    assert table.shape == (len(queries), len(texts))
    assert table.tolist() == [await scores(query, texts) for query in queries]


async def test_repetition_in_the_corpus_changes_nothing() -> None:
    """A label that many candidates carry does not make its words common."""
    once = await scores("birth place", LABELS)
    many = await scores("birth place", LABELS + ["birth"] * 50)
    assert many[: len(LABELS)] == once


async def test_repeated_query_words_count_once() -> None:
    """A keyword that is said twice weighs no more."""
    assert await scores("birth birth place", LABELS) == await scores("birth place", LABELS)


@pytest.mark.parametrize("texts", [[], [""], ["", "!?"], ["one text"], ["same", "same"]])
@pytest.mark.parametrize("query", ["", "?!", "unknown", "one same"])
async def test_odd_input_is_silent(query: str, texts: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """No texts, empty texts, one text and foreign queries all give scores, without output or warnings."""
    await scores(query, texts)
    assert capfd.readouterr() == ("", "")


async def test_a_match_of_small_words_stays_small() -> None:
    """Words of the query that no candidate has keep the rest from looking important."""
    [score] = await scores("director of Blade Runner", ["capital of"])
    assert score < 0.05


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("birthPlace", ["birth", "place"]),
        ("place_of_birth", ["place", "of", "birth"]),
        ("people.person.place_of_birth", ["people", "person", "place", "of", "birth"]),
        ("HTTPServer2", ["http", "server2"]),
        ("Straße", ["strasse"]),
        ("Émile-Zola's", ["émile", "zola", "s"]),
        ("ﬁlm Ｔｏｋｙｏ", ["film", "tokyo"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("Москва́ 2024", ["москва́", "2024"]),
        ("", []),
    ],
)
def test_words(text: str, split: list[str]) -> None:
    """Names of properties are taken apart, and letters of all scripts are kept."""
    assert list(words(text)) == split


def test_nothing_is_embedded() -> None:
    """A lexical similarity counts no embeddings."""
    assert (Bm25Similarity().embedded, Bm25Similarity().name) == (0, "bm25")


async def test_the_order_of_texts_changes_no_score() -> None:
    """Texts are scored alike whatever was compared with them before, in another order or more than once."""
    similarity = Bm25Similarity()
    texts = ["place of birth", "place of death", "spouse", "place of birth"]
    first = await similarity.table(["birth place", "spouse"], texts)
    await similarity.table(["place of burial"], texts)
    again = await similarity.table(["birth place", "spouse"], texts[::-1])
    assert np.array_equal(first, again[:, ::-1])
    assert np.array_equal(first, await similarity.table(["birth place", "spouse"], texts))

"""The price table: the bundled one, the user's own, and what a call costs by it."""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.resources import folder
from fedkg.core.usage import ModelCall
from fedkg.errors import SettingsError
from fedkg.llm.prices import PRICES, Price, find, load, parse, price

TABLE = parse(
    """
    [[price]]
    names = ["anthropic:big", "anthropic:big-*"]
    date = 2026-01-02
    in = 4.0
    out = 20.0
    cached = 0.5
    written = 5.0
    [[price]]
    names = ["openai:small"]
    date = 2026-01-02
    in = 1.0
    out = 2.0
    up_to = 1_000
    [[price]]
    names = ["openai:small"]
    date = 2026-01-02
    in = 3.0
    out = 6.0
    """,
    "test",
)
counts = st.integers(0, 10**7)


def call(model: str, tokens_in: int = 0, cached: int = 0, written: int = 0, tokens_out: int = 0) -> ModelCall:
    """A call with these tokens, which its model thought about for most of the reply."""
    return ModelCall("plan", "1", model, tokens_in, tokens_out, cached, tokens_out * 9 // 10, written=written)


def test_each_kind_of_token_has_its_price() -> None:
    """Per million: plain, cached and written tokens of the prompt apart; reasoning is part of the reply."""
    used = call("anthropic:big", tokens_in=1_000_000, cached=500_000, written=100_000, tokens_out=10_000)
    assert price(used, TABLE) == pytest.approx(0.4 * 4 + 0.5 * 0.5 + 0.1 * 5 + 0.01 * 20)


def test_without_a_price_of_its_own_the_cache_costs_as_much_as_the_prompt() -> None:
    """What the entry does not say is never taken for nothing."""
    assert price(call("openai:small", tokens_in=1_000, cached=900, written=50), TABLE) == pytest.approx(0.001)


def test_long_prompts_have_a_price_of_their_own() -> None:
    """An entry holds up to its length, for the whole prompt and its reply; then the next one that fits counts."""
    assert price(call("openai:small", tokens_in=1_000, tokens_out=1_000), TABLE) == pytest.approx(0.003)
    assert price(call("openai:small", tokens_in=1_001, tokens_out=1_000), TABLE) == pytest.approx(0.009003)
    assert price(call("openai:small", tokens_in=1_001), TABLE[:2]) is None


@pytest.mark.parametrize(
    "name", ["anthropic:big", "anthropic:big-20260102", "anthropic:big-2026-01-02", "anthropic:big-x"]
)
def test_names_by_pattern_and_with_a_date(name: str) -> None:
    """A star stands for anything; a date at the end makes no other model."""
    assert find(name, TABLE) is TABLE[0]


@pytest.mark.parametrize(
    "name", ["openai:small-2", "openai:big", "anthropic:bi", "openai:small@http://h/v1", "scripted", ""]
)
def test_another_model_has_no_price(name: str) -> None:
    """Unknown is None and not 0, also for a known name at a server of somebody's own."""
    assert find(name, TABLE) is None
    assert price(call(name, tokens_in=10**6), TABLE) is None


@given(counts, counts, counts, counts)
def test_no_call_costs_less_than_nothing(tokens_in: int, cached: int, written: int, tokens_out: int) -> None:
    """Whatever a service counts, also more cached tokens than it was sent."""
    used = call("anthropic:big", tokens_in=tokens_in, cached=cached, written=written, tokens_out=tokens_out)
    assert (price(used, TABLE) or 0.0) >= 0.0


@given(st.lists(st.tuples(counts, counts), max_size=5))
def test_the_price_of_the_whole_is_that_of_the_parts(parts: list[tuple[int, int]]) -> None:
    """Calls cost by their tokens alone: one with all of them costs what they cost together."""
    tokens_in, tokens_out = sum(read for read, _ in parts), sum(written for _, written in parts)
    whole = call("anthropic:big", tokens_in=tokens_in, tokens_out=tokens_out)
    single = [price(call("anthropic:big", tokens_in=read, tokens_out=written), TABLE) for read, written in parts]
    assert price(whole, TABLE) == pytest.approx(sum(cost or 0.0 for cost in single))


def test_the_users_own_table_comes_first(tmp_path: Path) -> None:
    """It adds models, also at a server of one's own, and wins over the bundled one, which stays."""
    (tmp_path / PRICES).write_text(
        '[[price]]\nnames = ["anthropic:claude-haiku-4-5", "openai:*@http://127.0.0.1:8000/v1"]\n'
        "date = 2026-11-01\nin = 7\nout = 8\n"
    )
    table = load(str(tmp_path))
    for name in ("anthropic:claude-haiku-4-5", "openai:m@http://127.0.0.1:8000/v1"):
        price_line = find(name, table)
        assert price_line
        assert (price_line.cost_in, price_line.date) == (7, dt.date(2026, 11, 1))
    assert find("openai:m@http://127.0.0.1:8001/v1", table) is None
    assert table[1:] == load()
    with pytest.raises(SettingsError, match="gone: no such folder of models"):
        load(str(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[price]]\nnames = ['openai:m']\ndate = 2026-01-01\nin = -1\nout = 1", r"in"),
        ("[[price]]\nnames = ['openai:m']\nin = 1\nout = 1", "missing required field `date`"),
        ("[[price]]\nnames = ['openai:m']\ndate = 2026-01-01\nin = 1\noutt = 1", "outt"),
        ("[[price]]\nnames = ['openai:m']\ndate = 2026-01-01\nin = inf\nout = 1", "in"),
        ("[[price]]\nnames = ['openai:m']\ndate = 2026-01-01\nin = 1\nout = nan", "out"),
        ("[[price]]\nnames = []\ndate = 2026-01-01\nin = 1\nout = 1", "names"),
        ("[prices]", "prices"),
        ("[[price", "Expected"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """With the file and the key, before anything is asked."""
    (tmp_path / PRICES).write_text(text)
    with pytest.raises(SettingsError, match=message) as caught:
        load(str(tmp_path))
    assert str(tmp_path / PRICES) in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """As any other table that does not fit."""
    (tmp_path / PRICES).write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(str(tmp_path))


@pytest.mark.parametrize("entry", load(), ids=lambda entry: entry.names[0])
def test_bundled_prices_are_dated_and_plausible(entry: Price) -> None:
    """Each entry is from the past and for one vendor's own service; replies cost more than prompts, the cache pays."""
    assert dt.date(2026, 1, 1) <= entry.date <= dt.datetime.now(tz=dt.UTC).date()
    if entry.names == ("hf:*",):
        assert entry.cost_in == entry.cost_out == 0  # one's own machine
        return
    assert all(name.startswith(("anthropic:", "openai:")) and "@" not in name for name in entry.names)
    assert (entry.cached or 0.0) < entry.cost_in < entry.cost_out
    assert entry.written is None or entry.cost_in < entry.written < 2 * entry.cost_in


def test_bundled_prices_say_where_they_were_published() -> None:
    """Every vendor's entries stand under a comment that names the vendor's page; none is hidden by one before it."""
    comments = [line for line in (folder("models") / PRICES).read_text().splitlines() if line.startswith("#")]
    assert {"platform.claude.com", "developers.openai.com"} <= {
        word.split("/")[0] for line in comments for word in line.split()
    }
    table = load()
    for entry in table:
        longest = 10**9 if entry.up_to is None else entry.up_to
        assert all(find(name, table, longest) is entry for name in entry.names)

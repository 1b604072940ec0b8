"""Who may ask a server, and what each may spend in a day."""

import asyncio
from pathlib import Path

import pytest

from fedkg.core.usage import Usage
from fedkg.errors import OverLimitError, SettingsError
from fedkg.serve.clients import ANYONE, Client, ClientBook, digest, read_clients

TOKEN = "a token of some length"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 86_400.0 * 20_000 + 3_600

    def __call__(self) -> float:
        return self.now


def test_a_file_names_clients_with_their_bounds(tmp_path: Path) -> None:
    """A table for each; the token itself does not stand in the file."""
    path = tmp_path / "clients.toml"
    path.write_text(f'[alice]\nsha256 = "{digest(TOKEN)}"\nmoney = 1.5\nat_once = 2\n')
    assert read_clients(path) == {"alice": Client(digest(TOKEN), money=1.5, at_once=2)}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[a]\nmoney = 1.0\n", "a has no sha256"),
        ('[a]\nsha256 = "secret"\n', "regex"),
        (f'[a]\nsha256 = "{"0" * 64}"\ntoken = "x"\n', "token"),
        ("", "no client"),
        ("[a\n", "line 1"),
    ],
    ids=["no digest", "a token in clear", "an unknown key", "empty", "no TOML"],
)
def test_a_faulty_file_is_bad_input(tmp_path: Path, text: str, fault: str) -> None:
    """The error names file and fault."""
    path = tmp_path / "clients.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=fault) as caught:
        read_clients(path)
    assert str(path) in str(caught.value)


def test_a_token_is_known_by_its_digest() -> None:
    """The right token is its client's, any other is no client's, and the digest is no token."""
    book = ClientBook({"alice": Client(digest(TOKEN)), "bob": Client(digest("another token"))})
    assert book.name_of(TOKEN) == "alice"
    assert book.name_of("another token") == "bob"
    assert [book.name_of(token) for token in ("", "a token", digest(TOKEN), "\udcff")] == [None] * 4
    assert not book.open


def test_without_clients_all_are_one() -> None:
    """No token is asked for, and there are no bounds."""
    book = ClientBook({})
    assert (book.open, book.name_of("")) == (True, ANYONE)
    with book.asking(ANYONE) as share, book.asking(ANYONE):
        share.begin()
        share.charge(Usage(price=1_000.0))
    with book.asking(ANYONE):
        pass


def test_money_and_time_are_for_a_day() -> None:
    """What is spent is spent until midnight (UTC), which the error tells."""
    clock, timer = Clock(), Clock()
    book = ClientBook({"alice": Client("0" * 64, money=1.0, seconds=60.0)}, clock, timer)
    for price in (0.9, 0.2):
        with book.asking("alice") as share:
            share.book(Usage(price=price))
    with pytest.raises(OverLimitError, match="its 1 dollars of today") as caught, book.asking("alice"):
        pass
    assert caught.value.wait == 23 * 3_600
    clock.now += caught.value.wait
    with book.asking("alice") as share:
        timer.now += 1_000.0  # it waits for its turn
        share.begin()
        timer.now += 61.0
    with pytest.raises(OverLimitError, match="its 60 seconds"), book.asking("alice"):
        pass


def test_questions_that_are_under_way_count() -> None:
    """A client's questions together have its share; kept replies cost nothing; at the end all is counted once."""
    book = ClientBook({"alice": Client("0" * 64, money=1.0)})
    with book.asking("alice") as one, book.asking("alice") as other:
        one.charge(Usage(price=0.5))
        other.charge(Usage(price=5.4, replayed_price=5.0))
        with pytest.raises(OverLimitError, match="its 1 dollars"):
            one.charge(Usage(price=0.7))
        one.book(Usage(price=0.5))
    with book.asking("alice") as share:
        share.charge(Usage(price=0.05))
        with pytest.raises(OverLimitError):
            share.charge(Usage(price=0.1))


async def test_what_goes_on_ends_with_the_clients_time() -> None:
    """In its midst; a timeout of its own stays one."""
    book = ClientBook({"alice": Client("0" * 64, seconds=0.01), "bob": Client("1" * 64, seconds=100.0)})
    with book.asking("alice") as share:
        share.begin()
        with pytest.raises(OverLimitError, match=r"its 0.01 seconds"):
            async with share.time():
                await asyncio.Event().wait()
    with book.asking("bob") as share:
        share.begin()
        with pytest.raises(TimeoutError):
            async with share.time(), asyncio.timeout(0):
                await asyncio.Event().wait()


def test_questions_at_once_are_counted_by_client() -> None:
    """One client at its limit does not keep others from asking, and a question that ends makes room."""
    book = ClientBook({"alice": Client("0" * 64, at_once=1), "bob": Client("1" * 64, at_once=1)})
    with book.asking("alice"):
        with book.asking("bob"):
            pass
        with pytest.raises(OverLimitError, match="alice has 1 questions"), book.asking("alice"):
            pass
    with book.asking("alice"):
        pass


def test_a_price_that_is_not_known_is_beyond_every_bound() -> None:
    """As with all budgets of money."""
    book = ClientBook({"alice": Client("0" * 64, money=1e6)})
    with book.asking("alice") as share:
        share.book(Usage())
    with pytest.raises(OverLimitError), book.asking("alice"):
        pass

"""Who may ask a server, and what each may spend in a day."""

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
    book.spend(ANYONE, Usage(price=1_000.0, seconds=1e6))
    with book.asking(ANYONE), book.asking(ANYONE):
        pass


def test_money_and_time_are_for_a_day() -> None:
    """What is spent is spent until midnight (UTC), which the error tells."""
    clock = Clock()
    book = ClientBook({"alice": Client("0" * 64, money=1.0, seconds=60.0)}, clock)
    book.spend("alice", Usage(price=0.9, seconds=1.0))
    with book.asking("alice"):
        book.spend("alice", Usage(price=0.2, seconds=1.0))
    with pytest.raises(OverLimitError, match="its 1 dollars of today") as caught, book.asking("alice"):
        pass
    assert caught.value.wait == 23 * 3_600
    clock.now += caught.value.wait
    with book.asking("alice"):
        book.spend("alice", Usage(seconds=61.0, price=0.0))
    with pytest.raises(OverLimitError, match="its 60 seconds"), book.asking("alice"):
        pass


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
    book.spend("alice", Usage())
    with pytest.raises(OverLimitError), book.asking("alice"):
        pass

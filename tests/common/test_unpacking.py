import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.unpacking import PIECE, PackedReplyError, Unpacker


def unpacked(encoding: str, *parts: bytes) -> bytes:
    """The body that came in these parts."""
    unpacker = Unpacker(encoding)
    body = b"".join(piece for part in parts for piece in unpacker.pieces(part))
    unpacker.end()
    return body


@given(st.lists(st.binary(max_size=500), max_size=4), st.integers(1, 50), st.integers(0, 3000))
def test_what_was_packed_comes_out_in_whatever_parts_it_came(members: list[bytes], size: int, repeats: int) -> None:
    """One member or several, cut anywhere, unpack to what was packed."""
    members = [member * repeats for member in members]
    packed = b"".join(map(gzip.compress, members))
    parts = [packed[start : start + size] for start in range(0, len(packed), size)]
    assert unpacked("gzip", *parts) == b"".join(members)


@pytest.mark.parametrize("encoding", ["", "identity", " Identity ,", "identity, identity"])
def test_what_is_not_packed_is_handed_on(encoding: str) -> None:
    """Without an encoding the body is what came."""
    assert unpacked(encoding, b"ab", b"", b"c") == b"abc"


@pytest.mark.parametrize("encoding", ["gzip", "X-GZIP", "identity, gzip", "gzip,"])
def test_gzip_has_several_names(encoding: str) -> None:
    """The old name, upper case and `identity` beside it are the same encoding."""
    assert unpacked(encoding, gzip.compress(b"abc")) == b"abc"


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip", "gzip,identity,gzip", "br", "zstd", "deflate", "compress", "dcb", "*", "\x1b[31m" * 1000]
)
def test_no_other_encoding_is_read(encoding: str) -> None:
    """Stacked encodings and those that were not asked for are refused before anything is unpacked, in one line."""
    with pytest.raises(PackedReplyError, match="gzip was asked for") as caught:
        Unpacker(encoding)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 120


def test_a_bomb_comes_in_small_pieces() -> None:
    """However much a part unpacks to, it is handed out a little at a time: whoever counts can stop."""
    pieces = Unpacker("gzip").pieces(gzip.compress(bytes(40 * PIECE), 1))
    assert max(len(next(pieces)) for _ in range(3)) <= PIECE


@pytest.mark.parametrize(
    "packed",
    [b"not packed at all", gzip.compress(b"a") + b"rest", gzip.compress(b"a" * 99)[:-5], zlib.compress(b"a")],
    ids=["plain", "rest", "cut", "zlib"],
)
def test_what_is_not_packed_as_it_should_be_is_refused(packed: bytes) -> None:
    """Another format, something behind the end, no end."""
    with pytest.raises(PackedReplyError):
        unpacked("gzip", packed)


def test_an_empty_body_needs_no_packing() -> None:
    """A reply without a body may name an encoding all the same."""
    assert unpacked("gzip") == b""


def test_members_without_content_have_an_end() -> None:
    """A stream that unpacks to nothing cannot be fed for ever."""
    nothing = gzip.compress(b"") * 60_000
    with pytest.raises(PackedReplyError, match="unpacks to nothing"):
        unpacked("gzip", nothing)

"""The draft of a result: records on disk while a long run goes on, so that its end takes none of them along."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fedkg.errors import SettingsError

__all__ = ["drafted", "write"]


@contextmanager
def drafted(out: Path | None) -> Iterator[Callable[[bytes], None]]:
    """Who takes each finished record as one line: appends it to `OUT.part`, which goes with a good end.

    A run that ends otherwise leaves the file and a note that names it. Nothing is kept without `out`, for standard output
    (-), and for a pipe or device. Raises SettingsError, here already, where the file cannot be written.
    """
    if out is None or str(out) == "-" or (out.exists() and not out.is_file()):
        yield lambda _line: None
        return
    part = out.with_name(f"{out.name}.part")
    write(part, b"")
    try:
        yield lambda line: write(part, line + b"\n", mode="ab")
    except BaseException as error:
        if part.is_file() and part.stat().st_size:
            error.add_note(f"the finished records are in {part}, one a line")
        else:
            part.unlink(missing_ok=True)
        raise
    part.unlink(missing_ok=True)


def write(file: Path, data: bytes, mode: str = "wb") -> None:
    """Writes the file, or appends to it. Raises SettingsError where that fails."""
    try:
        with file.open(mode) as stream:
            stream.write(data)
    except OSError as error:
        hint = "--json takes a file in a folder that is there and can be written"
        raise SettingsError(f"cannot write {file}: {error.strerror}", hint=hint) from error

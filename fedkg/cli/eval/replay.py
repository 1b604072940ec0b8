"""`fedkg eval replay`: the questions of a pack asked again, offline, of what it holds."""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from fedkg.bench.run import bundle as bundles
from fedkg.bench.run import results
from fedkg.bench.run.results import BenchmarkResult
from fedkg.cache.disk import DiskStore
from fedkg.cache.journal import RecordingStore
from fedkg.cache.pack import SIZE_LIMIT, documents, import_pack
from fedkg.cache.store import Store
from fedkg.cli import options
from fedkg.cli.eval.replayer import Replayer, concurrency_option, exit_code, print_replayed
from fedkg.core.encoding import encode
from fedkg.errors import PackError

__all__ = ["replay"]

MEGABYTE = 1 << 20

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("pack", type=FILE)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for the replayed results."
)
@click.option("--max-size", default=SIZE_LIMIT // MEGABYTE, type=options.MEGABYTES, show_default=True, metavar="MB")
@concurrency_option
@options.prompts_dir
@options.settings_file
@options.as_json
def replay(  # noqa: PLR0917  # click gives all of them by name
    pack: Path,
    out: Path | None,
    max_size: int,
    concurrency: int,
    file: str | None,
    as_json: bool,
    **flags: object,
) -> int:
    """Ask the questions of the file PACK again, from what it holds, and say what comes out otherwise.

    Neither network nor keys, data folder or model weights are needed; your own cache is left alone. Which edges the
    endpoint confirmed is not asked again. --out keeps the replayed results, for `eval compare`.

    Exit code 0: no difference. Exit code 1: some. Exit code 2: this is no pack of results, or a damaged one.
    """
    settings = options.settings(file, flags)
    replayed, most = [], max_size * MEGABYTE
    with _temporary(2 * most) as store:
        _import(pack, store, most)
        replayer = Replayer(RecordingStore(store, "offline"), settings, concurrency, _sha256(pack))
        for name, bundle in bundles.unpacked(documents(pack, most)).items():
            result, records = replayer.ask(name, bundle)
            replayed.append(result)
            if out:
                results.save(BenchmarkResult(result.header, records), out / f"{name}.jsonl")
    if as_json:
        click.echo(encode(replayed))
    else:
        for result in replayed:
            print_replayed(result)
    return exit_code(replayed)


def _import(pack: Path, store: Store, most: int) -> None:
    try:
        import_pack(pack, store, most)
    except PackError as error:
        if error.hint == PackError.default_hint:  # it names the command for packs of other questions
            error.hint = "`fedkg eval pack DIR --out PACK` makes a pack of results"
        raise


@contextlib.contextmanager
def _temporary(size: int) -> Iterator[Store]:
    """A cache that is gone at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="fedkg-") as folder,
        contextlib.closing(DiskStore(Path(folder), size)) as store,
    ):
        yield store


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

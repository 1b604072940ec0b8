"""`fedkg eval pack` and `fedkg eval replay`: results with all that they came from in one file, and the proof of it."""

import asyncio
import contextlib
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run import bundle as bundles
from fedkg.bench.run import replay as bench
from fedkg.bench.run import results
from fedkg.bench.run.bundle import Bundle
from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.replay import ReplayDifference
from fedkg.bench.run.results import BenchmarkResult
from fedkg.cache.disk import DiskStore
from fedkg.cache.journal import RecordingStore
from fedkg.cache.pack import SIZE_LIMIT, Manifest, documents, export_pack, import_pack
from fedkg.cache.store import Store
from fedkg.cli import options
from fedkg.cli.progress import bar
from fedkg.cli.show import counted, plain
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode
from fedkg.errors import DatasetError, PackError
from fedkg.wiring.adapters import open_store

__all__ = ["pack", "replay"]

DIFFERS = 1
"""Exit code where anything came out otherwise."""
MOST_SHOWN = 20
LENGTH = 300
MEGABYTE = 1 << 20
LONGEST = 200
"""Characters of a result's name in a pack."""

FILE = click.Path(dir_okay=False, path_type=Path)
concurrency_option = click.option(
    "--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Questions asked at a time."
)


class Replayed(msgspec.Struct, frozen=True):
    """A result that was asked again: where it came from, what is otherwise here, and what came out otherwise."""

    name: str
    header: Header
    questions: int
    notes: tuple[str, ...]
    differences: tuple[ReplayDifference, ...]


@click.command()
@click.argument("places", metavar="DIR|FILE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=FILE, metavar="PACK", help="The file to write.")
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of question sets and graphs."
)
@click.option(
    "-e", "--endpoint", "endpoints", multiple=True, help="The endpoints of the run, where they were RDF files."
)
@click.option("--model", metavar="hf:FOLDER", help="The model of the run, where it was one in a folder.")
@click.option("--path-model", metavar="hf:FOLDER", help="The model that wrote its paths, likewise.")
@click.option(
    "--definition", "own", multiple=True, metavar="BENCH", help="FILE.toml or custom:FILE.jsonl that was run."
)
@concurrency_option
@options.prompts_dir
@options.profiles_dir
@options.place
def pack(  # noqa: PLR0917  # click gives all of them by name
    places: tuple[Path, ...],
    out: Path,
    data: Path | None,
    endpoints: tuple[str, ...],
    model: str | None,
    path_model: str | None,
    own: tuple[str, ...],
    concurrency: int,
    file: str | None,
    **flags: object,
) -> int:
    """Write results, their questions, and all that endpoints, embedder and model said to them, as one file.

    Each question is asked once more, of the cache alone: what that touches is what is packed, so a replay of the pack gives
    the same records. Where it gives others now, that is said, and the exit code is 1; the file is written all the same.

    The cache has to hold the run still; replies of a model are there unless it was run with --no-replies. A pack holds
    questions and a part of the graph: see to it that their licence lets you publish them.
    """
    settings = msgspec.structs.replace(options.settings(file, flags), cache=True)
    given = {"endpoints": endpoints, "model": model, "path_model": path_model}
    named = {name: value for name, value in given.items() if value}
    known = {one.name: one for one in map(definitions.find, own)}
    with _opened(settings) as store:
        touched = RecordingStore(store, "offline")
        made = {}
        for name, result in _results(places).items():
            definition = known.get(result.header.benchmark) or _bundled(result.header.benchmark)
            made[name] = asyncio.run(bundles.bundled(result, definition, data, settings, touched, named=named))
        asker = _Asker(touched, settings, concurrency)
        found = [asker.ask(name, one)[0] for name, one in made.items()]
        manifest = export_pack(out, store, touched.touched, {name: bundles.packed(one) for name, one in made.items()})
    for one in found:
        _print(one)
    _print_manifest(manifest)
    click.echo(f"{counted(len(made), 'result')} and {len(manifest.entries):,} entries written to {out}.")
    return _exit_code(found)


@click.command()
@click.argument("pack", type=FILE)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for the replayed results."
)
@click.option("--max-size", default=SIZE_LIMIT // MEGABYTE, type=click.IntRange(1), show_default=True, metavar="MB")
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

    Neither network nor keys, data folder or model weights are needed; your own cache is left alone. Which edges the endpoint
    confirmed is not asked again. --out keeps the replayed results, for `eval compare`.

    Exit code 0: no difference. Exit code 1: some. Exit code 2: this is no pack of results, or a damaged one.
    """
    settings = options.settings(file, flags)
    found, most = [], max_size * MEGABYTE
    with _temporary(2 * most) as store:
        _import(pack, store, most)
        asker = _Asker(RecordingStore(store, "offline"), settings, concurrency, _sha256(pack))
        for name, bundle in bundles.unpacked(documents(pack, most)).items():
            one, records = asker.ask(name, bundle)
            found.append(one)
            if out:
                results.save(BenchmarkResult(one.header, records), out / f"{name}.jsonl")
    if as_json:
        click.echo(encode(found))
    else:
        for one in found:
            _print(one)
    return _exit_code(found)


def _bundled(name: str) -> Definition:
    """The benchmark of that name. Raises DatasetError for one of a user's own, whose file nothing in a result tells."""
    if name not in definitions.names():
        hint = "--definition names the FILE.toml or custom:FILE.jsonl that was run"
        raise DatasetError(f"no benchmark is called {name[:100]!r}", hint=hint)
    return definitions.find(name)


def _results(places: Sequence[Path]) -> dict[str, BenchmarkResult]:
    """The results by the names that they have in a pack: their files' names. Raises DatasetError where there is none, or two."""
    files = [file for place in places for file in (_inside(place) if place.is_dir() else [place])]
    found: dict[str, BenchmarkResult] = {}
    for file, result in results.every(files):
        name = (
            re.sub(r"[^\w.-]", "-", file.name.removesuffix(".gz").removesuffix(".jsonl")).lstrip(".-")[:LONGEST]
            or "result"
        )
        if name in found:
            raise DatasetError(f"two results are called {name}", hint="give their files other names")
        found[name] = result
    if not found:
        raise DatasetError("there is no result", hint="name files of `fedkg eval run --out DIR`, or the folder")
    return found


def _inside(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])


def _import(pack: Path, store: Store, most: int) -> None:
    try:
        import_pack(pack, store, most)
    except PackError as error:
        if error.hint == PackError.default_hint:  # it names the command for packs of other questions
            error.hint = "`fedkg eval pack DIR --out PACK` makes a pack of results"
        raise


class _Asker:
    """Asks the questions of bundles again, of one store; `digest` is that of the pack that filled it."""

    def __init__(self, store: Store, settings: Settings, concurrency: int, digest: str = "") -> None:
        self._store = store
        self._settings = settings
        self._concurrency = concurrency
        self._digest = digest

    def ask(self, name: str, bundle: Bundle) -> tuple[Replayed, tuple[QuestionRecord, ...]]:
        """What comes out, and the records in the order of the bundle."""
        here = bench.header(bundle, self._settings, self._digest)
        with bar(name, len(bundle.questions)) as shown:
            again = asyncio.run(self._records(bundle, shown))
        records = tuple(again[record.id] for record in bundle.records)
        notes, differences = bench.notes(bundle.header, here), bench.differences(bundle.records, records)
        return Replayed(name, here, len(records), tuple(notes), tuple(differences)), records

    async def _records(self, bundle: Bundle, shown: Callable[[int, str], None]) -> dict[str, QuestionRecord]:
        found: dict[str, QuestionRecord] = {}
        async for record in bench.replayed(bundle, self._store, self._settings, self._concurrency):
            found[record.id] = record
            shown(len(found), "")
        return found


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Store]:
    """The cache, closed at the end."""
    store = open_store(settings)
    try:
        yield store
    finally:
        getattr(store, "close", lambda: None)()  # a server or a file, no memory


@contextlib.contextmanager
def _temporary(size: int) -> Iterator[Store]:
    """A cache that is gone at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="fedkg-") as folder,
        contextlib.closing(DiskStore(Path(folder), size)) as store,
    ):
        yield store


def _print(found: Replayed) -> None:
    often = len({one.id for one in found.differences})
    said = f"{counted(often, 'question')} came out otherwise" if often else "no difference"
    click.echo(f"{plain(found.name)}: {counted(found.questions, 'question')} asked again, {said}")
    for one in found.differences[:MOST_SHOWN]:
        before, now = (plain(encode(value).decode(), LENGTH) for value in (one.packed, one.replayed))
        click.echo(f"  {plain(one.id)}: {one.field}: {before} in the result, {now} now")
    if len(found.differences) > MOST_SHOWN:
        click.echo(f"  … and {len(found.differences) - MOST_SHOWN:,} more")
    for note in found.notes:
        click.echo(f"  note: {plain(note, LENGTH)}", err=True)


def _print_manifest(manifest: Manifest) -> None:
    """What a pack holds, and under which licences."""
    for document in manifest.documents:
        click.echo(f"  {document.name}: licence of questions and graph: {plain(document.licence) or 'not known'}")
    for namespace, keys in manifest.keys.items():
        click.echo(f"  {namespace:14} {len(keys):,}")


def _exit_code(found: Sequence[Replayed]) -> int:
    return DIFFERS if any(one.differences for one in found) else 0


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

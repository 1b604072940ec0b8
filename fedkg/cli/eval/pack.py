"""`fedkg eval pack`: results with all that they came from, in one file."""

import asyncio
import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run import bundle as bundles
from fedkg.bench.run import results
from fedkg.bench.run.results import BenchmarkResult
from fedkg.cache.journal import RecordingStore
from fedkg.cache.pack import Manifest, export_pack
from fedkg.cache.store import Store
from fedkg.cli import options
from fedkg.cli.eval.replayer import Replayer, concurrency_option, exit_code, print_replayed
from fedkg.cli.show import counted, plain
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError
from fedkg.wiring.adapters import open_store

__all__ = ["pack"]

LONGEST = 200
"""Characters of a result's name in a pack."""

FILE = click.Path(dir_okay=False, path_type=Path)


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
    "--definition", "benchmarks", multiple=True, metavar="BENCH", help="FILE.toml or custom:FILE.jsonl that was run."
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
    benchmarks: tuple[str, ...],
    concurrency: int,
    file: str | None,
    **flags: object,
) -> int:
    """Write results, their questions, and all replies of endpoints, embedder and model to them, as one file.

    Each question is asked once more, of the cache alone: what that touches is what is packed, so a replay of the pack
    gives the same records. Where it gives others now, that is said, and the exit code is 1; the file is written all
    the same.

    The cache has to hold the run still; replies of a model are there unless it was run with --no-replies. A pack holds
    questions and a part of the graph: see to it that their licence lets you publish them.
    """
    settings = msgspec.structs.replace(options.settings(file, flags), cache=True)
    given = {"endpoints": endpoints, "model": model, "path_model": path_model}
    named = {name: value for name, value in given.items() if value}
    known = {definition.name: definition for definition in map(definitions.find, benchmarks)}
    with _opened(settings) as store:
        touched = RecordingStore(store, "offline")
        bundled = {}
        for name, result in _results(places).items():
            definition = known.get(result.header.benchmark) or _bundled(result.header.benchmark)
            bundled[name] = asyncio.run(bundles.bundled(result, definition, data, settings, touched, named=named))
        replayer = Replayer(touched, settings, concurrency)
        replayed = [replayer.ask(name, bundle)[0] for name, bundle in bundled.items()]
        manifest = export_pack(
            out, store, touched.touched, {name: bundles.packed(bundle) for name, bundle in bundled.items()}
        )
    for outcome in replayed:
        print_replayed(outcome)
    _print_manifest(manifest)
    click.echo(f"{counted(len(bundled), 'result')} and {len(manifest.entries):,} entries written to {out}.")
    return exit_code(replayed)


def _bundled(name: str) -> Definition:
    """The benchmark of that name. Raises DatasetError for one of a user's own, whose file nothing in a result tells."""
    if name not in definitions.names():
        hint = "--definition names the FILE.toml or custom:FILE.jsonl that was run"
        raise DatasetError(f"no benchmark is called {name[:100]!r}", hint=hint)
    return definitions.find(name)


def _results(places: Sequence[Path]) -> dict[str, BenchmarkResult]:
    """The results by their names in a pack. Raises DatasetError where there is none, or two have one name."""
    files = [file for place in places for file in (_inside(place) if place.is_dir() else [place])]
    by_name: dict[str, BenchmarkResult] = {}
    for file, result in results.every(files):
        name = _name(file)
        if name in by_name:
            raise DatasetError(f"two results are called {name}", hint="give their files other names")
        by_name[name] = result
    if not by_name:
        raise DatasetError("there is no result", hint="name files of `fedkg eval run --out DIR`, or the folder")
    return by_name


def _name(file: Path) -> str:
    """What the result of that file is called in a pack."""
    stem = file.name.removesuffix(".gz").removesuffix(".jsonl")
    return re.sub(r"[^\w.-]", "-", stem).lstrip(".-")[:LONGEST] or "result"


def _inside(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Store]:
    """The cache, closed at the end."""
    store = open_store(settings)
    try:
        yield store
    finally:
        getattr(store, "close", lambda: None)()  # a server or a file, no memory


def _print_manifest(manifest: Manifest) -> None:
    """What a pack holds, and under which licences."""
    for document in manifest.documents:
        click.echo(f"  {document.name}: licence of questions and graph: {plain(document.licence) or 'not known'}")
    for namespace, keys in manifest.keys.items():
        click.echo(f"  {namespace:14} {len(keys):,}")

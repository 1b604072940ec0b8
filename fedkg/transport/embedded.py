"""A graph from a file, queried in this process: the only importer of pyoxigraph."""

import asyncio
import gzip
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, cast

import pyoxigraph

from fedkg.errors import GraphFileError, UnreachableError
from fedkg.sparql.reply import EndpointReply

__all__ = ["EmbeddedTransport", "load"]

FORMATS = {
    ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
    ".ttl": pyoxigraph.RdfFormat.TURTLE,
    ".nq": pyoxigraph.RdfFormat.N_QUADS,
}
THREADS = 4
# the engine says who it is, as its server would
RESULTS = {"content-type": "application/sparql-results+json", "server": "oxigraph"}
TEXT = {"content-type": "text/plain", "server": "oxigraph"}
# queries ask the default graph only; a fact that stands in several graphs is one fact
MERGE_GRAPHS = "INSERT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }; DROP NAMED"


class EmbeddedTransport:
    """A Transport over a store in memory; it only ever reads. `name` is what errors show."""

    def __init__(self, store: pyoxigraph.Store, name: str) -> None:
        self.name = name
        self.url = ""
        self._store = store
        self._closed = False
        # of its own: a query cannot be stopped, and must not keep the cache or another endpoint waiting
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="fedkg-graph")

    def __len__(self) -> int:
        """How many triples the graph has; none once it is closed."""
        return len(self._store)

    async def send(self, query: str) -> EndpointReply:
        """The result as SPARQL JSON with status 200; 400 for a query that is wrong, 500 for one that fails.

        Raises UnreachableError once it is closed.
        """
        if self._closed:
            raise UnreachableError(f"{self.name} is closed", endpoint=self.name)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, query)

    async def close(self) -> None:
        """Lets the threads end, and frees the graph."""
        self._closed = True
        self._store = pyoxigraph.Store()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, query: str) -> EndpointReply:
        started = time.monotonic()
        status, headers, body = self._answer(query)
        return EndpointReply(status, headers, body, time.monotonic() - started)

    def _answer(self, query: str) -> tuple[int, dict[str, str], bytes]:
        store = self._store
        if self._closed:
            return 500, TEXT, b"the graph is closed"
        try:
            result = store.query(query)
            if not isinstance(result, pyoxigraph.QuerySolutions):
                return 400, TEXT, b"only SELECT queries have rows"
            return 200, RESULTS, cast("bytes", result.serialize(format=pyoxigraph.QueryResultsFormat.JSON))
        except SyntaxError as error:
            return 400, TEXT, f"syntax error: {error}".encode()
        except (ValueError, RuntimeError, OSError) as error:
            return 500, TEXT, str(error).encode()


def load(path: str | Path) -> EmbeddedTransport:
    """The graph of a .nt, .ttl or .nq file, also .gz, in memory; named graphs are merged.

    Blocking: about 3 s for a million triples. Raises GraphFileError with file and line.
    """
    path = Path(path)
    packed = path.suffix.lower() == ".gz"
    kind = FORMATS.get(Path(path.stem if packed else path.name).suffix.lower())
    if kind is None:
        raise GraphFileError(f"{path}: unknown file name extension")
    store = pyoxigraph.Store()
    _fill(store, path, kind, packed=packed)
    if kind == pyoxigraph.RdfFormat.N_QUADS:
        store.update(MERGE_GRAPHS)
    if not len(store):
        raise GraphFileError(f"{path}: there is no triple in this file", hint="is it the right file?")
    return EmbeddedTransport(store, path.name)


def _fill(store: pyoxigraph.Store, path: Path, kind: pyoxigraph.RdfFormat, *, packed: bool) -> None:
    try:
        with _open(path, packed=packed) as file:
            store.bulk_load(file, format=kind)
    except SyntaxError as error:
        raise GraphFileError(f"{path}, line {error.lineno}: {error.msg}", hint="correct or drop that line") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphFileError(f"{path}: not a whole gzip file") from error
    except OSError as error:
        raise GraphFileError(f"{path}: {error.strerror or error}") from error


def _open(path: Path, *, packed: bool) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")

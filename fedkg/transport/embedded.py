"""A graph from a file, queried in this process: the only importer of pyoxigraph."""

import asyncio
import gzip
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote

import pyoxigraph

from fedkg.config.graph_files import GRAPH_SUFFIXES, graph_files, graph_suffix
from fedkg.errors import GraphFileError, UnreachableError
from fedkg.sparql.reply import EndpointReply

__all__ = ["EmbeddedTransport", "load"]

FORMATS = {
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "n3": pyoxigraph.RdfFormat.N3,
    "rdf": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
    "nq": pyoxigraph.RdfFormat.N_QUADS,
    "trig": pyoxigraph.RdfFormat.TRIG,
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
    """The graph of an RDF file, also .gz, or of all RDF files in a folder and those below it, in memory.

    The suffix tells the format (`config.graph_files`). Named graphs are merged into one; what N3 only quotes, in
    braces, is no part of it. Blocking: about 3 s for a million triples. Raises GraphFileError with file and line.
    """
    path, store = Path(path), pyoxigraph.Store()
    for file in graph_files(path):
        within = file.relative_to(path) if path.is_dir() else file.name
        _fill(store, file, f"file:///{quote(str(within))}")
    store.update(MERGE_GRAPHS)
    if not len(store):
        what = "folder" if path.is_dir() else "file"
        raise GraphFileError(f"{path}: there is no triple in this {what}", hint=f"is it the right {what}?")
    return EmbeddedTransport(store, path.name)


def _fill(store: pyoxigraph.Store, path: Path, base: str) -> None:
    """Adds the triples of the file; what is relative in it is so to `base`, which is the same wherever it lies."""
    kind = FORMATS[GRAPH_SUFFIXES[graph_suffix(path)]]
    try:
        with _open(path) as file:
            if kind == pyoxigraph.RdfFormat.N3:
                quads = pyoxigraph.parse(file, format=kind, base_iri=base, rename_blank_nodes=True)
                store.bulk_extend(quad for quad in quads if isinstance(quad.graph_name, pyoxigraph.DefaultGraph))
            else:
                store.bulk_load(file, format=kind, base_iri=base)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise GraphFileError(f"{path}{line}: {error.msg}", hint="correct or drop what cannot be read") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphFileError(f"{path}: not a whole gzip file") from error
    except OSError as error:
        raise GraphFileError(f"{path}: {error.strerror or error}") from error


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")

"""Real engines on loopback over N-Triples files: the Oxigraph server, and three others.

These are Virtuoso, rdflib-endpoint and Comunica's file server, where they are installed.

Each is a context manager that yields the URL of its endpoint; it stops with the block, and its files go with it.
"""

import contextlib
import gzip
import itertools
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

__all__ = [
    "ENGINES",
    "PROGRAMS",
    "LoadGraph",
    "comunica",
    "missing",
    "oxigraph",
    "rdflib",
    "virtuoso",
    "virtuoso_server",
]

START_SECONDS = 60
MODULES = Path(__file__).resolve().parents[2] / ".engines" / "node_modules"
"""Where `make engines` has npm put Comunica."""
COMUNICA = Path(__file__).with_name("comunica.cjs")
VIRTUOSO_INI = """\
[Database]
DatabaseFile={place}/virtuoso.db
ErrorLogFile={place}/virtuoso.log
LockFile={place}/virtuoso.lck
TransactionFile={place}/virtuoso.trx
xa_persistent_file={place}/virtuoso.pxa
FileExtend=200
TempStorage=TempDatabase
[TempDatabase]
DatabaseFile={place}/temp.db
TransactionFile={place}/temp.trx
[Parameters]
ServerPort=127.0.0.1:{sql}
DisableUnixSocket=1
CheckpointInterval=0
DirsAllowed={place}
NumberOfBuffers=20000
MaxDirtyBuffers=15000
MaxQueryMem=512M
ThreadsPerQuery=2
[HTTPServer]
ServerPort=127.0.0.1:{http}
ServerRoot={place}
ServerThreads=32
MaxClientConnections=32
MaxKeepAlives=32
[SPARQL]
ResultSetMaxRows={max_rows}
MaxQueryExecutionTime={seconds}
MaxQueryCostEstimationTime={estimated}
"""
REFUSED, NEVER_REFUSED = 400, 100_000_000
"""Seconds that a query may take by Virtuoso's own estimate: as public endpoints have it, and for a server of several
graphs, of which those that are not asked mislead it."""
GRAPH = "http://fedkg.invalid/graph"
LoadGraph = Callable[[Sequence[Path]], str]
INDEX_TEXT = "DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'All'); DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ();"
GRANT_SERVICES = (
    'grant select on DB.DBA.SPARQL_SINV_2 to "SPARQL"; grant execute on DB.DBA.SPARQL_SINV_IMP to "SPARQL";'
)


@contextlib.contextmanager
def oxigraph(files: Sequence[Path], *, seconds: int = 60, port: int = 0) -> Iterator[str]:
    """The URL of a read-only Oxigraph server over these files (.nt or .nt.gz), which gives a query that many seconds.

    It listens on `port`, or on one that is free. Raises OSError where `port` is taken.
    """
    binary = _find("oxigraph")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file in _unpacked(files, place):
            command = [binary, "load", "--location", str(place / "store"), "--file", str(file)]
            subprocess.run(command, check=True, capture_output=True)
        bind = f"127.0.0.1:{_free_port(port)}"
        command = [
            binary,
            "serve-read-only",
            "--location",
            str(place / "store"),
            "--bind",
            bind,
            "--timeout-s",
            str(seconds),
        ]
        with _running(command, place, f"http://{bind}/query") as url:
            yield url


@contextlib.contextmanager
def virtuoso(
    files: Sequence[Path],
    *,
    max_rows: int = 10_000,
    seconds: int = 60,
    full_text: bool = False,
    services: bool = False,
) -> Iterator[str]:
    """The URL of a Virtuoso server over these files (.nt or .nt.gz), all in one graph.

    It cuts at `max_rows` rows and gives a query that many seconds. `full_text`: its labels can be searched by words.
    `services`: it may ask other endpoints, as a SERVICE clause wants.
    """
    then = f"{INDEX_TEXT if full_text else ''} {GRANT_SERVICES if services else ''}"
    with _virtuoso(max_rows, seconds) as (url, place, sql):
        _load_virtuoso(sql, files, place, GRAPH, then)
        yield url


@contextlib.contextmanager
def virtuoso_server(*, max_rows: int = 10_000, seconds: int = 60) -> Iterator[LoadGraph]:
    """One Virtuoso server for several graphs: what loads files (.nt or .nt.gz) gives the URL of an endpoint over them.

    To start a server costs some three seconds of computing time. The endpoints differ in their default graph only.
    """
    with _virtuoso(max_rows, seconds, NEVER_REFUSED) as (url, place, sql):
        graphs = itertools.count()

        def load(files: Sequence[Path]) -> str:
            graph = f"{GRAPH}/{next(graphs)}"
            folder = Path(tempfile.mkdtemp(dir=place))
            _load_virtuoso(sql, files, folder, graph)
            return f"{url}?{urllib.parse.urlencode({'default-graph-uri': graph})}"

        yield load


@contextlib.contextmanager
def _virtuoso(max_rows: int, seconds: int, estimated: int = REFUSED) -> Iterator[tuple[str, Path, int]]:
    """An empty server: the URL of its endpoint, the folder whose files it may read, and its port for SQL."""
    with tempfile.TemporaryDirectory() as folder:
        place, sql, http = Path(folder), _free_port(), _free_port()
        ini = place / "virtuoso.ini"
        bounds = {"max_rows": max_rows, "seconds": seconds, "estimated": estimated}
        ini.write_text(VIRTUOSO_INI.format(place=place, sql=sql, http=http, **bounds))
        command = [_find("virtuoso-t"), "+configfile", str(ini), "+foreground", "+wait"]
        with _running(command, place, f"http://127.0.0.1:{http}/sparql") as url:
            yield url, place, sql


@contextlib.contextmanager
def rdflib(files: Sequence[Path], *, store: str = "default") -> Iterator[str]:
    """The URL of an rdflib-endpoint over these files (.nt or .nt.gz), in memory or in another of its stores."""
    with tempfile.TemporaryDirectory() as folder:
        place, port = Path(folder), str(_free_port())
        command = [_find("rdflib-endpoint"), "serve", "--host", "127.0.0.1", "--port", port, "--store", store]
        with _running([*command, *map(str, _unpacked(files, place))], place, f"http://127.0.0.1:{port}/") as url:
            yield url


@contextlib.contextmanager
def comunica(files: Sequence[Path], *, seconds: int = 60) -> Iterator[str]:
    """The URL of Comunica's file server over these files (.nt or .nt.gz), which gives a query that many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        place, port = Path(folder), str(_free_port())
        command = [_find("node"), str(COMUNICA), str(MODULES), port, str(seconds)]
        with _running([*command, *map(str, _unpacked(files, place))], place, f"http://127.0.0.1:{port}/sparql") as url:
            yield url


ENGINES: dict[str, Callable[[Sequence[Path]], AbstractContextManager[str]]] = {
    "oxigraph": oxigraph,
    "virtuoso": virtuoso,
    "rdflib": rdflib,
    "comunica": comunica,
}
PROGRAMS = {
    "oxigraph": ("oxigraph",),
    "virtuoso": ("virtuoso-t", "isql-vt"),
    "rdflib": ("rdflib-endpoint",),
    "comunica": ("node",),
}


def missing(engine: str) -> str:
    """Why an engine cannot be started here; "" where it can."""
    absent = [program for program in PROGRAMS[engine] if not _which(program)]
    if engine == "comunica" and not (MODULES / "@comunica" / "query-sparql-file").is_dir():
        absent.append("@comunica/query-sparql-file")
    return f"{', '.join(absent)} not installed (make engines)" if absent else ""


def _load_virtuoso(sql: int, files: Sequence[Path], place: Path, graph: str, then: str = "") -> None:
    _unpacked(files, place)
    load = f"ld_dir('{place}', '*.nt', '{graph}'); rdf_loader_run(); {then} checkpoint;"
    command = [_find("isql-vt"), f"127.0.0.1:{sql}", "dba", "dba", "ERRORS=STDOUT", f"EXEC={load}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "Error" in done.stdout:
        raise RuntimeError(f"Virtuoso did not load the graph: {done.stdout[-500:]}")


@contextlib.contextmanager
def _running(command: Sequence[str], place: Path, url: str) -> Iterator[str]:
    """The endpoint's URL once the server answers; the server is stopped at the end, whatever happens."""
    log = (place / "server.log").open("wb")
    with log, subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as server:
        try:
            _wait(server, url)
            yield url
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait(server: subprocess.Popen[bytes], url: str) -> None:
    body = urllib.parse.urlencode({"query": "ASK {?s ?p ?o}"}).encode()
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, data=body, timeout=10):  # noqa: S310  # our own server's URL
                return
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"the server at {url} answers {error.code}") from error
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"no server at {url} after {START_SECONDS} s")


def _unpacked(files: Sequence[Path], place: Path) -> list[Path]:
    """The files as plain N-Triples in `place`."""
    unpacked = []
    for number, file in enumerate(files):
        target = place / f"{number}.nt"
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        unpacked.append(target)
    return unpacked


def _find(program: str) -> str:
    if path := _which(program):
        return path
    raise FileNotFoundError(f"{program} is not installed")


def _which(program: str) -> str | None:
    """The program beside the interpreter, else on the path."""
    return shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)


def _free_port(port: int = 0) -> int:
    """That port, or for 0 any one. Raises OSError where somebody listens there, who would be taken for the server."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that stopped just now is none
        probe.bind(("127.0.0.1", port))
        return int(probe.getsockname()[1])

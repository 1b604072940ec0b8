"""What every test may use: real graphs in process, and the place of the public data sets."""

import gc
import itertools
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import vcr
from vcr.persisters.filesystem import FilesystemPersister

from eval.support import engines, smollm2
from fedkg.cache.memory import MemoryStore
from fedkg.common import hf_loading
from fedkg.config import profiles
from fedkg.core.meter import Meter
from fedkg.embed.lazy import LazySimilarity
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.results import accept
from fedkg.testing import HashingEmbedder
from fedkg.transport import embedded
from fedkg.transport.client import EndpointClient
from tests.support import pairwise
from tests.support.pets import PETS

PREFIXES = """
@prefix : <http://x/> .
@prefix r: <http://x/r/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

# the models of the tests are tiny, and a process a core is busy already; torch reads it when it is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

# machines differ in speed; where a run must say the same twice, it draws the same examples
FEW_EXAMPLES = 12
"""Examples of a law without `--all`; with it as many as hypothesis draws by itself, a hundred."""
hypothesis.settings.register_profile("local", deadline=None, max_examples=FEW_EXAMPLES)
hypothesis.settings.register_profile("all", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)

WHEEL_SOURCES = ["README.md", "endpoints/wikidata.toml", "prompts", "sample/graph.ttl", "eval"]

COSTLY = ("exhaustive", "lm")
"""Marks of tests that run with `--all` only."""
CASSETTES = Path(__file__).parent / "cassettes"
RECORDING = bool(os.environ.get("RECORD_CASSETTES"))
LOOPBACK = (
    "# Recorded from a server on loopback, which said what a test told it: no service out in the world has said this.\n"
)

READ = {"content-type", "server"}
"""Headers of a reply: the second shows the engine of an endpoint."""

MakeGraph = Callable[..., SparqlGraph]
Recorded = Callable[..., AbstractContextManager[None]]
ServeFiles = Callable[..., AbstractContextManager[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--all` runs the large matrices whole, and tries laws on more examples."""
    parser.addoption(
        "--all", action="store_true", help="run all cases of the large matrices, not only all pairs of values"
    )


def pytest_configure(config: pytest.Config) -> None:
    """How many examples the laws are tried on; it has to be known before the tests are collected."""
    every = config.getoption("--all")
    hypothesis.settings.load_profile("ci" if every and os.environ.get("CI") else "all" if every else "local")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--all`, a test marked `pairwise` runs with a covering set of its cases (tests/support/pairwise.py).

    What is marked `exhaustive` goes the way of another case with other values, at a price, and is left out; so is what
    loads PyTorch, which takes longer than any test, and what asks a real language model (`lm`).
    """
    if not config.getoption("--all"):
        costly = {item for item in items if any(map(item.get_closest_marker, COSTLY)) or _loads_torch(item)}
        kept, left_out = pairwise.thinned([item for item in items if item not in costly])
        left_out += [item for item in items if item in costly]
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)
    items[:] = _by_what_they_share(items)


def _by_what_they_share(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The same tests; those with torch come first, those with Virtuoso in the middle, each in their order.

    pytest-xdist deals half of the tests to each of two processes: so the one pays for torch, the other for Virtuoso.
    """
    torch = [item for item in items if _loads_torch(item)]
    virtuoso = [item for item in items if "virtuoso" in _fixtures(item) or "virtuoso" in item.name]
    apart = {*torch, *virtuoso}
    rest = [item for item in items if item not in apart]
    middle = max(0, len(items) // 2 - len(torch))
    return [*torch, *rest[:middle], *virtuoso, *rest[middle:]]


def _loads_torch(item: pytest.Item) -> bool:
    return item.get_closest_marker("torch") is not None or "tiny" in _fixtures(item)


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The collector of garbage waits meanwhile, and need not look later through what is there to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where each test has a cache and settings of its own; nothing is made for the many that need neither."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> Iterator[None]:
    """No test sees the user's settings, keys or cache, nor what the command line of another one did to the loggers."""
    levels = {name: logging.getLogger(name).level for name in ("fedkg", "stamina")}
    handlers = list(logging.getLogger("fedkg").handlers)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", *(name for name in os.environ if name.startswith("FEDKG_"))):
        monkeypatch.delenv(name, raising=False)
    home = next(_homes)
    monkeypatch.setenv("FEDKG_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    yield
    if home.exists():
        shutil.rmtree(home, ignore_errors=True)
    logging.getLogger("fedkg").handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(scope="session")
def every_case(pytestconfig: pytest.Config) -> bool:
    """Whether all cases are wanted (`--all`), also those that repeat another case with other values."""
    return bool(pytestconfig.getoption("--all"))


@pytest.fixture
def data() -> Path:
    """The folder of public graphs and question sets beside the project; tests that need it skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public graphs and question sets are not beside the project")
    return folder


@pytest.fixture(scope="session")
def oxigraph() -> ServeFiles:
    """Serves .nt or .nt.gz files on an Oxigraph server: a context manager with its URL (eval/support/engines.py)."""
    return _engine("oxigraph")


@pytest.fixture(scope="session")
def virtuoso() -> Iterator[ServeFiles]:
    """Serves .nt or .nt.gz files on a real Virtuoso: a context manager that gives the URL (eval/support/engines.py).

    All tests share a server, which starts with the first of them; with options it is a server of its own.
    """
    alone, shared = _engine("virtuoso"), None

    with ExitStack() as servers:

        @contextmanager
        def serve(files: Sequence[Path], **options: Any) -> Iterator[str]:
            nonlocal shared
            if options:
                with alone(files, **options) as url:
                    yield url
                return
            shared = shared or servers.enter_context(engines.virtuoso_server())
            yield shared(files)

        yield serve


@pytest.fixture(scope="session")
def rdflib() -> ServeFiles:
    """Serves .nt or .nt.gz files on a real rdflib-endpoint (eval/support/engines.py)."""
    return _engine("rdflib")


@pytest.fixture(scope="session")
def comunica() -> ServeFiles:
    """Serves .nt or .nt.gz files on Comunica's file server (eval/support/engines.py)."""
    return _engine("comunica")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of a Redis server of the tests' own, on a socket in a folder of its own, which keeps nothing on disk."""
    pytest.importorskip("redis", reason="needs fedkg[redis]")
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis.sock"):
        yield f"unix://{Path(folder) / 'redis.sock'}"


@contextmanager
def redis_server(place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Redis server that answers on that socket, and ends with the block. Skips the test where none is installed."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if not program:
        pytest.skip("neither redis-server nor valkey-server is installed")
    command = [program, "--port", "0", "--unixsocket", str(place), "--save", "", "--dir", str(place.parent)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as server:
        try:
            while not _answers(place) and server.poll() is None:
                time.sleep(0.01)
            yield server
        finally:
            server.kill()  # the block waits for its end, also where a test fails


def _answers(place: Path) -> bool:
    """Whether a server takes connections there: its socket is there a moment before it listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(place)) == 0


@pytest.fixture(scope="session")
def smollm2_url() -> Iterator[str]:
    """The base URL of SmolLM2, a small real language model, on a server that all tests share (`make lm`)."""
    if why := smollm2.missing():
        pytest.skip(why)
    with smollm2.server() as url:
        yield url


@pytest.fixture
def smollm2_folder() -> Path:
    """The folder of the same model, for the door in process."""
    pytest.importorskip("transformers", reason="needs fedkg[hf]")
    if why := smollm2.missing(folder=True):
        pytest.skip(why)
    return smollm2.FOLDER


def _engine(name: str) -> ServeFiles:
    if why := engines.missing(name):
        pytest.skip(why)
    return engines.ENGINES[name]


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """An RDF file with one fact: Ann has the pet Rex."""
    file = tmp_path / "pets.nt"
    file.write_text(PETS, encoding="utf-8")
    return file


@pytest.fixture
def meter() -> Meter:
    """Counts the requests of the graphs of one test."""
    return Meter()


@pytest.fixture
def make_graph(tmp_path: Path, meter: Meter) -> MakeGraph:
    """Makes a graph from Turtle text (prefixes `:`, `r:`, `rdfs:` and `xsd:` are there), served in process."""

    def make(turtle: str, name: str = "test", profile: str = "generic") -> SparqlGraph:
        file = tmp_path / f"{name}.ttl"
        file.write_text(PREFIXES + textwrap.dedent(turtle), encoding="utf-8")
        known = profiles.find(profile)
        check = partial(accept, endpoint=name, known_cap=known.limits.known_cap)
        select = EndpointClient([embedded.load(file)], check, endpoint=name, limits=known.limits, meter=meter)
        return SparqlGraph(EndpointSource(name, str(file), known, select, MemoryStore()), scan=True)

    return make


@pytest.fixture
def hashing() -> LazySimilarity:
    """A similarity without a model: shared words count."""
    return LazySimilarity(HashingEmbedder(), MemoryStore())


class Labelled(FilesystemPersister):  # type: ignore[misc]  # vcrpy ships no types
    """Writes cassettes that say where they come from."""

    @staticmethod
    def save_cassette(cassette_path: str, cassette_dict: dict[str, Any], serializer: Any) -> None:
        FilesystemPersister.save_cassette(cassette_path, cassette_dict, serializer)
        path = Path(cassette_path)
        path.write_text(LOOPBACK + path.read_text(encoding="utf-8"), encoding="utf-8")


@pytest.fixture
def recording() -> bool:
    """Whether cassettes are recorded anew (`make cassettes`), from servers that the tests start for that."""
    return RECORDING


@pytest.fixture
def recorded() -> Recorded:
    """A context manager that plays tests/cassettes/NAME.yaml: nobody is asked, and all of it has to be played."""
    return _recorded


@contextmanager
def _recorded(name: str, folder: Path = CASSETTES, *, record: bool = RECORDING) -> Iterator[None]:
    path = folder / f"{name}.yaml"
    if record:
        path.unlink(missing_ok=True)
    machine = vcr.VCR(
        record_mode="once" if record else "none",
        match_on=["method", "host", "path", "body"],
        before_record_request=_without_secrets,
        before_record_response=_good,
        decode_compressed_response=True,
    )
    machine.register_persister(Labelled)
    with machine.use_cassette(str(path)) as cassette:
        yield
    if not record:
        assert len(cassette), f"{path} holds nothing"
        assert cassette.all_played, f"{path} was not played to its end"


def _without_secrets(request: Any) -> Any:
    """The request with its content type for all headers; loopback servers have another port each time."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() == "content-type"}
    request.uri = re.sub(r"(//127\.0\.0\.1):\d+", r"\1", request.uri)
    return request


def _good(response: Any) -> Any:
    """The response with the headers that are read; None, so that it is not recorded, for any but a good one."""
    if response["status"]["code"] // 100 != 2:
        return None
    headers = {name: value for name, value in response["headers"].items() if name.lower() in READ}
    return response | {"headers": headers}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a causal model of transformers that has learned nothing.

    Its weights are random, its tokenizer has 300 tokens. Every second token ends its replies, so that they are short.
    """
    torch, tokenizers = pytest.importorskip("torch"), pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers", reason="needs fedkg[hf]")
    folder = tmp_path_factory.mktemp("models") / "tiny"
    bytes_ = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer, made.decoder = bytes_, tokenizers.decoders.ByteLevel()
    letters = {"initial_alphabet": bytes_.alphabet(), "special_tokens": ["</s>", "<|user|>"], "show_progress": False}
    made.train_from_iterator(
        ["the director of King Kong"] * 2, tokenizers.trainers.BpeTrainer(vocab_size=300, **letters)
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")
    shape = {"vocab_size": len(tokenizer), "hidden_size": 8, "intermediate_size": 8, "max_position_embeddings": 32_768}
    heads = {"num_hidden_layers": 1, "num_attention_heads": 2, "bos_token_id": None, "eos_token_id": 0}
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape, **heads))
    model.generation_config.eos_token_id = list(range(0, len(tokenizer), 2))
    with hf_loading.quiet():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year "2005"^^xsd:integer .
:rings rdfs:label "The Two Towers"@en ; r:directed_by :jackson ; r:starring :wood .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh ; r:born_in :pukerua .
:walsh rdfs:label "Fran Walsh"@en ; r:spouse :jackson .
:watts rdfs:label "Naomi Watts"@en . :black rdfs:label "Jack Black"@en . :wood rdfs:label "Elijah Wood"@en .
:pukerua rdfs:label "Pukerua Bay"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "release year"@en .
r:spouse rdfs:label "spouse"@en . r:born_in rdfs:label "place of birth"@en .
"""


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Two films, their director and cast."""
    return make_graph(FILMS, name="films")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from this checkout; what it is made of and lacks is a failure, and no reason to skip."""
    root = Path(__file__).resolve().parents[1]
    missing = [name for name in WHEEL_SOURCES if not (root / name).exists()]
    assert not missing, f"the wheel cannot be built from this checkout, it lacks {missing}"
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(root)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = place.glob("*.whl")
    return built

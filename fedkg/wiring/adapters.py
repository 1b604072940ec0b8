"""The adapters that settings name: the chat model, the similarity of texts, the cache, the memory of hosts.

Vendors of models and embedders are those of fedkg itself, and those of installed packages (`fedkg.models`,
`fedkg.embedders`): a function of what stands behind `NAME:` in the setting ("" for nothing), and of all settings.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from fedkg.cache.disk import DiskStore
from fedkg.cache.fallback import FallbackStore
from fedkg.cache.folders import claim
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import LastingStore, Store
from fedkg.common.plugins import Registry
from fedkg.config.settings import Settings, masked
from fedkg.embed import minilm, onnx, scorer, sentence
from fedkg.embed import openai as openai_embeddings
from fedkg.embed.base import Embedder, Similarity
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.embed.hashing import HashingEmbedder
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.offline import OfflineEmbedder
from fedkg.embed.prefixes import Prefixes, prefixes_of, unmarked
from fedkg.errors import CacheError, ModelNameError, SettingsError
from fedkg.llm import capability, hf
from fedkg.llm.anthropic import AnthropicModel
from fedkg.llm.base import ChatModel
from fedkg.llm.offline import OfflineModel
from fedkg.llm.openai import OpenAIModel
from fedkg.llm.sdk import WireModel
from fedkg.reasoner.local import confidence, trained_graphs
from fedkg.reasoner.local.confidence import Calibration
from fedkg.reasoner.local.trained_graphs import TrainedGraph
from fedkg.transport.host_state import HostRegistry

__all__ = [
    "CHAT_MODELS",
    "EmbedderFactory",
    "ModelFactory",
    "chat_model",
    "check_scorer",
    "fallback_store",
    "kept_similarity",
    "lasting_store",
    "open_host_registry",
    "open_store",
    "path_model",
    "scorer_graphs",
    "scorer_similarity",
    "text_similarity",
]

CHAT_MODELS: Mapping[str, type[WireModel]] = {"anthropic": AnthropicModel, "openai": OpenAIModel}
EMBEDDERS = (
    "auto",
    "minilm",
    "bm25",
    "hashing",
    "onnx:NAME_OR_FOLDER",
    "openai:MODEL",
    "openai:MODEL@URL",
    "st:NAME_OR_FOLDER",
)
"""The names of the bundled embedders, as the settings take them."""
ModelFactory = Callable[[str, Settings], ChatModel]
"""Makes the chat model of a vendor; its `name` is VENDOR:MODEL. Raises ModelNameError, MissingExtraError."""
EmbedderFactory = Callable[[str, Settings], Embedder]
"""Makes an embedder; vectors are kept under its `name`. Raises ModelNameError, MissingExtraError."""
_VENDORS: Registry[ModelFactory] = Registry("fedkg.models", {}, callable, "a function of (model, settings)")
_EMBEDDERS: Registry[EmbedderFactory] = Registry("fedkg.embedders", {}, callable, "a function of (model, settings)")

log = logging.getLogger(__name__)


def open_store(settings: Settings) -> Store:
    """The cache that the settings name: a server, a folder, or memory. Raises CacheError where it cannot be used."""
    return lasting_store(settings) if settings.cache else MemoryStore()


def fallback_store(settings: Settings) -> FallbackStore:
    """The server or the folder, and memory where that fails.

    Offline, where nothing else can be asked, it raises CacheError instead. Raises SettingsError for a malformed
    `cache_url`.
    """
    offline = settings.mode == "offline"
    try:
        return FallbackStore(lasting_store(settings), required=offline)
    except CacheError as error:
        if offline:
            raise
        return FallbackStore(error)


def lasting_store(settings: Settings) -> LastingStore:
    """The server or the folder, also where the settings say that it is not used.

    Raises CacheError where it cannot be used, SettingsError for a `cache_url` that is no URL or lacks its extra.
    """
    if settings.cache_url:
        return _shared(settings.cache_url)
    return DiskStore(settings.cache_path, settings.cache_size << 20)


def _shared(url: str) -> LastingStore:
    try:
        from fedkg.cache.redis import RedisStore  # noqa: PLC0415  # an optional extra
    except ImportError as error:
        raise SettingsError("a shared cache needs fedkg's extra `redis`", hint="pip install 'fedkg[redis]'") from error
    return RedisStore(url)


def open_host_registry(settings: Settings, files: ExitStack) -> HostRegistry:
    """What is remembered of hosts, closed with `files`; in memory only where its folder cannot be used."""
    folder = settings.cache_path / "manners"
    try:
        claim(folder)
        store = FallbackStore(DiskStore(folder))
    except (CacheError, OSError) as error:
        log.warning("bans and pauses of endpoints are not kept: %s", error)
        return HostRegistry()
    files.callback(store.close)
    return HostRegistry(store)


def chat_model(settings: Settings, store: Callable[[], Store]) -> ChatModel:
    """The chat model that the settings name; offline one that sends nothing. `store` keeps what a model makes of paths.

    Raises ModelNameError, naming the variable where a key is missing, and MissingExtraError.
    """
    vendor, _, rest = settings.model.partition(":")
    if vendor == hf.VENDOR and rest:
        return _in_folder(settings, Path(rest), store)
    if vendor not in CHAT_MODELS and rest and (factory := _VENDORS.get(vendor)):
        return _plugged_in(settings, factory, rest)
    model, at, url = _served(rest)
    if vendor not in CHAT_MODELS or not model:
        further = ", ".join(f"{name}:MODEL" for name in _VENDORS.names())
        hint = f"{ModelNameError.default_hint}, {further}" if further else ""
        raise ModelNameError(f"no model is called {masked(settings.model)[:100]!r}", hint=hint)
    if at and not url:
        raise ModelNameError(f"{masked(settings.model)[:100]!r} names no URL behind the @")
    find = partial(capability.find, user_folder=settings.models_dir, context=settings.context)
    if settings.mode == "offline":
        name = CHAT_MODELS[vendor].named(model, url)
        return OfflineModel(name, find(name))
    return CHAT_MODELS[vendor].connect(model, url, find=find, concurrency=settings.model_share)


def path_model(settings: Settings, chat: ChatModel | None, store: Callable[[], Store]) -> ChatModel | None:
    """The model that writes paths: that of the settings, or else `chat`; None where its tokens cannot be held.

    Raises ModelNameError and MissingExtraError.
    """
    if not settings.path_model:
        return chat if chat and chat.name.startswith(f"{hf.VENDOR}:") else None
    if not settings.path_model.startswith(f"{hf.VENDOR}:"):
        hint = "name the model that answers with --model; paths are written by hf:FOLDER"
        raise ModelNameError(f"{masked(settings.path_model)[:100]!r} cannot be held to paths", hint=hint)
    return chat_model(msgspec.structs.replace(settings, model=settings.path_model), store)


def _plugged_in(settings: Settings, factory: ModelFactory, model: str) -> ChatModel:
    """The model of another package's vendor; offline the one that the ledger called so."""
    if settings.mode != "offline":
        return factory(model, settings)
    name = masked(settings.model)
    return OfflineModel(name, capability.find(name, settings.models_dir, settings.context))


def _in_folder(settings: Settings, folder: Path, store: Callable[[], Store]) -> ChatModel:
    """The model in that folder; offline, where the folder may be gone, the one that the ledger called so."""
    if settings.mode == "offline":
        name = hf.named(folder) if folder.is_dir() else masked(f"{hf.VENDOR}:{folder}")
        return OfflineModel(name, capability.find(name, settings.models_dir, settings.context))
    hf.check(folder)
    takes = settings.context or hf.context(folder)
    return hf.HfModel(folder, capability.find(f"{hf.VENDOR}:{folder.name}", settings.models_dir, takes), store)


def _served(name: str) -> tuple[str, str, str]:
    """MODEL, @ and URL of a name; the model's own name may have an @ where the URL shows which one is meant."""
    model, at, place = name.partition("@http")
    return (model, "@", f"http{place}") if at else name.partition("@")


def text_similarity(settings: Settings, store: Store) -> Similarity:
    """The similarity that the settings name; `auto` is MiniLM where its packages are installed, else BM25."""
    name = settings.embedder
    if name == "auto":
        name = "minilm" if minilm.installed() else "bm25"
        if name == "bm25":
            log.warning(
                "texts are compared by their words, not by meaning: %s (or choose --embedder bm25)", minilm.MISSING
            )
    if name == "bm25":
        return Bm25Similarity()
    return LazySimilarity(_embedder(name, settings), store, prefixes=_prefixes(name, settings))


def check_scorer(settings: Settings) -> None:
    """Raises ModelNameError where the folder of `local:FOLDER` has no scorer, MissingExtraError where none can run."""
    if settings.scorer:
        scorer.named(Path(settings.scorer))


def scorer_calibration(settings: Settings) -> Calibration | None:
    """The confidence table in the folder of `local:FOLDER`; None where it has none. Raises SettingsError."""
    file = Path(settings.scorer) / confidence.FILE
    return confidence.of_embedder(confidence.OTHER, file) if file.is_file() else None


def scorer_graphs(settings: Settings) -> tuple[TrainedGraph, ...]:
    """What the scorer of `local:FOLDER` knows of the graphs that it was trained on. Raises ModelNameError."""
    return trained_graphs.read(Path(settings.scorer))


def scorer_similarity(settings: Settings, store: Store) -> LazySimilarity:
    """The similarity by the trained scorer of `local:FOLDER`; its vectors are kept, too.

    Raises ModelNameError where there is no scorer, and MissingExtraError.
    """
    keep = settings.cache_path / "models" if settings.cache else None
    return LazySimilarity(scorer.named(Path(settings.scorer), keep), store)


@contextmanager
def kept_similarity(name: str, store: Store) -> Iterator[Similarity]:
    """The similarity of that name over the vectors in the store: a text that has none there raises OfflineError."""
    if name == Bm25Similarity.name:
        yield Bm25Similarity()
        return
    embedder, prefixes = unmarked(name)
    similarity = LazySimilarity(OfflineEmbedder(embedder), store, prefixes=prefixes)
    try:
        yield similarity
    finally:
        similarity.close()


def _prefixes(name: str, settings: Settings) -> Prefixes:
    """What stands before the texts of the embedder of that name, by its model unless the settings say it."""
    kind, _, rest = name.partition(":")
    model = _served(rest)[0] if kind == "openai" else rest if kind in {"onnx", "st"} else ""
    return prefixes_of(model, settings.prefixes)


def _embedder(name: str, settings: Settings) -> Embedder:
    kind, _, model = name.partition(":")
    offline = settings.mode == "offline"
    keep = settings.cache_path / "models" if settings.cache else None
    if name == "minilm":
        return minilm.minilm(keep)
    if name == HashingEmbedder.name:
        return HashingEmbedder()
    if kind == "onnx" and model:
        return onnx.named(model, keep=keep, offline=offline)
    if kind == "st" and model:
        return sentence.named(model, offline=offline)
    if kind == "openai":
        return _openai_embedder(model or "text-embedding-3-small", offline=offline)
    if kind not in {"onnx", "st", "bm25", "auto"} and (factory := _EMBEDDERS.get(kind)):
        return factory(model, settings)
    known = ", ".join([*EMBEDDERS, *_EMBEDDERS.names()])
    raise ModelNameError(f"no embedder is called {masked(name)[:100]!r}", hint=f"embedders: {known}")


def _openai_embedder(name: str, *, offline: bool) -> Embedder:
    """The embedder of MODEL or MODEL@URL."""
    model, at, url = _served(name)
    if not model or (at and not url.startswith(("http://", "https://"))):
        raise ModelNameError(f"'openai:{masked(name)[:100]}' names no model, or no URL behind the @")
    return openai_embeddings.unasked(model, url) if offline else openai_embeddings.connect(model, url)

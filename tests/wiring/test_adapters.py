"""Embedders by the names that settings give them."""

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import PrefixChoice, Settings
from fedkg.errors import ModelNameError
from fedkg.wiring.adapters import EMBEDDERS, text_similarity
from tests.support.extras import needs

SERVER = "http://127.0.0.1:1/v1"


@needs("openai", "openai")
@pytest.mark.parametrize("mode", ["live", "offline"])
@pytest.mark.parametrize("model", ["nomic", "org/e5@small"])
def test_an_embedder_of_a_server_by_its_url(mode: str, model: str) -> None:
    """openai:MODEL@URL is the model of that server, whose name may have an @; no key is needed."""
    similarity = text_similarity(Settings(embedder=f"openai:{model}@{SERVER}", mode=mode), MemoryStore())  # type: ignore[arg-type]
    assert similarity.name.removesuffix("+e5") == f"openai:{model}@{SERVER}"
    assert similarity.name.endswith("+e5") == ("e5" in model), "a model of the family E5 gets its prefixes"


@pytest.mark.parametrize(("prefixes", "mark"), [("auto", ""), ("none", ""), ("e5", "+e5")])
def test_prefixes_are_those_of_the_settings(prefixes: PrefixChoice, mark: str) -> None:
    """Where the name tells nothing the setting can; what has no vectors has no prefixes."""
    named = [
        text_similarity(Settings(embedder=name, prefixes=prefixes), MemoryStore()).name for name in ("hashing", "bm25")
    ]
    assert named == [f"hashing{mark}", "bm25"]


@pytest.mark.parametrize("name", ["openai:m@", "openai:m@host", f"openai:@{SERVER}", "openai:m@ftp://host"])
def test_what_is_no_url_is_told(name: str) -> None:
    """A model's name with nothing of use behind the @ is no name, and asks nobody."""
    with pytest.raises(ModelNameError, match="no URL behind the @"):
        text_similarity(Settings(embedder=name), MemoryStore())


def test_an_unknown_embedder_is_told_which_there_are() -> None:
    """A password in what was given is not shown."""
    with pytest.raises(ModelNameError) as caught:
        text_similarity(Settings(embedder="word2vec@http://user:secret@host"), MemoryStore())
    assert "secret" not in str(caught.value)
    assert all(name in (caught.value.hint or "") for name in EMBEDDERS)

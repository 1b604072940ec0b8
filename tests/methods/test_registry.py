"""The methods by name, and what is refused before anything is asked."""

import contextlib
from typing import Any

import pytest

from fedkg.config.settings import SearchSettings
from fedkg.errors import InputError, MethodError
from fedkg.methods.registry import METHODS, check, check_choices, find
from fedkg.session import Session
from fedkg.testing import ScriptedModel


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_is(name: str) -> None:
    """Its title and paper; one without a graph needs no plan for it, and a language model."""
    method = find(name)
    assert method.title
    assert method.paper
    assert method.graph or (method.prompts and not method.plans)


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    """However long the name is, it is shown in part only."""
    with pytest.raises(MethodError, match=r"no method is called 'x{100}'$") as caught:
        find("x" * 999)
    assert all(name in caught.value.hint for name in METHODS)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.prompts])
def test_what_no_model_can_serve_is_refused_with_what_would_work(name: str) -> None:
    """Without a language model; the hint names methods that need none."""
    assert find(name) is METHODS[name]
    with pytest.raises(MethodError, match="needs a language model") as caught:
        find(name, prompted=False)
    assert "fidelis" in caught.value.hint
    assert f" {name}," not in caught.value.hint


@pytest.mark.parametrize("method", ["io", "no-such-method"])
async def test_a_session_refuses_before_it_connects(method: str) -> None:
    """The endpoint would be refused too, were it looked at."""
    async with Session("no-such-profile", method=method, cache=False, embedder="bm25") as session:
        with pytest.raises(MethodError):
            await session.ask("Where?")
        with pytest.raises(MethodError):
            await session.estimate("Where?")


async def test_a_closed_session_answers_from_no_memory_either() -> None:
    """A method without a graph connects nothing that would say so."""
    session = Session(chat=ScriptedModel([]), method="io", cache=False, embedder="bm25")
    await session.aclose()
    with pytest.raises(InputError, match="closed"):
        await session.ask("Where?")


@pytest.mark.parametrize("asks", ["ask", "estimate"])
@pytest.mark.parametrize("chat", [None, ScriptedModel([])])
async def test_log_probabilities_that_a_model_does_not_give_are_refused(asks: str, chat: ScriptedModel | None) -> None:
    """Before any request, naming the model and what would work; the endpoint would be refused, too, if looked at."""
    given: dict[str, Any] = {"search.verifier": "log-probability", "cache": False, "embedder": "bm25"}
    async with Session("no-such-profile", chat=chat, **given) as session:
        with pytest.raises(MethodError, match=f"the model {chat.name if chat else 'local'} gives none") as caught:
            await getattr(session, asks)("Where?")
        assert session.usage().requests == session.usage().model_calls == 0
    assert all(word in caught.value.hint for word in ("logprobs = true", "deductive", "adequacy", "none"))


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_verify_need_log_probabilities(name: str) -> None:
    """For the others the verifier has no meaning, whatever the settings say."""
    search = SearchSettings(verifier="log-probability")
    check(METHODS[name], search, "m", logprobs=True)
    check(METHODS[name], SearchSettings(), "m", logprobs=False)
    with pytest.raises(MethodError) if name == "fidelis" else contextlib.nullcontext():
        check(METHODS[name], search, "m", logprobs=False)


def test_choices_by_likelihood_need_a_model_whose_tokens_are_chosen_here() -> None:
    """Another model is refused before anything is asked, with what would work."""
    search = SearchSettings(choices="likelihood")
    check_choices(search, "hf:writer", grammar=True)
    check_choices(SearchSettings(), "local", grammar=False)
    with pytest.raises(MethodError, match="local is none") as caught:
        check_choices(search, "local", grammar=False)
    assert "hf:FOLDER" in caught.value.hint

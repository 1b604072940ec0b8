"""What a shell offers for the words of a command that is being typed: names of endpoints, methods and retrievers."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

__all__ = ["endpoint_names", "method_names", "model_names", "retriever_names"]

MODELS = ("local", "local:", "anthropic:", "openai:", "hf:")


def endpoint_names(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The profiles that begin so; the files where there is none."""
    from fedkg.config import profiles  # noqa: PLC0415  # only a shell that completes needs them
    from fedkg.config.settings import load  # noqa: PLC0415  # the same
    from fedkg.errors import FedkgError  # noqa: PLC0415  # the same

    try:
        folder = context.params.get("profiles_dir") or load(context.params.get("file")).profiles_dir
        known = [CompletionItem(profile.name, help=profile.title) for profile in profiles.readable(folder)[0]]
    except FedkgError:  # a completion is no place to tell of faults in settings
        known = []
    return _begun(known, begun) or [CompletionItem(begun, type="file")]


def method_names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The methods that begin so."""
    from fedkg.methods import registry  # noqa: PLC0415  # only a shell that completes needs them

    return _begun([CompletionItem(name, help=method.title) for name, method in registry.usable().items()], begun)


def retriever_names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The retrievers that begin so."""
    from fedkg.retrieval import registry  # noqa: PLC0415  # only a shell that completes needs them

    return _begun(map(CompletionItem, registry.RETRIEVERS), begun)


def model_names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """What a model's name begins with; the rest of it is the vendor's."""
    return _begun(map(CompletionItem, MODELS), begun)


def _begun(items: Iterable[CompletionItem], begun: str) -> list[CompletionItem]:
    return [item for item in items if item.value.startswith(begun)]

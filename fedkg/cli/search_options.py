"""The options that say how a question is searched."""

from collections.abc import Callable
from typing import Any, get_args

import click

from fedkg.cli import completion
from fedkg.cli.sections import F, all_of, off, option
from fedkg.config.settings import (
    Choices,
    ConstraintLevel,
    Decoding,
    Hypotheses,
    Lookahead,
    PathScore,
    Scoring,
    StatementForm,
    Verifier,
)

__all__ = ["search"]


def _setting(name: str, text: str, **attributes: Any) -> Callable[[F], F]:
    """The option of the setting of that name."""
    return option("Search", f"--{name.replace('_', '-')}", f"search__{name}", help=text, **attributes)


def _number(name: str, metavar: str, text: str, kind: type[float] = int) -> Callable[[F], F]:
    return _setting(name, text, type=kind, metavar=metavar)


def _one_of(name: str, values: Any, text: str) -> Callable[[F], F]:
    """The option of a setting that is one of these literals."""
    return _setting(name, text, type=click.Choice(get_args(values)))


def _without(name: str, text: str) -> Callable[[F], F]:
    """The flag that switches the setting off."""
    return off("Search", f"--no-{name.replace('_', '-')}", f"search__{name}", text)


search = all_of(
    _number("beam", "N", "Most hypotheses kept at a depth."),
    _number("candidates", "N", "Most candidates shown at a depth."),
    _setting("form", "What a candidate is.", type=click.Choice(["groups", "pairs"])),
    _setting("call_plan", "Model calls per depth.", type=click.Choice(["fused", "paper"])),
    _number("alpha", "X", "Weight of the next-hop lookahead; 0 is none.", float),
    _one_of(
        "lookahead",
        Lookahead,
        "For the best candidates where there are more than are offered, or for all, as in Eq. 2.",
    ),
    _setting(
        "retriever",
        "Who ranks candidates: path-rag, vanilla, kaping, global (after `fedkg index`), tog (asks the model), "
        "or one of an installed package.",
        metavar="NAME",
        shell_complete=completion.retriever_names,
    ),
    _number("top_m", "M", "Entities and relations of the whole graph of which the retriever global makes candidates."),
    _without("keywords", "Rank by the question instead of its keywords."),
    _one_of(
        "scoring",
        Scoring,
        "How Path-RAG weighs a candidate: by single keywords, the next hop, the path so far, or for diversity.",
    ),
    _without("planning", "Show the model no plan while it chooses."),
    _one_of("verifier", Verifier, "What says that a path is enough to answer."),
    _one_of(
        "door",
        ConstraintLevel,
        "What holds the model to the paths of method gcr: its tokens, a schema, or a check of numbers.",
    ),
    _without("last_step", "Answer with all that the paths lead to, without the answer call."),
    _number("hops", "N", "Most hops of gcr (L, 2 unless given) and eperm (D, 3), within the depth."),
    _one_of("path_score", PathScore, "What paths that hf:FOLDER writes are compared by; vocabulary is as GCR has it."),
    _one_of("choices", Choices, "Numbers as a model writes them, or by their probabilities, which hf:FOLDER gives."),
    _number("top_paths", "K", "Paths that gcr answers from."),
    _one_of(
        "decoding",
        Decoding,
        "How gcr comes to its paths: within their trie, freely, or not at all: the best ranked are shown.",
    ),
    _one_of(
        "hypotheses",
        Hypotheses,
        "What stands beside a path of gcr: its ends, or what its writer decodes as the answer.",
    ),
    _number("path_examples", "N", "Examples that the writer of gcr's paths is shown."),
    _number("top_relations", "K", "Steps that eperm keeps at a hop."),
    _number("top_plans", "S", "Plans of eperm."),
    _number("top_entities", "S", "Entities of a plan that eperm goes on from at a hop."),
    _without("weights", "Show all of eperm's paths, unscored and unfiltered."),
    _setting(
        "exhaustive",
        "Have the plan list all keywords that may help, instead of the most telling ones.",
        is_flag=True,
        default=None,
    ),
    _setting(
        "demonstrations", "Show five examples with each call of fidelis, as the papers do.", is_flag=True, default=None
    ),
    _one_of(
        "statement",
        StatementForm,
        "What verifiers see of the statement: its placeholder, or a path's last entity in its place.",
    ),
)
"""How a question is searched, apart from the depth."""

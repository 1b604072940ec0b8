"""The options that say how a question is searched."""

from typing import get_args

import click

from fedkg.cli import completion
from fedkg.cli.sections import all_of, off, option
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

search = all_of(
    option("Search", "--beam", "search__beam", type=int, metavar="N", help="Most hypotheses kept at a depth."),
    option(
        "Search", "--candidates", "search__candidates", type=int, metavar="N", help="Most candidates shown at a depth."
    ),
    option("Search", "--form", "search__form", type=click.Choice(["groups", "pairs"]), help="What a candidate is."),
    option(
        "Search",
        "--call-plan",
        "search__call_plan",
        type=click.Choice(["fused", "paper"]),
        help="Model calls per depth.",
    ),
    option(
        "Search",
        "--alpha",
        "search__alpha",
        type=float,
        metavar="X",
        help="Weight of the next-hop lookahead; 0 is none.",
    ),
    option(
        "Search",
        "--lookahead",
        "search__lookahead",
        type=click.Choice(get_args(Lookahead)),
        help="For the best candidates where there are more than are offered, or for all, as in Eq. 2.",
    ),
    option(
        "Search",
        "--retriever",
        "search__retriever",
        metavar="NAME",
        shell_complete=completion.retriever_names,
        help="Who ranks candidates: path-rag, vanilla, kaping, global (after `fedkg index`), tog (asks the model), "
        "or one of an installed package.",
    ),
    option(
        "Search",
        "--top-m",
        "search__top_m",
        type=int,
        metavar="M",
        help="Entities and relations of the whole graph of which the retriever global makes candidates.",
    ),
    off("Search", "--no-keywords", "search__keywords", "Rank by the question instead of its keywords."),
    option(
        "Search",
        "--scoring",
        "search__scoring",
        type=click.Choice(get_args(Scoring)),
        help="How Path-RAG weighs a candidate: by single keywords, the next hop, the path so far, or for diversity.",
    ),
    off("Search", "--no-planning", "search__planning", "Show the model no plan while it chooses."),
    option(
        "Search",
        "--verifier",
        "search__verifier",
        type=click.Choice(get_args(Verifier)),
        help="What says that a path is enough to answer.",
    ),
    option(
        "Search",
        "--door",
        "search__door",
        type=click.Choice(get_args(ConstraintLevel)),
        help="What holds the model to the paths of method gcr: its tokens, a schema, or a check of numbers.",
    ),
    off(
        "Search",
        "--no-last-step",
        "search__last_step",
        "Answer with all that the paths lead to, without the answer call.",
    ),
    option(
        "Search",
        "--hops",
        "search__hops",
        type=int,
        metavar="N",
        help="Most hops of gcr (L, 2 unless given) and eperm (D, 3), within the depth.",
    ),
    option(
        "Search",
        "--path-score",
        "search__path_score",
        type=click.Choice(get_args(PathScore)),
        help="What paths that hf:FOLDER writes are compared by; vocabulary is as GCR has it.",
    ),
    option(
        "Search",
        "--choices",
        "search__choices",
        type=click.Choice(get_args(Choices)),
        help="Numbers as a model writes them, or by their probabilities, which hf:FOLDER gives.",
    ),
    option("Search", "--top-paths", "search__top_paths", type=int, metavar="K", help="Paths that gcr answers from."),
    option(
        "Search",
        "--decoding",
        "search__decoding",
        type=click.Choice(get_args(Decoding)),
        help="How gcr comes to its paths: within their trie, freely, or not at all: the best ranked are shown.",
    ),
    option(
        "Search",
        "--hypotheses",
        "search__hypotheses",
        type=click.Choice(get_args(Hypotheses)),
        help="What stands beside a path of gcr: its ends, or what its writer decodes as the answer.",
    ),
    option(
        "Search",
        "--path-examples",
        "search__path_examples",
        type=int,
        metavar="N",
        help="Examples that the writer of gcr's paths is shown.",
    ),
    option(
        "Search",
        "--top-relations",
        "search__top_relations",
        type=int,
        metavar="K",
        help="Steps that eperm keeps at a hop.",
    ),
    option("Search", "--top-plans", "search__top_plans", type=int, metavar="S", help="Plans of eperm."),
    option(
        "Search",
        "--top-entities",
        "search__top_entities",
        type=int,
        metavar="S",
        help="Entities of a plan that eperm goes on from at a hop.",
    ),
    off("Search", "--no-weights", "search__weights", "Show all of eperm's paths, unscored and unfiltered."),
    option(
        "Search",
        "--exhaustive",
        "search__exhaustive",
        is_flag=True,
        default=None,
        help="Have the plan list all keywords that may help, instead of the most telling ones.",
    ),
    option(
        "Search",
        "--demonstrations",
        "search__demonstrations",
        is_flag=True,
        default=None,
        help="Show five examples with each call of fidelis, as the papers do.",
    ),
    option(
        "Search",
        "--statement",
        "search__statement",
        type=click.Choice(get_args(StatementForm)),
        help="What verifiers see of the statement: its placeholder, or a path's last entity in its place.",
    ),
)
"""How a question is searched, apart from the depth."""

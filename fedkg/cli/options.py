"""Options that commands share, and the settings that they make."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, TypeVar, get_args

import click

from fedkg.config.settings import ConstraintLevel, Retriever, Scoring, Settings, Verifier, load
from fedkg.errors import SettingsError

__all__ = [
    "access",
    "as_json",
    "budget",
    "connection",
    "model",
    "place",
    "profiles_dir",
    "prompts_dir",
    "run_budget",
    "search",
    "settings",
    "settings_file",
]

F = TypeVar("F", bound=Callable[..., Any])
FOLDER = click.Path(exists=True, file_okay=False)
COUNT, AMOUNT = click.IntRange(1), click.FloatRange(0, min_open=True)


def settings(file: str | None, flags: Mapping[str, Any]) -> Settings:
    """The settings of a command's options; a name's `__` stands for a setting's dot. Raises SettingsError."""
    made = load(file, {name.replace("__", "."): value for name, value in flags.items()})
    if flags.get("replies") and not made.cache:
        raise SettingsError("replies cannot be kept without a cache", hint="leave out --replies, or --no-cache")
    return made


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order of the help page."""
    return lambda command: reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def _languages(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if value else None


def _off(flag: str, name: str, text: str) -> Callable[[F], F]:
    """A flag that switches a setting off, and leaves it alone where it is not given."""

    def callback(_context: click.Context, _option: click.Parameter, value: bool) -> bool | None:
        return False if value else None

    return click.option(flag, name, is_flag=True, callback=callback, help=text)


settings_file = click.option(
    "--settings", "file", metavar="FILE", help="Settings file (TOML) instead of the user's own."
)
profiles_dir = click.option(
    "--profiles", "profiles_dir", type=FOLDER, metavar="DIR", help="Folder of further endpoint profiles."
)
prompts_dir = click.option(
    "--prompts", "prompts_dir", type=FOLDER, metavar="DIR", help="Folder of prompts that replace the bundled ones."
)
place = _all(
    settings_file,
    click.option("--cache-dir", "cache_dir", metavar="DIR", help="Where replies and embeddings are kept."),
)
"""Where settings and cache lie."""

access = _all(
    click.option("--lang", "languages", callback=_languages, metavar="DE,EN", help="Label languages, the best first."),
    click.option("--contact", metavar="MAIL|URL", help="Goes into the User-Agent, so that operators can reach you."),
    profiles_dir,
    _off("--no-cache", "cache", "Keep nothing on disk and read nothing from it."),
    click.option(
        "--mode",
        type=click.Choice(["live", "cached", "offline"]),
        help="Ask for what is missing or stale, for what is missing, or for nothing.",
    ),
    click.option("--refresh", is_flag=True, default=None, help="Ask for everything again, and keep that."),
    place,
)
"""How endpoints are asked."""

connection = _all(
    click.option(
        "-e",
        "--endpoint",
        "endpoints",
        multiple=True,
        metavar="NAME|URL|FILE",
        help="Profile, URL, RDF file, PROFILE@URL or PROFILE@FILE; several times for several.",
    ),
    access,
)
"""Which endpoints are asked, and how."""

model = _all(
    click.option("--method", metavar="NAME", help="How the answer is searched for; `fedkg methods list` shows them."),
    click.option(
        "--model", metavar="NAME", help="local, anthropic:MODEL, openai:MODEL, openai:MODEL@URL or hf:FOLDER."
    ),
    click.option("--path-model", metavar="hf:FOLDER", help="Writes the paths of method gcr instead of the model."),
    click.option(
        "--replies/--no-replies",
        "replies",
        default=None,
        help="Keep the model's replies and use them again; `eval` does, `ask` only where it is told to.",
    ),
    click.option("--embedder", metavar="NAME", help="auto, minilm, bm25, hashing, openai:MODEL or st:NAME_OR_FOLDER."),
    prompts_dir,
)
"""Who plans, chooses and answers, and who compares texts."""

search = _all(
    click.option("--beam", "search__beam", type=int, metavar="N", help="Most hypotheses kept at a depth."),
    click.option("--candidates", "search__candidates", type=int, metavar="N", help="Most candidates shown at a depth."),
    click.option("--form", "search__form", type=click.Choice(["groups", "pairs"]), help="What a candidate is."),
    click.option(
        "--call-plan", "search__call_plan", type=click.Choice(["fused", "paper"]), help="Model calls per depth."
    ),
    click.option(
        "--alpha", "search__alpha", type=float, metavar="X", help="Weight of the next-hop lookahead; 0 is none."
    ),
    click.option(
        "--retriever",
        "search__retriever",
        type=click.Choice(get_args(Retriever)),
        help="Who ranks candidates: Path-RAG, or one to compare it with; tog asks the model.",
    ),
    _off("--no-keywords", "search__keywords", "Rank by the question instead of its keywords."),
    click.option(
        "--scoring",
        "search__scoring",
        type=click.Choice(get_args(Scoring)),
        help="How Path-RAG weighs a candidate: with the next hop, with the path so far, or for diversity.",
    ),
    _off("--no-planning", "search__planning", "Show the model no plan while it chooses."),
    click.option(
        "--verifier",
        "search__verifier",
        type=click.Choice(get_args(Verifier)),
        help="What says that a path is enough to answer.",
    ),
    click.option(
        "--door",
        "search__door",
        type=click.Choice(get_args(ConstraintLevel)),
        help="What holds the model to the paths of method gcr: its tokens, a schema, or a check of numbers.",
    ),
    _off("--no-last-step", "search__last_step", "Answer with all that the paths lead to, without the answer call."),
)
"""How a question is searched, apart from the depth."""

budget = _all(
    click.option("--max-calls", "budget__calls", type=COUNT, metavar="N", help="Most model calls of one question."),
    click.option("--max-tokens", "budget__tokens", type=COUNT, metavar="N", help="Most tokens of one question."),
    click.option("--max-money", "budget__money", type=AMOUNT, metavar="USD", help="Most US dollars for one question."),
    click.option("--timeout", "budget__seconds", type=AMOUNT, metavar="SECONDS", help="Most time for one question."),
)
"""What one question may cost."""

run_budget = _all(
    click.option("--run-calls", "run__calls", type=COUNT, metavar="N", help="Most model calls of the whole run."),
    click.option("--run-tokens", "run__tokens", type=COUNT, metavar="N", help="Most tokens of the whole run."),
    click.option("--run-money", "run__money", type=AMOUNT, metavar="USD", help="Most US dollars for the whole run."),
    click.option("--run-seconds", "run__seconds", type=AMOUNT, metavar="SECONDS", help="Most time for the whole run."),
)
"""What all questions of a run together may cost."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

"""Options that commands share, the settings that they make, and help pages with a section for each kind of option."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import msgspec

from fedkg.cli import completion
from fedkg.cli.search_options import search
from fedkg.cli.sections import SectionedCommand, all_of, off, option
from fedkg.config.settings import FIDELITY, Fidelity, PrefixChoice, Settings, load
from fedkg.errors import SettingsError

__all__ = [
    "COUNT",
    "DATA_FOLDER",
    "MEGABYTES",
    "PARALLEL",
    "SectionedCommand",
    "access",
    "all_of",
    "as_json",
    "budget",
    "connection",
    "embedder",
    "model",
    "option",
    "place",
    "profiles_dir",
    "prompts_dir",
    "run_budget",
    "search",
    "searched",
    "server",
    "session",
    "settings",
    "settings_file",
    "transcript",
    "warn_of_unheeded",
]

F = TypeVar("F", bound=Callable[..., Any])
FOLDER = click.Path(exists=True, file_okay=False)
DATA_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
COUNT = click.IntRange(1, 10_000_000)
"""The type of an option that says how many of something; those of settings have the settings' own bounds."""
PARALLEL = click.IntRange(1, 1_000)
"""The type of an option that says how many at the same time."""
MEGABYTES = click.IntRange(1, 1 << 24)


def settings(file: str | None, flags: Mapping[str, Any]) -> Settings:
    """The settings of a command's options; a name's `__` stands for a setting's dot. Raises SettingsError."""
    changes = {name.replace("__", "."): value for name, value in flags.items()}
    made = load(file, changes, option_names=_option_names())
    if changes.get("fidelity") == "paper":
        click.echo(f"fidelity paper: {_forms(made)}", err=True)
    if flags.get("replies") and not made.cache:
        raise SettingsError("replies cannot be kept without a cache", hint="leave out --replies, or --no-cache")
    return made


def warn_of_unheeded(made: Settings, flags: Mapping[str, Any]) -> None:
    """Says on stderr which options of the search are given, and change nothing with the method of the settings."""
    given = _given(flags)
    if not given:
        return
    from fedkg.methods.heeded import unheeded  # noqa: PLC0415  # most commands need nothing of it

    names = _option_names()
    if ignored := ", ".join(names[key] for key, field in given.items() if unheeded(made.method, [field])):
        click.echo(f"warning: with the method {made.method} this has no effect: {ignored}", err=True)


def _given(flags: Mapping[str, Any]) -> dict[str, str]:
    """The keys of the search that are given, by themselves or by `--fidelity`, each with its field.

    A model that writes paths is heeded where their scores are. `--no-last-step` is refused where it is not heeded.
    """
    search = {name.replace("__", "."): None for name, value in flags.items() if "__" in name and value is not None}
    if flags.get("fidelity") == "paper":
        search |= dict.fromkeys(FIDELITY["paper"])
    fields = {key: key.removeprefix("search.") for key in search if key.startswith("search.")}
    fields.pop("search.last_step", None)
    return fields | ({"path_model": "path_score"} if flags.get("path_model") else {})


def _forms(made: Settings) -> str:
    """What the settings have of all that `--fidelity` sets, in one line."""
    shown = msgspec.to_builtins(made)
    values = {key: (shown["search"] if "." in key else shown)[key.rpartition(".")[2]] for key in FIDELITY["paper"]}
    return ", ".join(f"{key} {json.dumps(value)}" for key, value in values.items())


def _option_names() -> dict[str, str]:
    """What the running command calls the settings, by their dotted keys: `--depth`."""
    context = click.get_current_context(silent=True)
    params = context.command.params if context else ()
    return {param.name.replace("__", "."): max(param.opts, key=len) for param in params if param.name}


def _languages(_context: click.Context, _option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if value else None


settings_file = option(
    "Other", "--settings", "file", metavar="FILE", help="Settings file (TOML) instead of the user's own."
)
profiles_dir = option(
    "Endpoints", "--profiles", "profiles_dir", type=FOLDER, metavar="DIR", help="Folder of further endpoint profiles."
)
prompts_dir = option(
    "Model",
    "--prompts",
    "prompts_dir",
    type=FOLDER,
    metavar="DIR",
    help="Folder of prompts that replace the bundled ones.",
)
place = all_of(
    settings_file,
    option("Cache", "--cache-dir", "cache_dir", metavar="DIR", help="Where replies and embeddings are kept."),
)
"""Where settings and cache lie."""

access = all_of(
    option(
        "Endpoints",
        "--lang",
        "languages",
        callback=_languages,
        metavar="DE,EN",
        help="Label languages, the best first.",
    ),
    option(
        "Endpoints", "--contact", metavar="MAIL|URL", help="Goes into the User-Agent, so that operators can reach you."
    ),
    profiles_dir,
    off("Cache", "--no-cache", "cache", "Keep nothing on disk and read nothing from it."),
    option(
        "Cache",
        "--mode",
        type=click.Choice(["live", "cached", "offline"]),
        help="Ask for what is missing or stale, for what is missing, or for nothing.",
    ),
    option("Cache", "--refresh", is_flag=True, default=None, help="Ask for everything again, and keep that."),
    place,
)
"""How endpoints are asked."""

connection = all_of(
    option(
        "Endpoints",
        "-e",
        "--endpoint",
        "endpoints",
        multiple=True,
        metavar="NAME|URL|FILE",
        shell_complete=completion.endpoint_names,
        help="Profile, URL, RDF file, PROFILE@URL or PROFILE@FILE; several times for several.",
    ),
    access,
)
"""Which endpoints are asked, and how."""

embedder = all_of(
    option(
        "Model",
        "--embedder",
        metavar="NAME",
        help="auto, minilm, bm25, hashing, onnx:NAME, openai:MODEL, openai:MODEL@URL, st:NAME.",
    ),
    option(
        "Model",
        "--prefixes",
        type=click.Choice(get_args(PrefixChoice)),
        help="What stands before texts that are embedded: as E5 wants it, nothing, or by the model's name.",
    ),
)
"""Who compares texts."""

model = all_of(
    option(
        "Search",
        "--method",
        metavar="NAME",
        shell_complete=completion.method_names,
        help="How the answer is searched for; `fedkg methods list` shows them.",
    ),
    option(
        "Model",
        "--model",
        metavar="NAME",
        shell_complete=completion.model_names,
        help="local, local:FOLDER (trained), anthropic:MODEL, openai:MODEL, openai:MODEL@URL or hf:FOLDER.",
    ),
    option(
        "Model",
        "--model-concurrency",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Most requests to the model at the same time.",
    ),
    option(
        "Model",
        "--fallback",
        type=click.Choice(["off", "model"]),
        help="Where the graph leaves the question open: nothing, or what the model remembers, marked `recalled`.",
    ),
    option(
        "Model",
        "--fidelity",
        type=click.Choice(get_args(Fidelity)),
        help="paper: calls, candidates, prompts and temperature as in FiDeLiS' paper (docs/methods.md lists them).",
    ),
    option(
        "Model",
        "--temperature",
        type=click.FloatRange(0, 2),
        metavar="X",
        help="Of the model's replies; 0, the surest, by default.",
    ),
    option(
        "Model",
        "--path-model",
        metavar="hf:FOLDER",
        help="Writes the paths of method gcr, or the plans of eperm and rog, instead of the model.",
    ),
    option(
        "Cache",
        "--replies/--no-replies",
        "replies",
        default=None,
        help="Keep the model's replies and use them again; `eval` does, `ask` only where it is told to.",
    ),
    embedder,
    prompts_dir,
)
"""Who plans, chooses and answers, and who compares texts."""

budget = all_of(
    option("Budget", "--max-calls", "budget__calls", type=int, metavar="N", help="Most model calls of one question."),
    option("Budget", "--max-tokens", "budget__tokens", type=int, metavar="N", help="Most tokens of one question."),
    option(
        "Budget", "--max-money", "budget__money", type=float, metavar="USD", help="Most US dollars for one question."
    ),
    option("Budget", "--timeout", "budget__seconds", type=float, metavar="SECONDS", help="Most time for one question."),
)
"""What one question may cost."""

run_budget = all_of(
    option("Budget", "--run-calls", "run__calls", type=int, metavar="N", help="Most model calls of the whole run."),
    option("Budget", "--run-tokens", "run__tokens", type=int, metavar="N", help="Most tokens of the whole run."),
    option("Budget", "--run-money", "run__money", type=float, metavar="USD", help="Most US dollars for the whole run."),
    option(
        "Budget", "--run-seconds", "run__seconds", type=float, metavar="SECONDS", help="Most time for the whole run."
    ),
)
"""What all questions of a run together may cost."""

session = all_of(
    connection,
    model,
    search,
    option("Search", "--depth", "search__depth", type=int, metavar="N", help="Most steps of a path."),
    budget,
    run_budget,
)
"""All that opens a session which answers questions until it is closed."""

as_json = option("Output", "--json", "as_json", is_flag=True, help="Print one JSON document.")

transcript = option(
    "Output",
    "--transcript",
    metavar="FILE",
    help="Write each call of the model into FILE; `fedkg transcript` shows it.",
)


def drawn(section: str) -> Callable[[F], F]:
    """Which questions of a benchmark are taken: the options of a command that shows them in that section."""
    return all_of(
        option(section, "--data", type=DATA_FOLDER, help="Folder of question sets and graphs."),
        option(section, "--limit", type=COUNT, metavar="N", help="Draw so many questions."),
        option(
            section,
            "--seed",
            default=0,
            show_default=True,
            help="What the draw and the resampling depend on.",
        ),
        option(section, "--skip-bad", is_flag=True, help="Leave out questions that cannot be read, and list them."),
    )


def searched(section: str, *, most: int, default: int | None) -> Callable[[F], F]:
    """How far chains from topics to answers are searched where a set does not name them; None: as the set says."""
    asked = "as the benchmark says" if default is None else "no more than the benchmark says"
    return all_of(
        option(
            section,
            "--hops",
            type=click.IntRange(1, most),
            default=default,
            show_default=default is not None,
            metavar="L",
            help=f"Most steps from topic to answer; {asked}.",
        ),
        option(
            section,
            "--frontier",
            type=COUNT,
            default=500,
            show_default=True,
            help="Most entities expanded at a hop.",
        ),
    )


def server(*, at_once: int, waiting: int, where: str = "") -> Callable[[F], F]:
    """Where a server listens and how much it takes; `where` says in its help when that counts."""
    return all_of(
        option("Server", "--host", default="127.0.0.1", show_default=True, help=f"Address to listen at{where}."),
        option(
            "Server",
            "--port",
            type=click.IntRange(0, 65_535),
            default=8080,
            show_default=True,
            help=f"Port to listen at{where}; 0 is any free one.",
        ),
        option(
            "Server",
            "--clients",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=f"Tokens and daily bounds (TOML){where}.",
        ),
        option("Server", "--offer", multiple=True, metavar="NAME", help="A further method to ask for; several times."),
        option(
            "Server",
            "--at-once",
            type=PARALLEL,
            default=at_once,
            show_default=True,
            help="Questions answered at a time.",
        ),
        option(
            "Server",
            "--waiting",
            type=click.IntRange(0, 10_000),
            default=waiting,
            show_default=True,
            help="Questions that wait for their turn; more are told to come back.",
        ),
    )


concurrency = option(
    "Benchmark",
    "--concurrency",
    type=PARALLEL,
    default=1,
    show_default=True,
    help="Questions asked at a time.",
)
yes = option("Benchmark", "--yes", is_flag=True, help="Do not ask whether the estimated price is all right.")

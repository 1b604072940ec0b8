"""The command `fedkg`: imports a command's module when it is called, and turns errors into sentences and exit codes."""

import importlib
import io
import logging
import os
import signal
import sys
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from fedkg.common.plain_text import plain
from fedkg.errors import FedkgError

__all__ = ["COMMANDS", "LazyGroup", "main", "prepare"]

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MOST_LOGGED = 2_000
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that SIGINT, or SIGPIPE, ended."""

COMMANDS = {
    "ask": ("fedkg.cli.ask:ask", "Answer a question, with a proof."),
    "chat": ("fedkg.cli.chat:chat", "Ask one question after the other."),
    "search": ("fedkg.cli.search:search", "Find entities by label or alias."),
    "index": ("fedkg.cli.index:index", "Embed the labels of a whole graph."),
    "neighbours": ("fedkg.cli.neighbours:neighbours", "Show the edges of an entity."),
    "verify": ("fedkg.cli.verify:verify", "Ask for every edge of a saved answer again."),
    "serve": ("fedkg.cli.serve:serve", "Answer questions over HTTP."),
    "init": ("fedkg.cli.init:init", "Make a settings file by a few questions."),
    "log": ("fedkg.cli.history:history", "Show the last questions, their answers and what they cost."),
    "mcp": ("fedkg.cli.mcp:mcp", "Answer the questions of agents, as tools of the Model Context Protocol."),
    "transcript": ("fedkg.cli.transcript:transcript", "Show what the model was asked and replied."),
    "endpoints": ("fedkg.cli.endpoints:endpoints", "List, show, check and forget endpoints; write profiles."),
    "cache": ("fedkg.cli.cache:cache", "Show, clear, export and import what is kept on disk."),
    "prompts": ("fedkg.cli.prompts:prompts", "List and show the prompts of the model's calls."),
    "methods": ("fedkg.cli.methods:methods", "List the methods of answering."),
    "eval": ("fedkg.cli.eval.group:evaluation", "Run benchmarks."),
    "paths": ("fedkg.cli.paths:paths", "Write files to fine-tune a model with."),
    "train": ("fedkg.cli.train:train", "Train a scorer for the model local."),
}
"""Command name to (module:attribute, short help): the help page imports none of the modules."""


class LazyGroup(click.Group):
    """A group whose commands are imported one by one, when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The command names, in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands with their short help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What a shell offers: the commands, of which none is imported for it, and the options."""
        commands = [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items()]
        begun = [command for command in commands if command.value.startswith(incomplete)]
        return begun + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> NoReturn:
        """Runs the command and exits with the code that it returns, or the one of its error."""
        try:
            code = self._code(ctx)
        except KeyboardInterrupt as stop:
            click.echo("\n".join(["interrupted", *_notes(stop)]), err=True)
            code = INTERRUPTED
        ctx.exit(code)

    def _code(self, ctx: click.Context) -> int:
        """The exit code of the command, once it has run."""
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on it is told what remains
        prepare(ctx.params.get("log") or "warning")
        try:
            code: int = super().invoke(ctx) or 0
            sys.stdout.flush()  # here, where a broken pipe can still be met
        except FedkgError as error:
            code = _failed(error)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = BROKEN_PIPE
        return code


def _failed(error: FedkgError) -> int:
    """Says on stderr what went wrong and what helps; returns the exit code."""
    hint = [f"hint: {error.hint}"] if error.hint else []
    lines = [f"error: {error}", *_notes(error), *hint]
    click.echo("\n".join(plain(line, 2_000) for line in lines), err=True)
    return error.exit_code


def _notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


class StderrHandler(logging.Handler):
    """Prints what is logged on stderr, whichever that is by then, as one harmless line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints one line."""
        try:
            click.echo(plain(self.format(record), MOST_LOGGED), err=True)
        except (OSError, ValueError):
            self.handleError(record)


def prepare(level: str = "warning") -> None:
    """Sets up the process: where its log goes, and that an output which lacks a character shows its escape.

    A retry of a library's is no news until it is given up.
    """
    logging.getLogger("stamina").setLevel(logging.ERROR)
    logger = logging.getLogger("fedkg")
    logger.setLevel(level.upper())
    for handler in [handler for handler in logger.handlers if isinstance(handler, StderrHandler)]:
        logger.removeHandler(handler)
    handler = StderrHandler()
    handler.setFormatter(logging.Formatter(None if level == "warning" else LOG_FORMAT))
    logger.addHandler(handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExit codes: 0 answered or done, 1 no answer found (or an edge that no longer holds),\n"
    "2 bad input, 3 an endpoint, the model or the cache failed, 4 the budget is spent,\n"
    "5 an answer with a caveat (ask --strict), 130 interrupted.",
)
@click.version_option(package_name="fedkg")
@click.option(
    "--log",
    type=click.Choice(["warning", "info", "debug"]),
    default="warning",
    help="What is logged on stderr: warnings, what happens to endpoints and questions, or each request and call.",
)
def main(log: str) -> None:
    """Grounded answers, with a proof, from knowledge graphs that stay where they are.

    An endpoint (-e) is a profile's name, a URL, an RDF file (.nt, .ttl, .rdf, .jsonld, .n3, .nq, .trig, also .gz) or a
    folder of such, or PROFILE@URL, PROFILE@FILE.

    \b
    fedkg ask "Who are the children of Marie Curie?" -e sample
    """  # noqa: D301  # click's mark for lines that it leaves as they are

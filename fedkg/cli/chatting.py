"""A conversation on the terminal, or on a pipe: messages in, answers out, and a few commands."""

import contextlib
import sys
from collections.abc import Iterator, Sequence

import click
import msgspec
from rich.text import Text

from fedkg.cli import show
from fedkg.cli.connect import opened
from fedkg.cli.progress import watched
from fedkg.cli.show import plain
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer
from fedkg.core.conversation import KnownEntity, Turn
from fedkg.core.events import Event, Linked
from fedkg.core.question import Match
from fedkg.core.rendering import paragraphs
from fedkg.engine.conversation import known_entities
from fedkg.engine.history import History
from fedkg.errors import FedkgError
from fedkg.session import Session

__all__ = ["Conversation", "chatted"]

PROMPT = "> "
QUITS = {"/quit", "/exit", "quit", "exit"}
RECALLED = 100
"""Questions of earlier commands that the arrow keys bring back."""
LONGEST_NUMBER = 9
"""Digits of the number of an entity."""
MOST_TURNS = 50
"""Turns that are kept: what is older is referred to no more."""
HELP = """\
/topics    the entities that were met, by number
/topics N  go on with that one: the next message is about it
/proof     the paths of the last answer, and what it cost
/help      these lines
/quit      end the chat, as Ctrl-D does; Ctrl-C ends a question
Any other line is a question, or goes on with the one before: "and her children?", "what about Pierre?"
"""


def chatted(settings: Settings, transcript: str | None) -> int:
    """Answers message by message, until there are no more. Returns 0. Raises InputError and EndpointError at first."""
    history = History(settings)
    with opened(settings, transcript) as session:
        if session.method.graph:
            session.run(session.graph())
        conversation = Conversation(session, history)
        for message in _messages(history):
            if message.strip() in QUITS:
                break
            if message.strip():
                conversation.take(message)
    return 0


class Conversation:
    """What was asked so far, and how a further line is taken."""

    def __init__(self, session: Session, history: History) -> None:
        self._session = session
        self._history = history
        self._turns: list[Turn] = []
        self._chosen: KnownEntity | None = None
        self._out = show.console()

    def take(self, line: str) -> None:
        """Takes a command or a message; what goes wrong is printed, and the conversation goes on."""
        try:
            if line.strip().startswith("/"):
                self._command(*line.split())
            else:
                self._asked(line)
        except FedkgError as error:
            click.echo("\n".join(_told(error)), err=True)
        except KeyboardInterrupt:
            click.echo("stopped; what was fetched until now stays for the next question", err=True)
        sys.stdout.flush()

    def _command(self, name: str, *words: str) -> None:
        match name, words:
            case "/topics", ():
                self._list()
            case "/topics", (number,) if number.isdecimal() and len(number) <= LONGEST_NUMBER:
                self._choose(int(number))
            case "/proof", ():
                self._prove()
            case "/help", ():
                click.echo(HELP, nl=False)
            case _:
                click.echo(f"{plain(' '.join((name, *words)))!r} is no command; /help lists them", err=True)

    def _asked(self, message: str) -> None:
        topics: list[Match] = []

        def heard(event: Event) -> None:
            if isinstance(event, Linked):
                topics[:] = event.topics

        with watched(verbose=False) as on_event:

            def both(event: Event) -> None:
                heard(event)
                on_event(event)

            follow_up = self._session.run(self._session.follow_up(message, self._before()))
            if follow_up.text:
                self._out.print(Text(plain(follow_up.text, 1_000), "cyan"))
            answer = self._session.run(self._session.ask(follow_up.question, follow_up.topics, both))
        self._print(answer)
        self._history.add(answer, "chat")
        self._turns = [*self._turns[-MOST_TURNS:], follow_up.turn(topics, answer)]
        self._chosen = None

    def _before(self) -> Sequence[Turn]:
        """The turns, the last with the chosen topic as its own."""
        if self._chosen is None:
            return self._turns
        topic = Match(self._chosen.iri, self._chosen.label, 1.0, type=self._chosen.type)
        answer = msgspec.structs.replace(self._turns[-1].answer, answers=(), paths=())
        return [*self._turns, Turn(self._turns[-1].question, (topic,), answer)]

    def _print(self, answer: Answer) -> None:
        """The answers with what they admit, and how the question ended; the proof is shown on demand."""
        heading, *_, ending = paragraphs(answer.lines())
        show.lines(self._out, [*heading, *(ending[:-1] if not answer.answers else ending[1:-1])])

    def _list(self) -> None:
        for number, entity in enumerate(known_entities(self._turns), 1):
            kind = f" ({plain(entity.type, 50)})" if entity.type else ""
            line = Text(f"{number}. {plain(entity.label)}{kind}  ")
            self._out.print(line.append(f"<{plain(entity.iri.value, 500)}>", "dim"))
        if not self._turns:
            click.echo("none yet: ask a question")

    def _choose(self, number: int) -> None:
        known = known_entities(self._turns)
        if not 0 < number <= len(known):
            click.echo(f"there is no {number}; /topics lists them", err=True)
            return
        self._chosen = known[number - 1]
        click.echo(f"({plain(self._chosen.label)}) …")

    def _prove(self) -> None:
        if self._turns:
            show.answer(self._out, self._turns[-1].answer, everything=True)
        else:
            click.echo("none yet: ask a question")


def _told(error: FedkgError) -> Iterator[str]:
    yield f"error: {plain(str(error), 2_000)}"
    if error.hint:
        yield f"hint: {plain(error.hint, 2_000)}"


def _messages(history: History) -> Iterator[str]:
    """The lines that are typed, edited as a shell's are; on a pipe those that come."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    click.echo("Ask a question; /help lists the commands, Ctrl-D ends.", err=True)
    _recall(history)
    while True:
        try:
            yield input(PROMPT)
        except EOFError:
            click.echo()
            return
        except KeyboardInterrupt:
            click.echo()


def _recall(history: History) -> None:
    """Lines can be edited, and the arrow keys bring back what was asked lately."""
    try:
        import readline  # noqa: PLC0415  # Windows has none; the terminal edits lines itself there
    except ImportError:
        return
    with contextlib.suppress(FedkgError):
        for entry in reversed(history.entries()[:RECALLED]):
            readline.add_history(plain(entry.answer.question, 4_000))

"""`fedkg chat`: one question after the other, also such as refer to the ones before."""

import click

from fedkg.cli import options

__all__ = ["chat"]


@click.command(cls=options.SectionedCommand)
@options.session
@options.transcript
def chat(file: str | None, transcript: str | None, **flags: object) -> int:
    """Ask one question after the other, such as "where was he born?" after "Who is the spouse of Marie Curie?".

    What a message refers to is the topic of the question before it, or its answer, and is printed in front of what is
    asked: (Marie Curie) children? With the model local it goes by English pronouns and by what is left out; a language
    model picks the entity that is meant from those that were met.

    /topics lists these, /topics N goes on with one of them, /proof shows the paths of the last answer, /help lists the
    commands, /quit ends. Ctrl-C ends a question, Ctrl-D the chat. On a pipe each line is a message.
    """
    from fedkg.cli.chatting import chatted  # noqa: PLC0415  # the help page needs nothing of it

    settings = options.settings(file, flags)
    options.warn_of_unheeded(settings, flags)
    return chatted(settings, transcript)

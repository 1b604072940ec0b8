"""The words in which a model writes paths and plans: those that it is fine-tuned with are those that it decodes with.

The instructions are our own; the marks around a path are those of GCR's Figures 7 and 8.
"""

from collections.abc import Iterable
from typing import Literal

from fedkg.common.one_line import line

__all__ = ["END", "START", "Format", "path", "plan", "prompt"]

Format = Literal["gcr", "eperm"]

TASKS: dict[Format, str] = {
    "gcr": "Write a path of the knowledge graph that leads from a topic entity to an answer of the question.",
    "eperm": "Write a chain of relations of the knowledge graph that leads from a topic entity to the answers of the "
    "question.",
}
START, END = "# Reasoning path:\n<PATH> ", " </PATH>"
"""What stands around a path."""
LONGEST = 1_000
"""Most characters of a question in a prompt."""


def prompt(form: Format, question: str, topics: Iterable[str]) -> str:
    """What the model is asked; `topics` are the labels of the topic entities, safe to stand in a line."""
    asked = f"# Question:\n{line(question, LONGEST)}\n# Topic entities:\n{', '.join(topics)}\n"
    return f"{TASKS[form]}\n\n{asked}"


def path(text: str, answer: str) -> str:
    """What it writes then: a path, and the answer that it leads to."""
    return f"{START}{text}{END}\n# Answer:\n{answer}"


def plan(text: str) -> str:
    """What it writes then: a plan."""
    return f"# Plan:\n<PATH> {text} </PATH>"

"""The words in which a model writes paths and plans: those that it is fine-tuned with are those that it decodes with.

They are data, a file `form.toml` in the folder of the call's prompt, which a folder of the user's own replaces: so a
model that was trained with other words, such as the weights that GCR's authors publish, is asked in these.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from fedkg.common import toml
from fedkg.common.file_cache import FileCache
from fedkg.common.one_line import line
from fedkg.config.resources import folder, layers
from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction
from fedkg.errors import PromptError

__all__ = [
    "FORM",
    "ExampleFormat",
    "Format",
    "PathExample",
    "PathForm",
    "form_of",
    "has_form",
    "key",
    "path",
    "plan",
    "prompt",
    "read",
    "sequences",
]

Format = Literal["gcr", "eperm"]
ExampleFormat = Literal[Format, "eperm-answer"]
"""What files to train with are for: a writer of paths or plans, or who answers from weighted paths."""
CALLS: dict[Format, str] = {"gcr": "reasoning-paths", "eperm": "relation-paths"}
"""The prompt whose folder has the form."""
FORM = "form.toml"
LONGEST = 1_000
"""Most characters of a question in a prompt."""
ARROWS = re.compile(r" ?([→←]) (.+?) \1 ?")
"""A relation as a line shows it; no label holds an arrow."""
VALUE = re.compile(r"\{(\w+)\}")
READ: FileCache[tuple[str, str], "PathForm"] = FileCache()


class PathExample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An example for a model that was not trained: a question, its topics, and a path as it is to be written."""

    question: str
    topics: tuple[str, ...]
    path: str


class SequencesReply(msgspec.Struct):
    """What a beam search has written freely, the likeliest first."""

    texts: list[str]


class PathForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model is asked for paths, and writes them.

    `prompt` has places for {question}, {topics} and {examples}, `example` also for {number} and {path}. A path stands
    between `start` and `end`, and `answer` between it and its hypothesis. `forward` and `backward` are a step with its
    {relation}, which is named by its `label`, or as `typed` by its IRI, "film.film.directed_by" in Freebase. Topics
    stand `between` one another.
    """

    prompt: str
    example: str
    start: str
    end: str
    answer: str
    forward: str
    backward: str
    relations: Literal["label", "typed"] = "label"
    between: str = ", "
    examples: tuple[PathExample, ...] = ()

    def asked(self, question: str, topics: Iterable[str], examples: int = 0) -> str:
        """What the model is asked, after the first of the `examples`; `topics` are labels that are safe in a line."""
        shown = "".join(map(self._example, range(1, examples + 1), self.examples))
        return filled(self.prompt, {**self._values(question, topics), "examples": shown})

    def marked(self, text: str) -> str:
        """A path with its marks."""
        return f"{self.start}{text}{self.end}"

    def written(self, candidate: PromptCandidate) -> str:
        """The text of a path, or of a relation, in this form."""
        return self.named(candidate)[0]

    def named(self, candidate: PromptCandidate) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The same, and the places of the names in it: what is no step."""
        typed, text, names, done = iter(candidate.typed if self.relations == "typed" else ()), "", [], 0
        for step in ARROWS.finditer(candidate.text):
            name = candidate.text[done : step.start()]
            names.append((len(text), len(text) + len(name)))
            text += name + self._step(step[1], next(typed, "") or step[2])
            done = step.end()
        last = candidate.text[done:]
        names.append((len(text), len(text) + len(last)))
        text += last
        cut = len(text) - len(text.lstrip())
        places = tuple((max(0, start - cut), stop - cut) for start, stop in names if stop > start)
        return text.strip(), places

    def paths(self, text: str) -> list[str]:
        """The paths that a model has written: what stands between the marks, on one line each."""
        first, last = self.start.strip().splitlines()[-1], self.end.strip()
        between: list[str] = []
        start = text.find(first)
        while start >= 0:
            stop = text.find(last, start + len(first))
            if stop < 0:  # none of the further beginnings has an end either
                break
            between.append(text[start + len(first) : stop])
            start = text.find(first, stop + len(last))
        return [" ".join(path.split()) for path in between]

    def relations_of(self, text: str) -> list[str] | None:
        """The relations of a written path; None where it is none: entities with relations between them."""
        marks = {mark for step in self._steps for mark in step.split("{relation}") if mark.strip()}
        parts = re.split("|".join(map(re.escape, sorted(marks, key=len, reverse=True))), text)
        whole = len(parts) > 2 and len(parts) % 2 == 1 and all(map(str.strip, parts))
        return [part.strip() for part in parts[1::2]] if whole else None

    def steps_of(self, text: str) -> list[str]:
        """The steps of a written plan, each as its relation is written; none where something else stands there."""
        patterns = [re.escape(step.strip()).replace(re.escape("{relation}"), "(?:.+?)") for step in self._steps]
        step = re.compile("|".join(patterns))
        return [] if step.sub("", text).strip() else step.findall(text)

    @property
    def _steps(self) -> tuple[str, str]:
        return self.forward, self.backward

    def _step(self, arrow: str, relation: str) -> str:
        direction: Direction = "out" if arrow == "→" else "in"
        return filled(self.forward if direction == "out" else self.backward, {"relation": relation})

    def _example(self, number: int, example: PathExample) -> str:
        values = {**self._values(example.question, example.topics), "number": str(number)}
        return filled(self.example, {**values, "path": self.marked(example.path)})

    def _values(self, question: str, topics: Iterable[str]) -> dict[str, str]:
        return {"question": str(line(question, LONGEST)), "topics": self.between.join(topics)}


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with the values in their places; what a value holds is no place."""
    return VALUE.sub(lambda place: values.get(place[1], place[0]), text)


def key(text: str) -> str:
    """The text as it is compared: cases and blanks do not count."""
    return " ".join(text.casefold().split())


def sequences(text: str) -> list[str]:
    """The sequences of a beam search; any other reply is one."""
    try:
        return msgspec.json.decode(text, type=SequencesReply).texts
    except msgspec.MsgspecError:
        return [text]


def read(call: str, user_folder: str = "") -> PathForm:
    """The form of that prompt, from the user's folder where that has it. Raises PromptError for one that does not fit.

    Every form is read with the places that it needs: without {question} no model would know what is asked.
    """
    files = [place / call / FORM for place in layers("prompts", user_folder, PromptError, what="prompts")[::-1]]
    file = next((file for file in files if file.is_file()), files[-1])
    return READ.get((call, user_folder), files, lambda: _read(file))


def has_form(call: str) -> bool:
    """Whether models write what that prompt asks for."""
    return (folder("prompts") / call / FORM).is_file()


def _read(file: Path) -> PathForm:
    form = toml.read(file, PathForm, PromptError)
    needed = (("prompt", "question"), ("forward", "relation"), ("backward", "relation"))
    for key, place in needed:
        if f"{{{place}}}" not in getattr(form, key):
            raise PromptError(f"{file}: {key} has no place for {{{place}}}")
    if not (form.start.strip() and form.end.strip()):
        raise PromptError(f"{file}: start and end are what a path is known by, and may not be empty")
    return form


def form_of(kind: Format, prompts_dir: str = "") -> PathForm:
    """How paths or plans are written. Raises PromptError."""
    return read(CALLS[kind], prompts_dir)


def prompt(form: Format, question: str, topics: Iterable[str], prompts_dir: str = "") -> str:
    """What the model is asked; `topics` are the labels of the topic entities, safe to stand in a line."""
    return read(CALLS[form], prompts_dir).asked(question, topics)


def path(text: str, answer: str, prompts_dir: str = "") -> str:
    """What it writes then: a path, and the answer that it leads to."""
    form = read(CALLS["gcr"], prompts_dir)
    return f"{form.marked(text)}{form.answer}{answer}"


def plan(text: str, prompts_dir: str = "") -> str:
    """What it writes then: a plan."""
    return read(CALLS["eperm"], prompts_dir).marked(text)

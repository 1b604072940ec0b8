"""The draw of our own questions for operators that are asked at the desk: some of each operator, some unanswerable.

    python -m eval.quality.operator_draw > eval/desk_operators.toml

Of the test halves: two questions of each operator over CoDEx-M and one over the biomedical graph, then three and two
that have no answer, drawn by `random.Random(19)` from the ids in their order. No question is looked at.
"""

import random
from collections import defaultdict
from collections.abc import Iterator

from eval.quality.operators import file_of, questions

__all__ = ["drawn", "listed"]

SEED = 19
EACH = {"codex-m": 2, "biomed": 1}
"""Questions of each operator."""
UNANSWERABLE = {"codex-m": 3, "biomed": 2}
HEAD = f"""\
# Questions for operators that eval/quality/desk.py --list asks, over CoDEx-M and the biomedical graph, as a user would:
# neither topics nor kind are told. Drawn by eval/quality/operator_draw.py (seed {SEED}) of the test halves: two
# questions of each operator over CoDEx-M, one over the biomedical graph, five without an answer. Anew:
# make desk DESK="--list eval/desk_operators.toml --pack cache/desk_operators.fedkg" BENCH=--write
model = "by-hand"

[graphs.biomed]
file = "biomed.nt.gz"
profile = "generic"
port = 7872

[graphs.codex-m]
file = "wikidata-codex-m.nt.gz"
profile = "wikidata"
port = 7873
"""


def drawn(name: str) -> list[str]:
    """The ids of the questions over that graph, those that have no answer last."""
    chance = random.Random(SEED)  # a draw, no secret
    groups: dict[str, list[str]] = defaultdict(list)
    for question in questions(name, "test"):
        groups["" if question.unanswerable else question.shape].append(question.id)
    refused = groups.pop("")
    chosen = [id_ for shape in sorted(groups) for id_ in chance.sample(groups[shape], EACH[name])]
    return [*chosen, *chance.sample(refused, UNANSWERABLE[name])]


def listed() -> Iterator[str]:
    """The parts of the list, as TOML."""
    yield HEAD
    for name in EACH:
        for id_ in drawn(name):
            entry = {"set": f"operators-{name}", "graph": name, "file": file_of(name, "test").name, "id": id_}
            yield "[[questions]]\n" + "".join(f'{key} = "{value}"\n' for key, value in entry.items())


if __name__ == "__main__":
    print("\n".join(listed()), end="")

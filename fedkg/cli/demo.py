"""`python -m fedkg.cli.demo`: three questions to the bundled sample graph, without a key and without a network.

What the user has set in files or environment does not matter here, and nothing is kept.
"""

from fedkg.cli import show
from fedkg.cli.main import prepare
from fedkg.cli.verify import print_checked
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer
from fedkg.engine.lookup import Checked
from fedkg.session import Session

__all__ = ["QUESTIONS", "main", "run"]

QUESTIONS = (
    "What is the capital of New Zealand?",  # one hop
    "In which city is the university located where Werner Heisenberg studied?",  # two hops
    "Who has held the position of Federal Chancellor of Germany?",  # several answers, with qualifiers
)


def run(embedder: str = "auto") -> tuple[list[Answer], list[Checked]]:
    """Asks the questions and verifies the last answer, printing everything; returns the answers and the edges."""
    out = show.console()
    answers = []
    with Session(
        settings=Settings(endpoints=("sample",), embedder=embedder, cache=False, search=SearchSettings(depth=2))
    ) as session:
        for question in QUESTIONS:
            out.rule(question, align="left")
            answers.append(session.run(session.ask(question)))
            show.answer(out, answers[-1])
            out.print()
        out.rule("the edges of the last answer, asked for again", align="left")
        checked = session.run(session.verify(answers[-1]))
        print_checked(answers[-1], checked)
    return answers, checked


def main() -> None:
    """Runs the demo."""
    prepare()
    run()
    show.console().print('\nNow ask your own: fedkg ask "Who are the children of Marie Curie?" -e sample')


if __name__ == "__main__":
    main()

"""A method: the model is shown what is said of the topics themselves."""

from fedkg.core.path import PartialPath
from fedkg.methods.base import Answering, Expanding, Method, Task, Walk, ask
from fedkg.methods.conclude import answer


def first_hop(task: Task) -> Walk:
    """One hop; as many of its steps as the beam is wide."""
    topics = tuple(PartialPath(topic) for topic in task.topics)
    expansion = yield from ask(Expanding(1, topics, last=True))
    steps = expansion.candidates[: task.search.beam]
    paths = tuple(topics[step.path_index].extend(step) for step in steps)
    all_shown = expansion.complete and len(steps) == len(expansion.candidates)
    return (yield from answer(Answering(paths), together=task.together, exhausted=all_shown))


METHOD = Method("First hop: what is said of the topics themselves", "no paper", first_hop, plans=False)

"""Where paths from different topics meet, and what is shown of that."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Edge, Iri
from fedkg.methods.intersections import MOST, groups, joined, narrowed, shared


def path(topic: str, *ends: str) -> PartialPath:
    """A path of one step to these ends."""
    start = Iri(f"http://x/{topic}")
    edges = tuple(Edge(start, Iri(f"http://x/r/{topic}"), Iri(f"http://x/{end}"), "out", "e") for end in ends)
    return PartialPath(start).extend(Step(0, edges[0].walked, edges, 1.0))


def names(beam: PartialPath) -> list[str]:
    """The names of its ends."""
    return [end.local_name for end in beam.tails if isinstance(end, Iri)]


def test_paths_meet_in_the_ends_that_all_have() -> None:
    """The set of most topics first; paths of one topic, or without a common end, make none."""
    beams = [path("a", "x", "y", "z"), path("a", "y"), path("b", "z", "y"), path("c", "y", "w"), path("d", "v")]
    meetings = groups(beams)
    assert set(meetings) == {(0, 2, 3), (1, 2, 3), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert [len(group) for group in meetings] == [3, 3, 2, 2, 2, 2, 2]
    assert [names(beam) for beam in narrowed(beams, (0, 2))] == [["y", "z"], ["z", "y"]]
    assert [names(beam) for beam in narrowed(beams, (0, 2, 3))] == [["y"]] * 3


def test_paths_of_one_topic_add_up() -> None:
    """What all topics lead to, each by any of its paths; nothing where one of them leads elsewhere."""
    beams = [path("a", "x", "v"), path("a", "y", "w"), path("a", "v"), path("b", "z", "y", "x")]
    assert [(beam.topic.local_name, names(beam)) for beam in shared(beams)] == [
        ("a", ["x"]),
        ("a", ["y"]),
        ("b", ["y", "x"]),
    ]
    assert shared([*beams, path("c", "w")]) == ()


def test_every_path_is_shown_for_itself_after_where_they_meet() -> None:
    """What is shown with a path leads to the same ends."""
    beams = (path("a", "x", "y"), path("b", "y", "z"))
    need = joined(beams)
    assert need.partial_paths == (path("a", "y"), *beams)
    assert need.also == ((path("b", "y"),),)


def test_one_topic_meets_nobody() -> None:
    """Its paths are shown as they are."""
    beams = (path("a", "x"), path("a", "x", "y"))
    assert (groups(beams), joined(beams).also) == ([], ())


def test_there_is_an_end_to_them() -> None:
    """A hundred paths of ten topics to one end are tried in part, and ten meetings shown."""
    assert len(groups([path(f"{number % 10}", "x", f"y{number}") for number in range(100)])) == MOST


def test_many_paths_that_meet_nowhere_hide_none_that_do() -> None:
    """What is tried are paths with an end in common: a thousand others before them take no place."""
    apart = [path("ab"[number % 2], f"x{number}") for number in range(1_000)]
    assert groups([*apart, path("a", "y"), path("b", "y")]) == [(1_000, 1_001)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sets(st.sampled_from("wxyz"), min_size=1)), max_size=6))
def test_a_meeting_is_one(paths: Sequence[tuple[str, set[str]]]) -> None:
    """Each of its paths starts elsewhere, and all lead to the same ends, which each of them had before."""
    beams = [path(topic, *sorted(ends)) for topic, ends in paths]
    for group in groups(beams):
        met = narrowed(beams, group)
        assert len({beam.topic for beam in met}) == len(group) > 1
        assert len({frozenset(beam.tails) for beam in met}) == 1
        assert met[0].tails
        for number, beam in zip(group, met, strict=True):
            assert set(beam.steps[0].edges) <= set(beams[number].steps[0].edges)

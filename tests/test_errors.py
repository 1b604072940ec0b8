import inspect
import pickle
import re

import pytest

from fedkg import errors

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.FedkgError)]
DRAWN = re.compile(r"^    ([│ ]*)(?:[├└]── )?(\w+Error)\b(.*)$", re.MULTILINE)


def drawn_parents() -> dict[str, str]:
    """Class name to the name of the class that it is drawn under, read from the module's docstring."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for match in DRAWN.finditer(errors.__doc__ or ""):
        column = match.start(2) - match.start()
        above = [(place, name) for place, name in above if place < column]
        parents[match[2]] = above[-1][1] if above else ""
        above.append((column, match[2]))
    return parents


def test_tree_in_docstring_is_the_tree_of_classes() -> None:
    """The drawing names every class once, under its parent."""
    real = {cls.__name__: cls.__mro__[1].__name__ if cls is not errors.FedkgError else "" for cls in CLASSES}
    assert drawn_parents() == real


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_says_when_it_is_raised(cls: type[errors.FedkgError]) -> None:
    """A class docstring is its own, and begins with when it is raised (the base says what all have in common)."""
    assert (cls.__dict__["__doc__"] or "").startswith("Base of" if cls is errors.FedkgError else "Raised when")


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_is_exported_and_carries_its_fields(cls: type[errors.FedkgError]) -> None:
    """An error keeps message, what was asked and a hint, and survives pickling (worker processes hand errors on)."""
    assert cls.__name__ in errors.__all__
    error = pickle.loads(pickle.dumps(cls("it broke", asked="this", hint="do that")))
    assert (str(error), error.message, error.asked, error.hint) == ("it broke", "it broke", "this", "do that")


def test_exit_codes() -> None:
    """Codes follow the branch: 2 for input, 3 for endpoints, models and the cache, 4 for a budget, 1 for the rest."""
    failed = {errors.EndpointError: 3, errors.ModelError: 3, errors.CacheError: 3}
    branches = {errors.InputError: 2, **failed, errors.BudgetError: 4, errors.OverLimitError: 4}
    for cls in CLASSES:
        expected = next((code for branch, code in branches.items() if issubclass(cls, branch)), 1)
        assert cls.exit_code == expected, cls


def test_retryable_and_action_agree() -> None:
    """What may be asked again unchanged is exactly what has the action RETRY."""
    for cls in CLASSES:
        if issubclass(cls, errors.EndpointError):
            assert cls.retryable == (cls.action is errors.Action.RETRY), cls


def test_default_hint_gives_way_to_a_given_one() -> None:
    """Without a hint the class's own is used."""
    assert errors.TopicError("x").hint == errors.TopicError.default_hint
    assert errors.TopicError("x", hint="y").hint == "y"


def test_endpoint_error_carries_the_reply() -> None:
    """Endpoint, status and the wait that was asked for are kept."""
    error = errors.RefusedError("slow down", endpoint="wikidata", status=429, wait=30.0)
    assert (error.endpoint, error.status, error.wait) == ("wikidata", 429, 30.0)
    assert pickle.loads(pickle.dumps(error)).wait == 30.0


def test_all_is_sorted() -> None:
    """The public names stand in alphabetical order."""
    assert errors.__all__ == sorted(errors.__all__)

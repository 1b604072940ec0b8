"""What adjectives of degree, verbs of time, nouns of quantity and units measure: the lists are a data file."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

__all__ = ["Degrees", "Measure", "degrees"]


class Measure(NamedTuple):
    """What is compared: names of relations that hold it, the likeliest first, and whether the greatest is meant.

    Without names it is not known what is measured.
    """

    names: tuple[str, ...] = ()
    most: bool = True


class _Degree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    more: str = ""
    less: str = ""
    of: str = ""


class _Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    words: str
    making: str = ""


class _DegreeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    degree: tuple[_Degree, ...]
    event: tuple[_Named, ...]
    quantity: tuple[_Named, ...]
    unit: tuple[_Named, ...]


class Degrees(msgspec.Struct, frozen=True):
    """The lists: `forms` of adjectives, with what each measures of which nouns (none: of any), in their order.

    `events` are words that tell a date, `making` verbs by which a work comes to be, `quantities` nouns and `units`:
    each with the relations that hold the value.
    """

    forms: Mapping[str, tuple[tuple[frozenset[str], Measure], ...]]
    events: Mapping[str, tuple[str, ...]]
    making: Mapping[str, tuple[str, ...]]
    quantities: Mapping[str, tuple[str, ...]]
    units: Mapping[str, tuple[str, ...]]

    @property
    def nouns(self) -> frozenset[str]:
        """The nouns of which some adjective measures something of its own."""
        return frozenset(noun for known in self.forms.values() for nouns, _ in known for noun in nouns)

    def of_adjective(self, form: str, noun: str = "") -> Measure | None:
        """What the form of an adjective measures of things that the noun names; None where that is not known."""
        known = self.forms.get(form.lower(), ())
        named = [measure for nouns, measure in known if noun.lower() in nouns]
        return next(iter(named), None) or next((measure for nouns, measure in known if not nouns), None)


@lru_cache(maxsize=1)
def degrees() -> Degrees:
    """The lists of `degrees.toml`."""
    text = files("fedkg.reasoner.local").joinpath("degrees.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _DegreeFile)
    forms: dict[str, list[tuple[frozenset[str], Measure]]] = {}
    for degree in file.degree:
        nouns = frozenset(degree.of.split())
        for words, most in ((degree.more, True), (degree.less, False)):
            for form in words.split():
                forms.setdefault(form, []).append((nouns, Measure(degree.names, most)))
    return Degrees(
        {form: tuple(known) for form, known in forms.items()},
        {word: event.names for event in file.event for word in event.words.split()},
        {word: event.names for event in file.event for word in event.making.split()},
        {word: quantity.names for quantity in file.quantity for word in quantity.words.split()},
        {word: unit.names for unit in file.unit for word in unit.words.split()},
    )

"""What goes by a name: built in, or brought by another installed package through an entry point.

A package declares entry points in one of the groups `fedkg.methods`, `fedkg.retrievers`, `fedkg.models`,
`fedkg.embedders`, `fedkg.loaders`, `fedkg.dialects`. Nothing of it is imported before its name is asked for, so one
that is broken is an error only where it is named.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from fedkg.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Registry", "load", "names"]

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Registry(Generic[T]):
    """The things of one group by name: the `built_in` ones, and those of other packages.

    `fits` tells whether an object can be one of them, and `kind` names what it has to be, for the author of the
    package.
    """

    group: str
    built_in: Mapping[str, T]
    fits: Callable[[object], bool]
    kind: str

    def names(self) -> list[str]:
        """The built-in names, then the others; a built-in one is not replaced, which is said in the log."""
        for name in names(self.group):
            if name in self.built_in:
                log.warning("%s is not used: %r is a name of fedkg's own", _whence(self.group, name), name)
        return [*self.built_in, *(name for name in names(self.group) if name not in self.built_in)]

    def get(self, name: str) -> T | None:
        """What goes by that name; None where nothing does. Raises PluginError where a package fails to provide it."""
        if name in self.built_in:
            return self.built_in[name]
        return self._checked(name) if name in names(self.group) else None

    def name_of(self, thing: object) -> str:
        """The name that this object goes by; "" where it goes by none. Imports nothing: the object is there already."""
        built_in = (name for name, known in self.built_in.items() if known is thing)
        return next(built_in, "") or self._installed_name(thing)

    def _installed_name(self, thing: object) -> str:
        """The name that a package gives it: packages are looked through only for what fedkg has not itself."""
        return next((name for name in names(self.group) if _is_behind(self.group, name, thing)), "")

    def usable(self) -> dict[str, T]:
        """All that can be had, by name; what a package fails to provide is left out, and said in the log."""
        things: dict[str, T] = {}
        for name in self.names():
            try:
                thing = self.get(name)
            except PluginError as error:
                log.warning("%s", error)
            else:
                things |= {name: thing} if thing is not None else {}
        return things

    def _checked(self, name: str) -> T:
        thing = load(self.group, name)
        if not self.fits(thing):
            raise PluginError(f"{_whence(self.group, name)} is of type {type(thing).__name__}, and not {self.kind}")
        return thing  # type: ignore[return-value]  # `fits` is the proof


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages bring for the group, sorted. Imports none of them."""
    return tuple(sorted(_installed(group)))


@cache
def load(group: str, name: str) -> object:
    """The object behind an entry point, imported once. Raises PluginError: package, group and what failed."""
    try:
        return _installed(group)[name].load()
    except Exception as error:  # code of others may fail in any way
        raise PluginError(f"{_whence(group, name)} cannot be imported: {type(error).__name__}: {error}") from error


@cache
def _installed(group: str) -> Mapping[str, "EntryPoint"]:
    """The entry points of the group by name; of two with one name that of the package that sorts first."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # only what fedkg has not itself is looked for

    installed: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=_package):
        first = installed.setdefault(point.name, point)
        if first.value != point.value:
            log.warning("%s is not used: %s has the name, too", _described(point), _package(first))
    return installed


def _is_behind(group: str, name: str, thing: object) -> bool:
    """Whether the entry point names this object; one whose module is not imported does not."""
    if _installed(group)[name].module not in sys.modules:
        return False
    try:
        return load(group, name) is thing
    except PluginError:
        return False


def _whence(group: str, name: str) -> str:
    return _described(_installed(group)[name])


def _described(point: "EntryPoint") -> str:
    """An entry point as messages name it."""
    return f"{point.name!r} of the package {_package(point)} (entry point of {point.group}: {point.value})"


def _package(point: "EntryPoint") -> str:
    return point.dist.name if point.dist else ""

"""Names that installed packages bring: real distributions in a folder on the path."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedkg.common import plugins
from fedkg.common.plugins import Registry
from fedkg.errors import FedkgError, PluginError

GROUP = "fedkg.methods"
NUMBERS: Registry[int] = Registry(GROUP, {"one": 1}, lambda thing: isinstance(thing, int), "a whole number")


def install(site: Path, package: str, points: str, source: str = "") -> None:
    """A distribution with one module and these entry points, as an installer leaves it."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(source)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages; what is read of it is forgotten before and after."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    plugins._installed.cache_clear()
    plugins.load.cache_clear()
    yield tmp_path
    plugins._installed.cache_clear()
    plugins.load.cache_clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_name_of_a_package_is_found_beside_the_built_in_ones(site: Path) -> None:
    """Built-in names come first; nobody's name gives nothing."""
    install(site, "more-numbers", "two = more_numbers:TWO", "TWO = 2")
    assert (NUMBERS.names(), NUMBERS.usable()) == (["one", "two"], {"one": 1, "two": 2})
    assert (NUMBERS.get("one"), NUMBERS.get("two"), NUMBERS.get("three")) == (1, 2, None)


def test_nothing_is_imported_for_a_built_in_name(site: Path) -> None:
    """Neither is a package that fails an error for whoever does not name it."""
    install(site, "broken", "two = broken:TWO", "raise RuntimeError('no licence')")
    assert (NUMBERS.get("one"), NUMBERS.names()) == (1, ["one", "two"])
    assert "broken" not in sys.modules


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no licence')", "cannot be imported: RuntimeError: no licence"),
        ("import no_such_package", "cannot be imported: ModuleNotFoundError: No module named 'no_such_package'"),
        ("THREE = 3", "cannot be imported: AttributeError"),
        ("TWO = 'two'", "is of type str, and not a whole number"),
    ],
)
def test_a_broken_package_is_named(site: Path, caplog: pytest.LogCaptureFixture, source: str, reason: str) -> None:
    """With the group and what failed; a list of all names goes on without it, and the log tells of it."""
    install(site, "broken-package", "two = broken_package:TWO", source)
    with pytest.raises(PluginError, match="'two' of the package broken-package ") as caught:
        NUMBERS.get("two")
    assert isinstance(caught.value, FedkgError)
    assert (caught.value.exit_code, GROUP in str(caught.value), reason in str(caught.value)) == (2, True, True)
    assert NUMBERS.usable() == {"one": 1}
    assert reason in caplog.text


def test_a_built_in_name_is_not_replaced(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The clash is in the log."""
    install(site, "rival", "one = rival:ONE", "ONE = 11")
    with caplog.at_level(logging.WARNING):
        assert (NUMBERS.get("one"), NUMBERS.usable()) == (1, {"one": 1})
    assert "'one' of the package rival" in caplog.text


def test_of_two_packages_with_one_name_the_first_counts(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the packages' names, whichever was installed first; the other is in the log."""
    install(site, "b-numbers", "two = b_numbers:TWO", "TWO = 22")
    install(site, "a-numbers", "two = a_numbers:TWO", "TWO = 2")
    assert NUMBERS.get("two") == 2
    assert "'two' of the package b-numbers" in caplog.text
    assert "a-numbers has the name, too" in caplog.text


def test_a_package_is_imported_once(site: Path) -> None:
    """The same object each time."""
    install(site, "big-numbers", "two = big_numbers:TWO", "TWO = 10**30")
    assert NUMBERS.get("two") is NUMBERS.get("two")


def test_an_object_has_the_name_that_gets_it(site: Path) -> None:
    """Built in or of a package that is imported already; nothing is imported for an object that goes by no name."""
    install(site, "big-numbers", "two = big_numbers:TWO\nthree = big_numbers:THREE", "TWO = 10**30")
    install(site, "idle-numbers", "four = idle_numbers:FOUR", "FOUR = 4")
    two = NUMBERS.get("two")
    assert (NUMBERS.name_of(1), NUMBERS.name_of(two), NUMBERS.name_of("two")) == ("one", "two", "")
    assert "idle_numbers" not in sys.modules

"""docs/settings.md and docs/answers.md: every key, every variable and every exit code is told."""

import re

from fedkg.config.settings import ENVIRONMENT, Settings, Ttl, public
from fedkg.errors import FedkgError
from tests.support.documents import read

SETTINGS = read("settings")


def test_settings_and_variables_are_all_told() -> None:
    """Every setting and every environment variable has its place in the table."""
    documented = set(re.findall(r"`((?:search|budget|run|ttl)\.\w+|\w+)`", SETTINGS))
    shown = public(Settings())
    nested = {f"{group}.{key}" for group in ("search", "budget", "run") for key in shown[group]}
    nested |= {f"ttl.{kind}" for kind in Ttl.__struct_fields__}
    assert nested | (set(shown) - {"search", "budget", "run", "ttl"}) <= documented
    assert set(ENVIRONMENT) <= set(re.findall(r"FEDKG_\w+", SETTINGS))


def test_the_exit_codes_are_told() -> None:
    """Each class of errors ends with a code that the page lists."""
    kinds: list[type[FedkgError]] = [FedkgError, *FedkgError.__subclasses__()]
    codes = {kind.exit_code for kind in kinds}
    assert codes <= {int(code) for code in re.findall(r"(?m)^\| (\d) \|", read("answers"))}

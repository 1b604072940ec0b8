"""docs/settings.md and docs/answers.md: every key, every variable and every exit code is told."""

import json
import re
from functools import reduce

import msgspec

from fedkg.config.settings import ENVIRONMENT, Settings, Ttl, public
from fedkg.errors import FedkgError
from tests.support.documents import read, rows

SETTINGS = read("settings")
ASIDE = re.compile(r" ?\((?:[^()]|\([^()]*\))*\)")
VALUE = re.compile(r"`?(\[.*?\]|\"[^\"]*\"|true\b|false\b|\d[\d.]*)")
"""A value as JSON, whatever stands behind it."""


def test_settings_and_variables_are_all_told() -> None:
    """Every setting and every environment variable has its place in the table."""
    documented = set(re.findall(r"`((?:search|budget|run|ttl)\.\w+|\w+)`", SETTINGS))
    shown = public(Settings())
    nested = {f"{group}.{key}" for group in ("search", "budget", "run") for key in shown[group]}
    nested |= {f"ttl.{kind}" for kind in Ttl.__struct_fields__}
    assert nested | (set(shown) - {"search", "budget", "run", "ttl"}) <= documented
    assert set(ENVIRONMENT) <= set(re.findall(r"FEDKG_\w+", SETTINGS))


def test_the_defaults_are_those_of_the_code() -> None:
    """Where a row has as many values as keys; what is worked out from other settings has none in the code."""
    known, compared = json.loads(msgspec.json.encode(Settings())), []
    for key, (default, *_) in rows(SETTINGS).items():
        if default.split(" |")[0] in {"yes", "-"}:  # which methods heed it
            continue
        names = re.findall(r"`([\w.]+)`", ASIDE.sub("", f"`{key}`").rstrip("`") + "`")
        values = ASIDE.sub("", default).removesuffix(" |").split(", ")
        values *= len(names) if len(values) == 1 else 1
        for name, value in zip(names, values, strict=len(names) == len(values)):
            actual = reduce(dict.__getitem__, name.split("."), known)
            if actual is not None and (shown := VALUE.match(value)):
                assert json.loads(shown.group(1)) == actual, name
                compared.append(name)
            elif len(names) == len(values):
                assert actual is None or not value.startswith("none"), name
    assert len(compared) > 45


def test_the_exit_codes_are_told() -> None:
    """Each class of errors ends with a code that the page lists."""
    kinds: list[type[FedkgError]] = [FedkgError, *FedkgError.__subclasses__()]
    codes = {kind.exit_code for kind in kinds}
    assert codes <= {int(code) for code in re.findall(r"(?m)^\| (\d) \|", read("answers"))}

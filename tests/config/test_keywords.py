import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from fedkg.config.keywords import SettingsKeywords
from fedkg.config.settings import KEYWORDS, Budget, SearchSettings, Settings

ELSEWHERE = {"endpoints", "method", "retriever"}
"""Settings that a Session has parameters of its own for, since it takes objects as well."""


def accepted(hint: Any) -> set[Any]:
    """What a keyword's type takes, None apart; a sequence for a tuple, since both are accepted."""
    options = get_args(hint) if get_origin(hint) in {types.UnionType, Union} else (hint,)
    return {Sequence[str] if get_origin(option) is tuple else option for option in options} - {types.NoneType}


def settings() -> dict[str, Any]:
    """The type of every setting, by its keyword."""
    hints = {key: hint for key, hint in get_type_hints(Settings).items() if key not in ELSEWHERE}
    hints |= {
        KEYWORDS[f"search.{name}"]: hint
        for name, hint in get_type_hints(SearchSettings).items()
        if name not in ELSEWHERE
    }
    parts = get_type_hints(Budget).items()
    return hints | {KEYWORDS[f"{table}.{name}"]: hint for table in ("budget", "run") for name, hint in parts}


def test_the_keywords_are_the_settings() -> None:
    """Each setting of the structs is a keyword of its type, and there are no others; folders may be paths, too."""
    keywords = {name: accepted(hint) for name, hint in get_type_hints(SettingsKeywords).items()}
    for name, hint in settings().items():
        assert keywords.pop(name) - {Path} == accepted(hint), name
    assert keywords == {}
    assert set(settings()) == set(KEYWORDS.values()) - ELSEWHERE


def test_no_two_settings_share_a_keyword() -> None:
    """A keyword stands for one setting."""
    assert len(set(KEYWORDS.values())) == len(KEYWORDS)

"""Takes secrets out of what is written down: keys and passwords of environment and settings, and the contact."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from fedkg.config.settings import Settings

__all__ = ["MASK", "SHAPES", "Redaction"]

MASK = "[secret]"
SHORTEST = 6
"""Characters; a shorter word is part of too many others, and no secret anyway."""
NAMES = re.compile(r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)", re.IGNORECASE)
"""Names of environment variables that hold a secret."""
USERINFO = re.compile(r"//([^/?#\s@]+)@")
PARAMETER = re.compile(r"[?&][^=&#\s]*=([^&#\s]+)")
SHAPES = (r"\bsk-[A-Za-z0-9_-]{16,}", r"\bhf_[A-Za-z0-9]{20,}")
"""What keys look like that were not given as keys, such as in the place of a model's name."""


class Redaction:
    """Masks the secrets of one session wherever they stand; `names` are further names and URLs that may hold some."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], names: Sequence[str] = ()) -> None:
        secrets = {secret for secret in _secrets(settings, environ, names) if len(secret) >= SHORTEST}
        # the longest first: one may be part of another
        self._pattern = re.compile("|".join([*map(re.escape, sorted(secrets, key=len, reverse=True)), *SHAPES]))

    def applied(self, value: Any) -> Any:
        """The value, of lists, dicts and scalars, without secrets."""
        if isinstance(value, str):
            return self._pattern.sub(MASK, value)
        if isinstance(value, Mapping):
            return {self.applied(key): self.applied(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.applied(part) for part in value]
        return value


def _secrets(settings: Settings, environ: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    yield settings.contact
    for name, value in environ.items():
        if NAMES.search(name):
            yield value
        yield from _passwords(value)
    for text in _texts([msgspec.to_builtins(settings), names]):
        yield from _passwords(text)
        yield from (value for value in PARAMETER.findall(text) if "://" not in value)


def _passwords(text: str) -> Iterator[str]:
    """The passwords of the URLs in a text, as they are written and as they are meant."""
    for userinfo in USERINFO.findall(text):
        password = userinfo.partition(":")[2] or userinfo
        yield from (userinfo, password, unquote(password))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)

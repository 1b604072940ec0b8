"""What the vendors' wires have in common: their SDKs' names for things, when to try again, whose fault an error is."""

import contextlib
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from fedkg.errors import MissingExtraError, ModelError, ModelNameError, ModelUnreachableError
from fedkg.prompts import line

__all__ = ["TIMEOUT", "TRIES", "Vendor"]

TIMEOUT = 120.0  # seconds for one try
TRIES = 3
PATIENCE = 30.0  # seconds; a service that asks for a longer wait is not waited for
URL = re.compile(r"https?://[A-Za-z0-9._\[\]:-]+(/[\x21-\x7e]*)?")


@dataclass(frozen=True)
class Vendor:
    """A vendor's SDK: `name` of its package and extra, the variable of its `key`, and what its exceptions become.

    `errors` is by class name, since the SDK may not be installed; the most specific class that is listed wins. `base` is
    the SDK's most general exception.
    """

    name: str
    key: str
    base: str
    errors: Mapping[str, type[ModelError]]

    def sdk(self) -> ModuleType:
        """The SDK. Raises MissingExtraError, naming the extra."""
        try:
            return importlib.import_module(self.name)
        except ImportError as error:
            raise MissingExtraError(
                f"models named {self.name}:… need a further package", hint=f"pip install 'fedkg[{self.name}]'"
            ) from error

    def checked(self, model: str, key: str, base_url: str, *, required: bool) -> str:
        """The key without white space around it. Raises ModelNameError where model, key or URL cannot be used."""
        key = key.strip()
        if not model.strip():
            raise ModelNameError(f"{self.name}: names no model")
        if required and not key:
            raise ModelNameError(f"{self.name}:{model} needs a key: {self.key} is not set")
        if not (key.isascii() and key.isprintable()):
            raise ModelNameError(f"{self.key} holds characters that no key has")
        if base_url and not URL.fullmatch(base_url):
            raise ModelNameError("the base URL of a model must be a plain http or https URL, without user or password")
        return key

    def wait(self, error: Exception) -> bool | float:
        """Whether to try again, or after how many seconds the service asked to be tried again."""
        status = getattr(error, "status_code", None)
        if status is None:
            return isinstance(error, TimeoutError | self.sdk().APIConnectionError)
        if status not in (408, 429) and status < 500:
            return False
        try:
            asked = float(error.response.headers["retry-after"])  # type: ignore[attr-defined]  # has one if a status
        except (KeyError, ValueError):
            return bool(status != 429)  # a rate limit without a time is a spent quota
        return asked if 0 <= asked <= PATIENCE else False

    @contextlib.contextmanager
    def mapped(self, asked: str, mask: str) -> Iterator[None]:
        """Turns the SDK's exceptions into ours, with what the service said, bounded and without the key."""
        try:
            yield
        except (TimeoutError, getattr(self.sdk(), self.base)) as error:
            known: dict[str, type[ModelError]] = {"TimeoutError": ModelUnreachableError, **self.errors}
            kind = next(known[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in known)
            if getattr(error, "status_code", 0) == 408:  # not every SDK has a class for a server's own timeout
                kind = ModelUnreachableError
            said = str(error) or type(error).__name__
            secret = bool(mask) and mask in said
            text = line(said.replace(mask, "…") if secret else said, 300)
            # an error that quotes the key must not appear in a traceback either
            raise kind(f"{asked}: {text}", asked=asked) from (None if secret else error)

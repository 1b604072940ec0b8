"""An Embedder that sends nothing: vectors that are not kept cannot be had."""

from collections.abc import Sequence

from fedkg.embed.base import Matrix
from fedkg.errors import OfflineError

__all__ = ["OfflineEmbedder"]


class OfflineEmbedder:
    """Stands where a service would be asked; under its name the vectors that it gave earlier are found."""

    def __init__(self, name: str) -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Nothing. Raises OfflineError, which says what would have been asked."""
        message = (
            f"{self.name} is not asked in offline mode, and the cache does not hold its vector of {texts[0][:100]!r}"
        )
        raise OfflineError(message, asked=texts[0])

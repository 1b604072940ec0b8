"""An embedder: how often each letter stands in a text."""

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np

from fedkg.config.settings import Settings
from fedkg.embed.base import Embedder, Matrix, unit_rows


class Letters:
    """Vectors of 26 dimensions, which are kept under `name`: another version of a model needs another name."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), 26), float32, rows of length 1."""
        counts = [[text.lower().count(letter) for letter in ascii_lowercase] for text in texts]
        return unit_rows(np.array(counts, dtype=np.float32).reshape(len(texts), len(ascii_lowercase)))


def letters(model: str, settings: Settings) -> Embedder:
    """The embedder that `--embedder letters` names; `model` is what stands behind a colon."""
    return Letters()

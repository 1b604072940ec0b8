import numpy as np
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.offline import OfflineEmbedder
from fedkg.errors import OfflineError
from fedkg.testing import HashingEmbedder


async def test_kept_vectors_are_found_under_the_same_name() -> None:
    """What the embedder gave before is scored alike without it; a text that it did not see is an error."""
    store = MemoryStore()
    here, there = LazySimilarity(HashingEmbedder(), store), LazySimilarity(OfflineEmbedder("hashing"), store)
    scored = await here.scores("king of Ruritania", ["king", "queen"])
    assert np.array_equal(await there.scores("king of Ruritania", ["king", "queen"]), scored)
    with pytest.raises(OfflineError, match=r"hashing is not asked .* 'jester'"):
        await there.scores("king of Ruritania", ["jester"])
    here.close()
    there.close()

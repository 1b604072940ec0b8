"""The chat model that stands where a service would be asked."""

import pytest

from fedkg.errors import OfflineError
from fedkg.llm.base import Capability, Message, Request
from fedkg.llm.offline import OfflineModel


async def test_it_says_what_it_would_have_been_asked() -> None:
    """Call and model are named, and how the reply can be had; the error is bad input."""
    model = OfflineModel("openai:m", Capability(context=99))
    with pytest.raises(OfflineError, match=r"openai:m is not asked in offline mode.*call `plan`") as caught:
        await model.complete(Request("plan", (Message("user", "Who?"),), {}))
    assert (caught.value.asked, caught.value.exit_code, model.capability.context) == ("openai:m: plan", 2, 99)
    assert "--replies" in caught.value.hint
    await model.close()

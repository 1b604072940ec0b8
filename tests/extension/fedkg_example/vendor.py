"""A vendor of models. It has one, `example:first`, which always answers with the first path that it is shown."""

from fedkg.config.settings import Settings
from fedkg.errors import ModelNameError
from fedkg.llm.base import Capability, ChatModel, Completion, Request


class FirstPath:
    """A model that needs no service; one that does sends `request.messages` and `request.schema` to it here."""

    name = "example:first"
    capability = Capability(context=8_192, output=256)

    async def complete(self, request: Request) -> Completion:
        """The reply, with the tokens that the vendor counted: fedkg estimates them where they are 0."""
        return Completion('{"paths": [{"path": 1, "ends": []}]}')

    async def close(self) -> None:
        """Nothing to free."""


def connect(model: str, settings: Settings) -> ChatModel:
    """The model that `--model example:MODEL` names. Raises ModelNameError for one that there is not."""
    if model != "first":
        raise ModelNameError(f"the vendor example has no model {model!r}", hint="it has example:first")
    return FirstPath()

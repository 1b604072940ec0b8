"""A ChatModel that sends nothing: replies that are not kept cannot be had."""

from fedkg.errors import OfflineError
from fedkg.llm.base import Capability, Completion, Request

__all__ = ["OfflineModel"]


class OfflineModel:
    """Stands where a service would be asked, and needs neither its SDK nor a key.

    `name` and `capability` are the model's.
    """

    def __init__(self, name: str, capability: Capability) -> None:
        self.name = name
        self.capability = capability

    async def complete(self, request: Request) -> Completion:
        """Nothing. Raises OfflineError, which says which call would have been asked of which model."""
        raise OfflineError(
            f"{self.name} is not asked in offline mode, "
            f"and the cache does not hold its reply to this (call `{request.call}`)",
            asked=f"{self.name}: {request.call}",
            hint="a run has its replies only where it was asked with --replies, and with this model, these prompts and "
            "settings: ask once with --replies and without --mode offline, or import a pack of such a run",
        )

    async def close(self) -> None:
        """Nothing to free."""

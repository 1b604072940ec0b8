"""The typed calls of a reasoning model: over prompts to a chat model, or by words alone (`local`)."""

"""The typed calls that a reasoning model answers, over a chat model or without any."""

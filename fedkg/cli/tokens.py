"""Whose tokens a server takes: one from the environment, or those of a file of clients."""

import os
from pathlib import Path

from fedkg.errors import SettingsError
from fedkg.serve.clients import Client, digest, read_clients

__all__ = ["given_clients"]

TOKEN = "FEDKG_SERVE_TOKEN"  # noqa: S105  # the name of the variable
SHORTEST = 16
"""Characters of a token: a shorter one could be found by trying."""


def given_clients(file: Path | None) -> dict[str, Client]:
    """The clients of the file, and the one whose token is in the environment. Raises SettingsError."""
    token = os.environ.get(TOKEN, "")
    if token and len(token) < SHORTEST:
        raise SettingsError(f"{TOKEN} has fewer than {SHORTEST} characters", hint="openssl rand -hex 24 makes a token")
    clients = read_clients(file) if file else {}
    if token and "token" in clients:
        raise SettingsError(f"{file} has a client called token, which {TOKEN} names, too", hint="rename the client")
    return clients | ({"token": Client(digest(token))} if token else {})

"""What servers' certificates are checked against, and what is wrong with one, wherever in an error it stands."""

import os
import ssl
from functools import partial
from pathlib import Path

from fedkg.common.file_cache import FileCache
from fedkg.common.one_line import line
from fedkg.errors import SettingsError

__all__ = ["HINT", "fault", "trusted"]

HINT = "renew or correct the server's certificate; for an authority of your own, set SSL_CERT_FILE to its certificates"
VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")

CONTEXTS: FileCache[tuple[str, ...], ssl.SSLContext] = FileCache()
"""Reading the certificates of a machine takes some 20 ms, and each connection would do it again."""


def trusted() -> ssl.SSLContext:
    """What the connections to endpoints are checked against.

    That is the machine's certificates, or those that SSL_CERT_FILE and SSL_CERT_DIR name at the time of the call.
    Raises SettingsError where they name none.
    """
    places = tuple(os.environ.get(name, "") for name in VARIABLES)
    file, folder = (place or None for place in places)
    try:
        return CONTEXTS.get(places, [Path(place) for place in places if place], partial(_context, file, folder))
    except OSError as error:  # an SSLError is one
        message = f"the certificates cannot be read: {line(error, 200)}"
        raise SettingsError(message, hint=f"check the variables {' and '.join(VARIABLES)}") from error


def fault(error: BaseException | None) -> str:
    """Why the certificate is not trusted, in OpenSSL's words; "" where the error is about something else."""
    reason = ""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            # libraries' own errors of this class have no message of OpenSSL, their causes have one
            reason = line(getattr(error, "verify_message", "") or reason or "it cannot be verified", 200)
        error = error.__cause__ or error.__context__
    return reason


def _context(file: str | None, folder: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=file, capath=folder)
    context.set_alpn_protocols(["http/1.1"])
    return context

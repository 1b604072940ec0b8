"""What is wrong with a server's certificate, wherever in the causes of an error it stands."""

import ssl

from fedkg.common.one_line import line

__all__ = ["HINT", "fault"]

HINT = "renew or correct the server's certificate; for an authority of your own, set SSL_CERT_FILE to its certificates"


def fault(error: BaseException | None) -> str:
    """Why the certificate is not trusted, in OpenSSL's words; "" where the error is about something else."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return line(getattr(error, "verify_message", "") or "it cannot be verified", 200)
        error = error.__cause__ or error.__context__
    return ""

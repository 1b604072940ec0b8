"""Where a redirect may lead: to another path of the same origin, which is scheme, host and port.

Query, contact and password were given for one origin. Another port of the host may be another person's server, and the
way from http to https is one that the owner of the URL should write down.
"""

from urllib.parse import urljoin, urlsplit, urlunsplit

from fedkg.common.one_line import line
from fedkg.config.settings import masked
from fedkg.errors import UntrustedError
from fedkg.transport.host_state import origin

__all__ = ["MOST", "onward", "shown"]

MOST = 5
"""Redirects that are followed, one after the other."""
# a 303 leads to another resource, not to the same one elsewhere
MOVED = {301, 302, 307, 308}
REDIRECTING = {*MOVED, 303}


def onward(status: int, here: str, location: str, *, name: str, left: int) -> str | None:
    """The URL that has to be asked instead, on the origin of `here`; None for a reply that is no redirect.

    `left` is how many redirects may still be followed, `name` the endpoint's. Raises UntrustedError for any other
    redirect, with the address that it names.
    """
    if status not in REDIRECTING or not location:
        return None
    path = _path(here, location)
    if path and status in MOVED and left > 0:
        # authority and scheme are never those that the reply names: parsers differ on odd ones
        base = urlsplit(here)
        return f"{base.scheme}://{base.netloc}{path}"
    where = shown(here, location)
    message = f"{name} answered {status}: it redirects to {where}"
    hint = f"if you trust that address, put it in the place of the endpoint's URL: {where}"
    raise UntrustedError(message, endpoint=name, status=status, hint=hint)


def _path(here: str, location: str) -> str:
    """Path and query of the target, from "/" on; "" where it is on another origin, or nowhere."""
    try:
        target = urlsplit(urljoin(here, location))
        same = origin(here) == origin(target.geturl()) != ""
    except ValueError:
        return ""
    return urlunsplit(("", "", target.path or "/", target.query, "")) if same else ""


def shown(here: str, location: str) -> str:
    """The target as a person may read it: no user, no password, no query, one line."""
    try:
        target = urljoin(here, location)
    except ValueError:
        target = location
    return line(masked(target.partition("?")[0]), 200)

"""The proxy that this machine is set to use for a URL, by the variables that other programs go by.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in lower or upper case (the lower counts first), as in curl and in
Python's own library; hosts in NO_PROXY with or without port, IPv6 addresses with or without brackets.
"""

import urllib.request
from http import HTTPStatus

import yarl

from fedkg.errors import NotSparqlError, SettingsError

__all__ = ["HINT", "proxy_for", "refused"]

HINT = "check the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY"


def proxy_for(url: yarl.URL) -> yarl.URL | None:
    """The proxy for that URL; None where it is reached directly.

    Raises SettingsError for a proxy that cannot be used, such as SOCKS: to go around it would show the machine's
    address to whom it was to be hidden from. Its user and password are never shown.
    """
    proxies = urllib.request.getproxies()
    named = proxies.get(url.scheme) or proxies.get("all") or ""
    if not named or _bypassed(url.raw_host or "", url.port):
        return None
    try:
        proxy = yarl.URL(named if "://" in named else f"http://{named}")
    except ValueError:
        proxy = yarl.URL()
    if proxy.scheme not in ("http", "https") or not proxy.host:
        kind = proxy.scheme if proxy.scheme.isalnum() else "unreadable"
        raise SettingsError(f"the machine is set to a proxy of a kind that fedkg cannot use: {kind}", hint=HINT)
    return proxy


def refused(status: int, name: str) -> None:
    """Raises NotSparqlError where the status is a proxy's that wants a user and a password, not the endpoint's."""
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        raise NotSparqlError(f"{name}: the proxy answered 407", endpoint=name, hint=HINT)


def _bypassed(host: str, port: int | None) -> bool:
    names = [host, f"[{host}]"] if ":" in host else [host]
    return any(urllib.request.proxy_bypass(form) for name in names for form in (name, f"{name}:{port}"))

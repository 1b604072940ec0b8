"""The contact that operators ask for: asked once, and kept in the user's settings file.

It goes into the User-Agent only, never into a document, a log or a pack.
"""

import json
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import click
import msgspec

from fedkg.cli.show import plain
from fedkg.config.endpoint_spec import wants_contact
from fedkg.config.settings import Settings, user_file
from fedkg.errors import SettingsError

__all__ = ["contacted", "is_contact", "write_private"]

# what a User-Agent can carry as a comment: one line, no brackets
CONTACT = re.compile(r"[!-~]{1,200}")
MAIL_OR_PAGE = re.compile(r"[^\s@()<>,;\\\"]+@[^\s@()<>,;\\\"]+\.[a-z0-9-]+|https?://[^\s()<>\\\"]+", re.IGNORECASE)
TRIES = 3
KEY = re.compile(r"^[ \t]*contact[ \t]*=.*\n?", re.MULTILINE)


def contacted(settings: Settings) -> Settings:
    """The settings with a contact, where an endpoint's operator wants one: that of the user's file, else what is typed.

    Who is not at a terminal is not asked: the endpoint then raises SettingsError when it is connected.
    """
    name = wants_contact(settings)
    if not name:
        return settings
    # another settings file may have been named, which leaves the user's own unread
    contact = _kept()
    if not contact and sys.stdin.isatty() and sys.stderr.isatty():
        contact = _asked(name)
        _keep(contact)
    return msgspec.structs.replace(settings, contact=contact)


def is_contact(text: str) -> bool:
    """Whether the text is a mail address or a web page that a User-Agent can carry."""
    return bool(CONTACT.fullmatch(text) and MAIL_OR_PAGE.fullmatch(text))


def _asked(name: str) -> str:
    """What a person types. Raises SettingsError where it is no contact, several times over."""
    click.echo(
        f"The operator of {plain(name)} wants to know whom to write to if something goes wrong.\n"
        f"Your mail address or web page is sent with each request (in the User-Agent), and kept in {user_file()}.",
        err=True,
    )
    for _ in range(TRIES):
        click.echo("contact: ", err=True, nl=False)
        contact = sys.stdin.readline().strip()
        if is_contact(contact):
            return contact
        if not contact:
            break
        click.echo("That is no mail address (you@example.org) and no web page (https://…).", err=True)
    raise SettingsError(
        "no contact was given", hint="set FEDKG_CONTACT, or --contact, or type one when it is asked for"
    )


def _kept() -> str:
    try:
        contact = tomllib.loads(user_file().read_text(encoding="utf-8")).get("contact", "")
    except (OSError, ValueError):
        return ""
    return contact if isinstance(contact, str) else ""


def _keep(contact: str) -> None:
    """Puts the contact into the user's file, which no other user may read; what else stands there stays."""
    try:
        path = user_file().resolve()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        write_private(path, _with_contact(text, contact))
    except (OSError, ValueError) as error:
        click.echo(f"warning: the contact could not be kept: {plain(str(error), 500)}", err=True)


def _with_contact(text: str, contact: str) -> str:
    """The TOML text with the contact at its start, in place of an empty one. Raises ValueError where it is no TOML."""
    if "contact" in tomllib.loads(text):
        text = KEY.sub("", text, count=1)
    text = f"contact = {json.dumps(contact)}\n{text}"
    if tomllib.loads(text)["contact"] != contact:
        raise ValueError("the settings file cannot be changed")
    return text


def write_private(path: Path, text: str) -> None:
    """Puts the file in its place at once; it is made with mode 0600. Raises OSError."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, encoding="utf-8", delete=False) as file:
        draft = Path(file.name)
        try:
            file.write(text)
            file.close()
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

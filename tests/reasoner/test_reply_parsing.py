"""The one JSON object of a reply, whatever stands around it."""

import pytest

from fedkg.errors import ModelReplyError
from fedkg.reasoner.reply_parsing import extract


@pytest.mark.parametrize(
    "text",
    [
        '{"picks": [1]}',
        '```json\n{"picks": [1]}\n```',
        'Sure! {"picks": [1]} Hope that helps.',
        'Of {these} I pick {"picks": [1]}',
        '<think>maybe {"picks": [2]}</think>\n{"picks": [1]}',
        '\ufeff{"picks": [1]}',
    ],
)
def test_one_object_is_found_among_other_text(text: str) -> None:
    """Fences, talk, braces that are no JSON and a thinking block do not hide the one object."""
    assert extract(text) == {"picks": [1]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no complete"),
        ("[1, 2]", "no complete"),
        ('{"picks": [1', "no complete"),
        ('{"picks": [1]} {"picks": [2]}', "more than one"),
        ('{"picks": [1]}\n```\n{}\n```', "more than one"),
        ('{"picks": [{"offer": 1}, {"offer": 2}, {"off', "no complete"),
        ('{"picks": [1], "picks": [2]}', "a key twice"),
        ('{"picks": [{"offer": 1, "offer": 2}]}', "a key twice"),
        ('{"a":' * 5_000, "deeply"),
        (('{"a":' * 400 + "x") * 80, "no complete"),
        ("{" * 150_000, "no complete"),
        ('{"a": ' + "9" * 5_000 + "}", "digits"),
        (" " * 200_001, "longer"),
    ],
)
def test_no_object_or_two_are_refused(text: str, reason: str) -> None:
    """A reply without one clear object is refused with the reason.

    One that was cut as cut, whatever is whole in it.
    """
    with pytest.raises(ModelReplyError, match=reason):
        extract(text)

import logging

import msgspec
import pytest

from fedkg.errors import EndpointTimeoutError, OverLimitError, QuestionError, SettingsError, TopicError
from fedkg.mcp.problems import problem, unusable
from tests.support.extras import needs

pytestmark = needs("mcp", "mcp")


def test_a_hint_names_the_tool_that_helps() -> None:
    """Not the command line's options, which a model does not have."""
    shown = problem(TopicError("no entity is called 'x'", hint="--topic LABEL"))
    assert (shown.error, shown.message) == ("TopicError", "no entity is called 'x'")
    assert ("search" in shown.hint, "--" in shown.hint) == (True, False)


def test_a_subclass_has_the_hint_of_its_nearest_class() -> None:
    """A timeout is told apart from other failures of endpoints."""
    shown = problem(EndpointTimeoutError("too slow"))
    assert "fewer hops" in shown.hint


def test_too_much_at_once_says_when_to_call_again() -> None:
    """In whole seconds."""
    shown = problem(OverLimitError("busy", wait=1.2))
    assert (shown.retry_after, shown.retryable, shown.hint) == (2, True, "wait 2 seconds, then call again")


@pytest.mark.parametrize("error", [RuntimeError("secret"), SettingsError("secret")])
def test_a_fault_of_the_server_is_told_to_its_log_alone(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """The client learns no more than that there was one."""
    with caplog.at_level(logging.ERROR):
        shown = problem(error)
    assert "secret" not in msgspec.json.encode(shown).decode()
    assert "secret" in caplog.text


def test_what_a_label_hides_reaches_no_model() -> None:
    """Control, invisible and direction-changing characters are taken out of messages."""
    shown = problem(QuestionError("a\x1b[31mb\u202ec\u200bd"))
    assert shown.message.isprintable()


def test_arguments_that_do_not_fit_name_their_place() -> None:
    """So that the model can mend them."""
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert({"n": "x"}, dict[str, int])
    shown = unusable(error.value, ["question", "topics"])
    assert ("$[...]" in shown.message, "question, topics" in shown.hint) == (True, True)

"""Errors as HTTP has them."""

import inspect

import pytest

from fedkg import errors
from fedkg.errors import (
    EndpointTimeoutError,
    FedkgError,
    ModelRateError,
    OfflineError,
    OverLimitError,
    TopicError,
    TruncatedError,
)
from fedkg.serve.records import OWN_FAULT, told


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TopicError("x"), 404),
        (errors.QuestionError("x"), 400),
        (OfflineError("x"), 503),
        (EndpointTimeoutError("x"), 504),
        (TruncatedError("x"), 502),
        (ModelRateError("x"), 502),
        (OverLimitError("x", wait=1.0), 429),
        (FedkgError("x"), 500),
    ],
)
def test_the_nearest_class_decides_the_status(error: FedkgError, status: int) -> None:
    """A timeout is not any failure of an endpoint, and a topic that is not there no malformed request."""
    assert told(error).status == status


def test_every_error_has_a_status() -> None:
    """Only what is a fault of the server's own, such as a full disk or a wrong setting, is a 500."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, FedkgError)]
    problems = {kind.__name__: told(kind("x")) for kind in kinds}
    own = "CacheError FedkgError GraphFileError MissingExtraError ModelNameError PackError PluginError PromptError"
    faults = {name for name, problem in problems.items() if problem.status == 500}
    assert faults == {*own.split(), "SettingsError"}
    assert {problems[name].message for name in faults} == {OWN_FAULT.message}


def test_a_fault_of_the_server_tells_its_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    """What is wrong with its settings, files or code is no client's business, nor are its paths."""
    for error in (errors.SettingsError("no /secret/folder"), ZeroDivisionError("/secret/folder")):
        assert "secret" not in told(error).message
    assert caplog.text.count("/secret/folder") >= 2


def test_a_problem_says_what_helps() -> None:
    """Message, what was asked, hint, and whether a retry helps."""
    problem = told(errors.UnreachableError("no connection", asked="labels", hint="look at the cable"))
    assert (problem.error, problem.message) == ("UnreachableError", "no connection")
    assert (problem.asked, problem.hint, problem.retryable) == ("labels", "look at the cable", True)


def test_a_hint_names_no_option_of_the_command_line() -> None:
    """An unknown topic is looked up by a request."""
    problem = told(errors.TopicError("no entity is called so", hint="name it with --topic"))
    assert "GET /search" in problem.hint
    assert "--" not in problem.hint

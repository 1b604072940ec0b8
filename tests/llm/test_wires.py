"""What both vendors' adapters do alike, over real HTTP on loopback."""

import asyncio
import sys
import traceback
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from fedkg.common.tokens import estimate
from fedkg.core import deadline
from fedkg.errors import (
    MissingExtraError,
    ModelAuthError,
    ModelContextError,
    ModelDeclinedError,
    ModelError,
    ModelNameError,
    ModelOverloadedError,
    ModelQuotaError,
    ModelRateError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
    ModelUntrustedError,
)
from fedkg.llm.base import Capability, ChatModel, Completion, Message, Request
from fedkg.llm.sdk import headed
from fedkg.session import Session
from tests.support.wire_calls import MESSAGES, SCHEMA, ask, model

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def said(wire: Any, status: int, body: Any = None, **headers: str) -> Any:
    """A reply of the server."""
    return wire.said(body if body is not None else {}, status, {k.replace("_", "-"): v for k, v in headers.items()})


async def test_returns_text_and_counts_cached_tokens_into_the_input(vendor: Any, wire: Any) -> None:
    """Both wires give the text, 100 tokens in, 90 of them cached, and 5 out, 3 of them reasoning, by whatever names."""
    completion = await ask(vendor, wire, said(wire, 200, vendor.reply('{"n": 1}')))
    assert completion == Completion('{"n": 1}', 100, 5, 90, 3)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("", "m"),
        ("{home}", "m"),
        ("{home}/", "m"),
        ("http://127.0.0.1:8000/v1/", "m@http://127.0.0.1:8000/v1"),
        ("https://gateway.example/v1", "m@https://gateway.example/v1"),
    ],
)
async def test_the_name_tells_servers_apart(vendor: Any, url: str, name: str) -> None:
    """A model is called `vendor:MODEL`, at another server than the vendor's `vendor:MODEL@URL`."""
    made = vendor.kind("m", "k", url.format(home=vendor.kind.vendor.home))
    await made.close()
    assert made.name == f"{vendor.name}:{name}"


@pytest.mark.parametrize("status", [500, 503, 529, 408])
async def test_an_overloaded_service_is_tried_three_times(vendor: Any, wire: Any, status: int) -> None:
    """Errors of the server's side are retried twice and then raised, with its message and how often it was asked."""
    with pytest.raises(ModelOverloadedError, match="Overloaded") as caught:
        await ask(vendor, wire, said(wire, status, OVERLOADED))
    assert len(wire.asked) == 3
    assert caught.value.retries == 2


async def test_a_retry_may_succeed(vendor: Any, wire: Any) -> None:
    """A reply after an overload counts as if nothing had been."""
    good = said(wire, 200, vendor.reply("{}"))
    completion = await ask(vendor, wire, said(wire, 529, OVERLOADED), said(wire, 429, retry_after="2"), good)
    assert (completion.text, completion.retries) == ("{}", 2)
    assert len(wire.asked) == 3


async def test_retries_are_no_news(vendor: Any, wire: Any, caplog: pytest.LogCaptureFixture) -> None:
    """That a model is asked again is a line for those who debug, and no warning of the library that does it."""
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", logger="fedkg")  # a command in this process may have set another level
    caplog.set_level("DEBUG", logger="stamina")  # the command line silences it
    await ask(vendor, wire, said(wire, 529, OVERLOADED), said(wire, 200, vendor.reply("{}")))
    ours = [record for record in caplog.records if "asked again" in record.message]
    assert [record.levelname for record in ours] == ["DEBUG"]
    assert not [record for record in caplog.records if record.name == "stamina"]


async def test_no_wait_goes_beyond_the_deadline(vendor: Any, wire: Any) -> None:
    """A service that asks for more seconds than the question has left is not waited for, nor one that names no time."""
    for reply in (said(wire, 429, retry_after="20"), said(wire, 529)):
        wire.asked.clear()
        with pytest.raises(ModelError), deadline.within(4):
            await ask(vendor, wire, reply)
        assert len(wire.asked) == 1


@pytest.mark.parametrize(("options", "most"), [({}, 4), ({"concurrency": 2}, 2)])
async def test_so_many_requests_are_under_way(vendor: Any, wire: Any, options: dict[str, int], most: int) -> None:
    """Four, or as many as are asked for: a further call waits until one of the others has its reply."""
    wire.replies = [wire.said(vendor.reply("{}"), held=True)]
    async with model(vendor, wire.url, **options) as made:
        calls = [asyncio.ensure_future(made.complete(Request("choose", MESSAGES, SCHEMA))) for _ in range(6)]
        for _ in range(most):
            await wire.came.get()
        wire.release()
        await asyncio.gather(*calls)
    assert (wire.most, len(wire.asked)) == (most, 6)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelRefusedError),
        (401, ModelAuthError),
        (402, ModelQuotaError),
        (403, ModelAuthError),
        (404, ModelRefusedError),
        (409, ModelRefusedError),
        (413, ModelContextError),
        (422, ModelRefusedError),
    ],
)
async def test_a_refusal_is_not_tried_again(vendor: Any, wire: Any, status: int, kind: type[ModelError]) -> None:
    """A wrong key, a missing right, an unknown model or a bad request is raised at once."""
    with pytest.raises(kind, match="no such luck") as caught:
        await ask(vendor, wire, said(wire, status, {"error": {"type": "e", "message": "no such luck"}}))
    assert type(caught.value) is kind
    assert len(wire.asked) == 1
    assert caught.value.asked == f"{vendor.name}:m@{wire.url}{vendor.path}: choose"
    assert not caught.value.retryable


async def test_a_long_wait_is_raised_instead_of_waited_for(vendor: Any, wire: Any) -> None:
    """A rate limit that asks for more than 30 seconds ends the call, and says so."""
    with pytest.raises(ModelRateError) as caught:
        await ask(vendor, wire, said(wire, 429, {"error": {"message": "slow down"}}, retry_after="31"))
    assert len(wire.asked) == 1
    assert caught.value.wait == 31.0


@pytest.mark.parametrize(("asked", "wait"), [("7", 7.0), ("0", 0.0), ("nan", 0.0), ("-1", 0.0), ("soon", 0.0)])
async def test_the_wait_is_what_the_service_asked_for(vendor: Any, wire: Any, asked: str, wait: float) -> None:
    """A rate limit's Retry-After is obeyed; where it says no time that can be waited, the usual short waits do."""
    with pytest.raises(ModelRateError) as caught:
        await ask(vendor, wire, said(wire, 429, retry_after=asked))
    assert (caught.value.wait, len(wire.asked)) == (wait, 3)


async def test_a_spent_quota_is_not_tried_again(vendor: Any, wire: Any) -> None:
    """A quota comes with the status of a rate limit, but no wait helps."""
    limit = {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}
    quota = {"type": "insufficient_quota", "code": "project_spend_limit_exceeded"}
    error = {**(limit if vendor.name == "anthropic" else quota), "message": "pay"}
    with pytest.raises(ModelQuotaError):
        await ask(vendor, wire, said(wire, 429, {"type": "error", "error": error}, retry_after="1"))
    assert len(wire.asked) == 1


async def test_a_closed_port_is_unreachable(vendor: Any) -> None:
    """No connection is ModelUnreachableError, and it says why there is none."""
    async with model(vendor, "http://127.0.0.1:1") as made:
        with pytest.raises(ModelUnreachableError, match=r"Connection error: .*connect"):
            await made.complete(Request("choose", MESSAGES, SCHEMA))


async def test_a_silent_service_times_out(vendor: Any, wire: Any) -> None:
    """A service that accepts the request and says nothing is given up after the timeout, on each try.

    The error says how long that was, and what makes less work for a server that is slow.
    """
    with pytest.raises(ModelUnreachableError, match=r"no reply within 0\.5 seconds$") as caught:
        await ask(vendor, wire, wire.said(held=True), timeout=0.5)
    assert "--candidates" in caught.value.hint
    assert len(wire.asked) == 3


@pytest.mark.parametrize("body", [b"", b"<html>welcome</html>", b'{"content": 3, "choices": {}}', b"[]", b"\xff", b"{"])
async def test_a_body_of_another_kind_is_a_reply_error(vendor: Any, wire: Any, body: bytes) -> None:
    """Status 200 is not believed: a body that is no reply of this wire is ModelReplyError."""
    with pytest.raises(ModelReplyError):
        await ask(vendor, wire, said(wire, 200, body))


async def test_a_web_page_as_reply_is_a_reply_error(vendor: Any, wire: Any) -> None:
    """A page of a proxy or a wrong URL, sent as text/html, is ModelReplyError."""
    with pytest.raises(ModelReplyError):
        await ask(vendor, wire, said(wire, 200, b"<html></html>", content_type="text/html"))


async def test_a_cut_reply_is_a_reply_error(vendor: Any, wire: Any) -> None:
    """A reply that ran into the token limit is not handed on as if it were whole; its tokens were spent anyway."""
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await ask(vendor, wire, said(wire, 200, vendor.cut))
    assert (caught.value.tokens_in, caught.value.tokens_out, caught.value.retries) == (100, 5, 0)
    assert "output" in caught.value.hint


async def test_a_faulty_reply_of_a_server_that_counts_nothing_costs_all_the_same(vendor: Any, wire: Any) -> None:
    """Its tokens are estimated as those of a good reply are: a server that cuts every reply must not go on for ever."""
    uncounted = {key: value for key, value in vendor.cut.items() if key != "usage"}
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await ask(vendor, wire, said(wire, 200, uncounted))
    prompt = sum(estimate(message.content) for message in MESSAGES)
    assert (caught.value.tokens_in, caught.value.tokens_out) == (prompt, estimate('{"n"'))


@pytest.mark.parametrize("count", [-1, 1.5, "many", 2**80])
async def test_counts_that_are_none_are_a_reply_error(vendor: Any, wire: Any, count: Any) -> None:
    """A service that counts below zero would never reach a budget, so its reply does not count either."""
    reply = vendor.reply("{}")
    reply["usage"]["output_tokens" if vendor.name == "anthropic" else "completion_tokens"] = count
    with pytest.raises(ModelReplyError):
        await ask(vendor, wire, said(wire, 200, reply))


async def test_an_error_with_status_200_tells_what_it_can(vendor: Any, wire: Any) -> None:
    """Some servers send a prompt that is too long back with status 200."""
    message = "the request exceeds the available context size, try increasing it"
    with pytest.raises(ModelContextError):
        await ask(vendor, wire, said(wire, 200, {"error": {"code": 400, "message": message}}))


async def test_a_declined_request_is_a_refusal(vendor: Any, wire: Any) -> None:
    """A model that declines is ModelDeclinedError."""
    with pytest.raises(ModelDeclinedError, match="declines"):
        await ask(vendor, wire, said(wire, 200, vendor.declined))


async def test_the_key_goes_out_in_one_header_only(vendor: Any, wire: Any, key: str) -> None:
    """The key is sent as the wire wants it and nowhere else."""
    await ask(vendor, wire, said(wire, 200, vendor.reply("{}")))
    holding = [name for name, value in wire.asked[0].headers.items() if key in value]
    assert holding in (["x-api-key"], ["authorization"])
    assert key not in str(wire.asked[0].body)


async def test_a_service_that_quotes_the_key_does_not_leak_it(vendor: Any, wire: Any, key: str) -> None:
    """Neither the message nor the printed traceback holds the key, even where the service repeats it."""
    with pytest.raises(ModelAuthError) as caught:
        await ask(vendor, wire, said(wire, 401, {"error": {"message": f"wrong key {key}!"}}))
    assert "wrong key …!" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert key not in shown


async def test_event_loops_share_no_connection(vendor: Any, wire: Any) -> None:
    """One model serves loops one after the other and side by side, without a retry.

    Each keeps a connection of its own.
    """
    wire.replies = [said(wire, 200, vendor.reply("{}"))]
    request = Request("plan", MESSAGES, SCHEMA)

    async def elsewhere(made: ChatModel) -> list[Completion]:
        return [await made.complete(request) for _ in range(2)]

    async with model(vendor, wire.url) as made:
        completions = [await made.complete(request)]
        completions += await asyncio.to_thread(asyncio.run, elsewhere(made))
        side_by_side = [asyncio.to_thread(asyncio.run, elsewhere(made)) for _ in range(2)]
        completions += [await made.complete(request), *chain(*await asyncio.gather(*side_by_side))]
    assert [(completion.text, completion.retries) for completion in completions] == [("{}", 0)] * 8
    assert len(wire.peers) == 4


async def test_a_closed_model_opens_again(vendor: Any, wire: Any) -> None:
    """After `close` a further request has a connection of its own."""
    wire.replies = [said(wire, 200, vendor.reply("{}"))]
    made = vendor.make(wire.url)
    for _ in range(2):
        assert (await made.complete(Request("plan", MESSAGES, SCHEMA))).text == "{}"
        await made.close()
        await made.close()
    assert len(wire.peers) == 2


async def test_no_repr_holds_the_key(vendor: Any, wire: Any, key: str) -> None:
    """A model can be printed."""
    async with model(vendor, wire.url) as made:
        assert key not in repr(made) + str(made)


async def test_redirects_are_not_followed(vendor: Any, wire: Any) -> None:
    """A redirect does not carry key and prompt to another place."""
    with pytest.raises(ModelUntrustedError):
        await ask(vendor, wire, said(wire, 307, location=f"{wire.url}/elsewhere"))
    assert len(wire.asked) == 1


async def test_what_a_service_says_becomes_one_bounded_line(vendor: Any, wire: Any) -> None:
    """A service's message is shown without newlines and escape codes, and at most 300 characters of it."""
    with pytest.raises(ModelRefusedError) as caught:
        await ask(vendor, wire, said(wire, 400, {"error": {"message": "a\n\x1b[31mb" + "c" * 10_000}}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_a_missing_key_names_its_variable(vendor: Any) -> None:
    """Without the key there is ModelNameError that says which variable to set, and how."""
    with pytest.raises(ModelNameError, match=vendor.variable) as caught:
        vendor.module.connect("m", environ={})
    assert caught.value.hint == f"export {vendor.variable}=…"


async def test_a_wrong_key_names_the_variable_that_it_came_from(vendor: Any, wire: Any, key: str) -> None:
    """Where the vendor's own variable says the URL its key goes along, and no other one is named."""
    wire.replies = [said(wire, 401, {"error": {"message": "no"}})]
    made = vendor.kind.connect("m", "", {vendor.variable: key, vendor.kind.vendor.url: wire.url + vendor.path})
    with pytest.raises(ModelAuthError) as caught:
        await made.complete(Request("plan", MESSAGES, SCHEMA))
    await made.close()
    assert caught.value.hint == f"check the key: it is taken from the variable {vendor.variable}"


async def test_what_is_not_found_tells_the_form_of_the_base_url(vendor: Any, wire: Any) -> None:
    """OpenAI's wire has /v1 at the end of its base URL, Anthropic's has not."""
    with pytest.raises(ModelRefusedError) as caught:
        await ask(vendor, wire, said(wire, 404, b"<html>nothing here</html>"))
    assert f"http://127.0.0.1:8000{vendor.path} " in caught.value.hint


async def test_a_server_that_is_named_gets_no_key_of_the_vendor(vendor: Any, wire: Any, key: str) -> None:
    """With @URL only FEDKG_MODEL_KEY goes out, and where it is not set nothing; a server that wants one says which."""
    url, environ = wire.url + vendor.path, {vendor.variable: key}
    wire.replies = [said(wire, 401, {"error": {"message": "a key is needed"}})]
    for named in ({}, {"FEDKG_MODEL_KEY": "fk-gateway"}):
        made = vendor.kind.connect("m", url, {**environ, **named})
        with pytest.raises(ModelAuthError) as caught:
            await made.complete(Request("plan", MESSAGES, SCHEMA))
        await made.close()
        assert "FEDKG_MODEL_KEY" in caught.value.hint
    bare, keyed = (str(asked.headers) for asked in wire.asked)
    assert key not in bare + keyed
    assert ("fk-gateway" in bare, "fk-gateway" in keyed) == (False, True)


VARIABLES = {
    "ANTHROPIC_AUTH_TOKEN": "canary",
    "ANTHROPIC_CUSTOM_HEADERS": "x-team: canary\nauthorization: Bearer canary\nx-api-key: canary",
    "OPENAI_ADMIN_KEY": "canary",
    "OPENAI_CUSTOM_HEADERS": "x-team: canary\nauthorization: Bearer canary",
    "OPENAI_ORG_ID": "canary",
    "OPENAI_PROJECT_ID": "canary",
}


async def test_a_server_that_is_named_gets_nothing_of_the_vendor_s_variables(
    vendor: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDKs read further variables by themselves: headers, organisation and project do not go to another server."""
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    wire.replies = [said(wire, 200, vendor.reply("{}"))]
    for url, base in ((wire.url + vendor.path, ""), ("", wire.url + vendor.path)):
        environ = {"FEDKG_MODEL_KEY": "fk", vendor.variable: "vk", f"{vendor.name.upper()}_BASE_URL": base}
        made = vendor.kind.connect("m", url, environ)
        await made.complete(Request("plan", MESSAGES, SCHEMA))
        await made.close()
    named, other = (asked.headers for asked in wire.asked)
    assert not [name for name, value in named.items() if "canary" in value]
    assert [name for name, value in named.items() if "fk" in value] in (["x-api-key"], ["authorization"])
    assert other["x-team"] == "canary"


async def test_what_a_model_can_do_is_looked_up_by_its_name(vendor: Any) -> None:
    """`connect` asks for the record of the name that the model will have, with the URL that the environment says."""
    names: list[str] = []

    def find(name: str) -> Capability:
        names.append(name)
        return Capability(context=77)

    environ = {f"{vendor.name.upper()}_BASE_URL": "http://127.0.0.1:1/v1"}
    made = vendor.kind.connect("m", "", environ, find)
    await made.close()
    assert names == [f"{vendor.name}:m@http://127.0.0.1:1/v1"]
    assert made.name == vendor.kind.named("m", "", environ) == names[0]
    assert made.capability.context == 77


async def test_a_model_by_instruction_is_sent_no_schema(vendor: Any, wire: Any) -> None:
    """Where the record does not say `native`, the prompt alone asks for the form; `output` bounds the reply."""
    await ask(vendor, wire, said(wire, 200, vendor.reply("{}")), capability=Capability(output=321))
    body = wire.asked[0].body
    assert {"output_config", "response_format"}.isdisjoint(body)
    assert body["max_tokens"] == 321


async def test_without_a_system_role_the_first_user_turn_says_it(vendor: Any, wire: Any) -> None:
    """The system text stands at the head of the first user turn, and nowhere else."""
    await ask(vendor, wire, said(wire, 200, vendor.reply("{}")), capability=Capability(system=False))
    body = wire.asked[0].body
    assert body["messages"] == [{"role": "user", "content": "Reply in JSON.\n\nWhich?"}]
    assert "system" not in body


def test_a_conversation_keeps_its_order_without_a_system_role() -> None:
    """Only the first user turn changes; without a system text nothing does."""
    turns = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    assert headed(turns) == turns
    assert headed([Message("system", "s"), *turns]) == [Message("user", "s\n\na"), *turns[1:]]
    assert headed([Message("system", "s")]) == []


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", "a\x00b"])
def test_a_key_that_cannot_be_a_header_is_refused(vendor: Any, key: str) -> None:
    """A mangled key is named as such before anything is sent, without being shown."""
    with pytest.raises(ModelNameError, match=vendor.variable) as caught:
        vendor.module.connect("m", environ={vendor.variable: key})
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://u:p@h/v1",
        "http://h/v1?key=k",
        "http://h/v1#k",
        "http://a b/",
        "http://h:/v1",
        "http://h:0/v1",
        "http://h:65536/v1",
        "http://h:80:80/",
        "http://[/v1",
    ],
)
def test_a_base_url_that_is_none_is_refused(vendor: Any, url: str) -> None:
    """Only plain http and https URLs without a password in them lead to a service; the error does not repeat them."""
    with pytest.raises(ModelNameError, match="must be a plain http or https URL") as caught:
        vendor.module.connect("m", url, {"FEDKG_MODEL_KEY": "k"})
    assert url not in str(caught.value)
    assert f"http://127.0.0.1:8000{vendor.path}," in caught.value.hint


def test_an_empty_model_name_is_refused(vendor: Any) -> None:
    """`vendor:` names no model."""
    with pytest.raises(ModelNameError, match="names no model"):
        vendor.module.connect(" ", environ={vendor.variable: "k"})


async def test_connect_takes_key_and_url_from_the_environment(vendor: Any, wire: Any, key: str) -> None:
    """The variables that the vendors' own SDKs read are read here too; white space around the key does not matter."""
    url = wire.url + ("/v1" if vendor.name == "openai" else "")
    environ = {vendor.variable: f" {key}\n", f"{vendor.name.upper()}_BASE_URL": url}
    wire.replies = [said(wire, 200, vendor.reply("{}"))]
    made = vendor.module.connect("m", environ=environ)
    assert (await made.complete(Request("plan", MESSAGES, SCHEMA))).text == "{}"
    await made.close()


def test_a_missing_package_names_the_extra(vendor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK there is MissingExtraError with the command that installs it."""
    monkeypatch.setitem(sys.modules, vendor.name, None)
    with pytest.raises(MissingExtraError) as caught:
        vendor.module.connect("m", environ={vendor.variable: "k"})
    assert caught.value.hint == f"pip install 'fedkg[{vendor.name}]'"


FILM = '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Alien" ; <http://x/year> 1979 ; <http://x/min> 117 .'
PLANNED = (
    '{"keywords": ["year"], "planning_steps": [], "declarative_statement": "*placeholder*", "kind": "entities", '
    '"mentions": ["Alien"], "options": []}'
)


@pytest.mark.parametrize("number", ["99", "-1", "1.5", "NaN"])
async def test_numbers_of_no_offer_are_sent_back_once_and_never_end_in_none(
    vendor: Any, wire: Any, tmp_path: Path, number: str
) -> None:
    """The second time the ranking chooses, with a warning; nothing was judged, so that "none" is not said."""
    (tmp_path / "film.ttl").write_text(FILM, encoding="utf-8")
    bad = f'{{"picks": [{{"offer": {number}, "ends": []}}], "decides": true, "more": false}}'
    wire.replies = [wire.said(vendor.reply(text)) for text in (PLANNED, bad, bad, '{"paths": []}')]
    options: dict[str, Any] = {"embedder": "bm25", "cache": False, "search.depth": 2, "search.show_all": 0}
    async with Session(f"generic@{tmp_path / 'film.ttl'}", chat=vendor.make(wire.url), **options) as session:
        answer = await session.ask("When was Alien made?")
    assert [call.call for call in answer.ledger] == ["plan", "choose", "choose", "answer"]
    assert (answer.status, answer.answers) == ("not_found", ())
    assert [warning for warning in answer.warnings if "chosen by the retriever's ranking" in warning]


LONG = Request("choose", MESSAGES, SCHEMA, most=50)


async def bounded(vendor: Any, wire: Any, *replies: Any) -> Completion:
    """The completion of a request whose reply can need 50 tokens."""
    wire.replies = list(replies)
    async with model(vendor, wire.url) as made:
        return await made.complete(LONG)


def unthinking(body: dict[str, Any]) -> dict[str, Any]:
    """The reply of a model that did not think before it."""
    usage = {
        key: value
        for key, value in body["usage"].items()
        if not key.endswith(("output_tokens_details", "completion_tokens_details"))
    }
    if "content" in body:
        return body | {"usage": usage, "content": [block for block in body["content"] if block["type"] == "text"]}
    return body | {"usage": usage}


def lengths(wire: Any) -> list[int]:
    """The tokens that the replies to the requests might have."""
    return [asked.body["max_tokens"] for asked in wire.asked]


async def test_a_reply_may_be_as_long_as_its_call_can_need(vendor: Any, wire: Any) -> None:
    """That goes out instead of all that the record allows; a reply beyond it is cut, and the hint says why."""
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await bounded(vendor, wire, wire.said(unthinking(vendor.cut)))
    assert lengths(wire) == [50]
    assert "writes on" in caught.value.hint


async def test_a_model_that_runs_on_has_its_lists_bounded(vendor: Any, wire: Any) -> None:
    """A server of one's own is asked again with the schema so, and so at once from then on; what both cost counts."""
    schema = {"type": "object", "properties": {"picks": {"type": "array", "items": {"type": "integer"}}}}
    request = Request("choose", MESSAGES, schema, most=50, lengths={"picks": 3})
    wire.replies = [wire.said(unthinking(vendor.cut)), wire.said(unthinking(vendor.reply('{"picks": [1]}')))]
    async with model(vendor, wire.url, capability=Capability(structured="native")) as made:
        first = await made.complete(request)
        await made.complete(request)
    assert (first.text, first.tokens_out) == ('{"picks": [1]}', 10)
    assert [str(asked.body).count("'maxItems': 3") for asked in wire.asked] == [0, 1, 1]
    assert lengths(wire) == [50, 50, 50]


async def test_a_model_that_thinks_has_all_of_its_output(vendor: Any, wire: Any) -> None:
    """A reply that thoughts left no room for is asked for again, with the tokens of both; further ones at once."""
    wire.replies = [wire.said(vendor.cut), wire.said(vendor.reply('{"n": 1}'))]
    async with model(vendor, wire.url) as made:
        first = await made.complete(LONG)
        await made.complete(LONG)
        whole = made.capability.output
    assert (first.text, first.tokens_in, first.tokens_out) == ('{"n": 1}', 200, 10)
    assert lengths(wire) == [50, whole, whole]


async def test_thoughts_that_do_not_end_are_a_cut_reply(vendor: Any, wire: Any) -> None:
    """Then nothing is asked a third time, and what both replies cost is counted."""
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await bounded(vendor, wire, wire.said(vendor.cut))
    assert (len(wire.asked), caught.value.tokens_in, caught.value.tokens_out) == (2, 200, 10)
    assert "output" in caught.value.hint


async def test_a_request_for_free_text_is_sent_no_schema(vendor: Any, wire: Any) -> None:
    """Who writes paths freely is held to nothing, whatever the service could hold it to."""
    wire.replies = [said(wire, 200, vendor.reply("<PATH> A → r → B </PATH>"))]
    async with model(vendor, wire.url, capability=Capability(structured="native")) as made:
        completion = await made.complete(Request("reasoning-paths", (Message("user", "Write a path."),), {}, beams=3))
    assert completion.text == "<PATH> A → r → B </PATH>"
    assert {"output_config", "response_format"}.isdisjoint(wire.asked[0].body)

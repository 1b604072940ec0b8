"""Every error that fedkg raises on purpose.

    FedkgError
    ├── InputError                  the caller's input cannot be used (exit code 2)
    │   ├── TermError               text that is no IRI or N-Triples term
    │   ├── ProfileError            an endpoint profile that does not fit
    │   ├── SettingsError           settings that do not fit
    │   ├── GraphFileError          an RDF file that cannot be read
    │   ├── QuestionError           a question that cannot be asked
    │   ├── TopicError              a topic entity that nothing matches
    │   ├── MethodError             a method that is not known, or that the model cannot serve
    │   ├── ModelNameError          a model or embedder that is not known, or has no key
    │   ├── MissingExtraError       an optional package that is not installed
    │   ├── PluginError             an installed package fails to provide what it declares
    │   ├── PromptError             a template or schema that cannot be used
    │   ├── DocumentError           a file that is no answer document or transcript
    │   ├── OfflineError            something that is not kept was asked for in offline mode
    │   ├── PackError               a pack that is damaged, or cannot be made
    │   ├── SessionClosedError      a session that is closed, or was closed while it answered
    │   └── DatasetError            a benchmark or question file that cannot be read
    ├── EndpointError               an endpoint did not answer as it should (exit code 3)
    │   ├── UnreachableError        no connection, or it broke
    │   │   └── UntrustedError          only over a bad certificate, or at an address that it redirects to
    │   ├── EndpointTimeoutError    the endpoint or the deadline cut the query off
    │   ├── RefusedError            throttled, overloaded or banned
    │   ├── TruncatedError          rows are missing from the reply
    │   ├── NotSparqlError          the reply is no SPARQL result
    │   └── QueryRejectedError      the endpoint does not accept the query
    ├── ModelError                  a language model did not answer as it should (exit code 3)
    │   ├── ModelUnreachableError   no connection, or a timeout
    │   │   ├── ModelOverloadedError    the service has too much to do
    │   │   └── ModelUntrustedError     only over a bad certificate, or at an address that it redirects to
    │   ├── ModelRefusedError       the service does not accept the request
    │   │   ├── ModelAuthError          a wrong key, or one without the right to this
    │   │   ├── ModelQuotaError         the account's money or quota is spent
    │   │   ├── ModelRateError          too many requests or tokens a minute
    │   │   ├── ModelContextError       prompt and reply are longer than the model's context
    │   │   ├── ModelDeclinedError      the model declines to answer
    │   │   └── ModelFilteredError      a content filter stopped request or reply
    │   └── ModelReplyError         a reply that is malformed, cut, or does not fit its schema
    ├── CacheError                  the cache cannot be read or written (exit code 3)
    ├── BudgetError                 calls, tokens, money or seconds are spent (exit code 4)
    └── OverLimitError              a server has too much to do, or the client has had its share (exit code 4)
        └── DrainingError               a server is shutting down

Each error says what was being asked (`asked`), whether the same request may work later (`retryable`) and what a
person can do (`hint`).
"""

from enum import StrEnum
from typing import Any, ClassVar

__all__ = [
    "Action",
    "BudgetError",
    "CacheError",
    "DatasetError",
    "DocumentError",
    "DrainingError",
    "EndpointError",
    "EndpointTimeoutError",
    "FedkgError",
    "GraphFileError",
    "InputError",
    "MethodError",
    "MissingExtraError",
    "ModelAuthError",
    "ModelContextError",
    "ModelDeclinedError",
    "ModelError",
    "ModelFilteredError",
    "ModelNameError",
    "ModelOverloadedError",
    "ModelQuotaError",
    "ModelRateError",
    "ModelRefusedError",
    "ModelReplyError",
    "ModelUnreachableError",
    "ModelUntrustedError",
    "NotSparqlError",
    "OfflineError",
    "OverLimitError",
    "PackError",
    "PluginError",
    "ProfileError",
    "PromptError",
    "QueryRejectedError",
    "QuestionError",
    "RefusedError",
    "SessionClosedError",
    "SettingsError",
    "TermError",
    "TopicError",
    "TruncatedError",
    "UnreachableError",
    "UntrustedError",
]


class Action(StrEnum):
    """What helps after an endpoint's error."""

    RETRY = "retry the same request"
    RESHAPE = "ask for less at once"
    STOP = "do not ask this again"


class FedkgError(Exception):
    """Base of all errors that fedkg raises on purpose; `exit_code` is what the command line ends with.

    `usage` is what the question that it ended had cost until then, a `records.Usage`; None where it ended none.
    """

    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, asked: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.asked = asked
        self.hint = hint or self.default_hint
        self.usage: Any = None

    def __str__(self) -> str:
        return self.message


class InputError(FedkgError):
    """Raised when the caller's input cannot be used."""

    exit_code = 2


class TermError(InputError):
    """Raised when text is no IRI or N-Triples term, or a term cannot be written into a query."""

    default_hint = 'write a full IRI such as http://www.wikidata.org/entity/Q7186, without spaces or <>"{}|^`\\'


class ProfileError(InputError):
    """Raised when an endpoint profile is unknown, or has an unknown key or a wrong type; names file and key."""

    default_hint = "`fedkg endpoints list` shows the known profiles; a URL or an RDF file works too"


class SettingsError(InputError):
    """Raised when a settings file, environment variable or flag does not fit; names its source and key."""


class GraphFileError(InputError):
    """Raised when an RDF file is missing, of unknown format or malformed; names file and line."""

    default_hint = (
        "files must be .nt, .ttl, .rdf, .owl, .jsonld, .n3, .nq or .trig, optionally .gz, or a folder of such"
    )


class QuestionError(InputError):
    """Raised when a question is empty or too long to be one."""

    default_hint = "ask one question in one or two sentences"


class TopicError(InputError):
    """Raised when no entity matches a topic, or a question mentions no known entity; names the nearest labels."""

    default_hint = (
        "name the entity with --topic LABEL or --topic IRI; `fedkg search TEXT` shows the entities that it has"
    )


class MethodError(InputError):
    """Raised when a method is not known, or needs what model or endpoint cannot do; the hint names what can."""


class ModelNameError(InputError):
    """Raised when a model or embedder name is unknown, or its key is not set; names the variable."""

    default_hint = "models: local, anthropic:MODEL, openai:MODEL, openai:MODEL@http://127.0.0.1:8000/v1, hf:FOLDER"


class MissingExtraError(InputError):
    """Raised when an optional package is needed that is not installed; names the extra."""


class PluginError(InputError):
    """Raised when an installed package lacks what its entry point declares; names package, group and cause."""

    default_hint = "mend or uninstall that package; all other names work without it"


class PromptError(InputError):
    """Raised when a prompt folder is incomplete, or a template asks for a value that it is not given."""


class DocumentError(InputError):
    """Raised when a file is no answer document or transcript of a known version."""

    default_hint = "`fedkg ask --json … > answer.json` writes one"


class OfflineError(InputError):
    """Raised when a question needs in offline mode what is not kept; names the endpoint and what it would be asked."""

    default_hint = "run it once without --mode offline, or import a pack that holds it: `fedkg cache import PACK`"


class PackError(InputError):
    """Raised when a pack is damaged, or holds what no pack holds, or cannot be made; names the entry."""

    default_hint = "`fedkg cache export PACK` makes a pack of the latest run"


class SessionClosedError(InputError):
    """Raised when a closed session is asked something, and by questions that were under way when it was closed."""

    default_hint = "make a new Session; what the old one fetched is in the cache"


class DatasetError(InputError):
    """Raised when a benchmark is unknown or its files cannot be read; names file and line."""


class EndpointError(FedkgError):
    """Raised when an endpoint did not answer as it should.

    `endpoint` is its name, `status` the HTTP status (0 where there was none), `action` what helps, `wait` the seconds
    that the endpoint asked to wait (0.0 where it did not say).
    """

    exit_code = 3
    action: ClassVar[Action] = Action.STOP

    def __init__(
        self, message: str, *, endpoint: str = "", status: int = 0, wait: float = 0.0, asked: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, asked=asked, hint=hint)
        self.endpoint = endpoint
        self.status = status
        self.wait = wait


class UnreachableError(EndpointError):
    """Raised when no connection could be made, or it broke before the reply was whole."""

    retryable = True
    action = Action.RETRY
    default_hint = "check the URL and the network; `fedkg endpoints check NAME` tries it"


class UntrustedError(UnreachableError):
    """Raised when it answers only in a way that is not trusted: a bad certificate, a redirect to another origin."""

    retryable = False
    action = Action.STOP
    default_hint = "use the URL at which the endpoint itself answers, over https with a valid certificate"


class EndpointTimeoutError(EndpointError):
    """Raised when the endpoint, a gateway or our own deadline cut the query off."""

    action = Action.RESHAPE
    default_hint = "smaller batches are tried by themselves; the profile's limits.timeout is the time for one request"


class RefusedError(EndpointError):
    """Raised when the endpoint throttles, is overloaded or has banned this client; `wait` says for how long."""

    retryable = True
    action = Action.RETRY
    default_hint = "wait; set a contact (FEDKG_CONTACT) so that the operator can reach you"


class TruncatedError(EndpointError):
    """Raised when the reply is valid but rows are missing: a row cap, an anytime timeout, a partial status."""

    action = Action.RESHAPE
    default_hint = "smaller batches are tried by themselves"


class NotSparqlError(EndpointError):
    """Raised when the reply is no SPARQL result at all: a web page, another format, an empty body."""

    default_hint = "is the URL the SPARQL endpoint itself, not its web form?"


class QueryRejectedError(EndpointError):
    """Raised when the endpoint replies that the query is wrong or not allowed."""

    default_hint = "the endpoint may be of another engine than its profile says; try the profile `generic`"


class ModelError(FedkgError):
    """Raised when a language model did not answer as it should.

    `wait` is the seconds that the service asked to wait (0.0 where it did not say), `retries` how often the request was
    sent again before this was raised, `tokens_in` and `tokens_out` what the failed call cost all the same.
    """

    exit_code = 3
    wait: float = 0.0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class ModelUnreachableError(ModelError):
    """Raised when the model's service cannot be reached, breaks, or is too slow."""

    retryable = True
    default_hint = "check the base URL and the service's status; the finished hops stay cached"


class ModelOverloadedError(ModelUnreachableError):
    """Raised when the model's service says that it has too much to do."""

    default_hint = "try again in some minutes; the finished hops stay cached"


class ModelUntrustedError(ModelUnreachableError):
    """Raised when the service answers only over a bad certificate, or redirects: key and prompt go to no other URL."""

    retryable = False
    default_hint = "use the base URL at which the service itself answers, over https with a valid certificate"


class ModelRefusedError(ModelError):
    """Raised when the service does not accept the request, for a reason that has no class of its own below."""

    default_hint = "check the model's name and the base URL"


class ModelAuthError(ModelRefusedError):
    """Raised when the service does not accept the key, or the key has no right to this model."""

    default_hint = (
        "check the key: ANTHROPIC_API_KEY or OPENAI_API_KEY; for a server that is named by @URL it is FEDKG_MODEL_KEY"
    )


class ModelQuotaError(ModelRefusedError):
    """Raised when the account's credit, quota or spending limit is used up."""

    default_hint = "add credit or raise the limit in the vendor's console; the finished hops stay cached"


class ModelRateError(ModelRefusedError):
    """Raised when the service takes no more requests or tokens for now; `wait` says for how long."""

    retryable = True
    default_hint = "wait a minute, or ask fewer questions at once; the finished hops stay cached"


class ModelContextError(ModelRefusedError):
    """Raised when prompt and reply together are longer than what the model takes."""

    default_hint = "say in the setting `context`, or in capabilities.toml, how many tokens the model takes"


class ModelDeclinedError(ModelRefusedError):
    """Raised when the model itself declines to answer."""

    default_hint = "rephrase the question, or use another model"


class ModelFilteredError(ModelRefusedError):
    """Raised when a content filter of the service stopped the request or the reply."""

    default_hint = "rephrase the question, or use another model"


class ModelReplyError(ModelError):
    """Raised when a reply is malformed or cut, or does not fit its schema after one repair."""

    default_hint = "a stronger model, or one with native structured output, follows schemas better"


class CacheError(FedkgError):
    """Raised when the cache cannot be read or written: a dead server, a full or read-only disk, an unusable folder.

    Questions are answered without it; commands about the cache, and offline mode, end with it.
    """

    exit_code = 3
    retryable = True
    default_hint = "check the disk, or the server that cache_url names; set cache_dir to another folder"


class BudgetError(FedkgError):
    """Raised when a budget of calls, tokens, money or seconds is spent; what was found until then is returned.

    `budget` names what is spent: "calls", "tokens", "money" or "seconds"; "run calls" and so on where it is that of the
    whole run.
    """

    exit_code = 4
    default_hint = "raise --max-calls, --max-tokens, --max-money or --timeout, or in a run --run-calls and so on"

    def __init__(self, message: str, *, budget: str = "", asked: str = "", hint: str = "") -> None:
        super().__init__(message, asked=asked, hint=hint)
        self.budget = budget


class OverLimitError(FedkgError):
    """Raised when a server has too many questions under way, or a client has spent its share.

    `wait` is the seconds after which it may ask again.
    """

    exit_code = 4
    retryable = True
    default_hint = "ask again after the time that Retry-After says"

    def __init__(self, message: str, *, wait: float = 0.0, asked: str = "", hint: str = "") -> None:
        super().__init__(message, asked=asked, hint=hint)
        self.wait = wait


class DrainingError(OverLimitError):
    """Raised when a server takes no more questions, because it is shutting down."""

    default_hint = "ask again when it, or another in its place, is up"

"""The seam to language models: messages and a JSON schema go in, text with its token counts comes out."""

from typing import Any, Literal, Protocol

import msgspec

from fedkg.common.tokens import estimate
from fedkg.config.settings import PathScore, Tokens

__all__ = ["Capability", "ChatModel", "Completion", "Constraint", "Message", "Request", "Token"]


class Capability(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model can do, as its vendor documents it; the defaults are what is safe to expect of an unknown one.

    structured: whether the service itself holds replies to a schema (`native`), or only the prompt asks for it
    (`instruction`). logprobs: log-probabilities of the reply's tokens. grammar: constraints on each token. system: a
    system role of its own. context: tokens of prompt and reply together; output: most tokens of a reply. prompt_cache:
    `none`, `automatic`, or by `markers` in the request; cache_from: tokens that a prefix needs at least to be cached.
    thinks: whether it thinks before it replies, so that a reply may always take all of `output`.
    """

    structured: Literal["native", "instruction"] = "instruction"
    logprobs: bool = False
    grammar: bool = False
    system: bool = True
    context: Tokens = 8_192
    output: Tokens = 2_048
    prompt_cache: Literal["none", "automatic", "markers"] = "none"
    cache_from: Tokens = 1_024
    thinks: bool = False


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Constraint(msgspec.Struct, frozen=True):
    """What a model may write, token by token: `start`, one of the texts, `end`.

    It writes at most `most` of them, the likeliest first by that `score` (`fedkg.llm.constrained`).

    The reply lists the texts by their numbers, from 1, with what their scores are as probabilities:
    `{"picks": [3, 1], "scores": [0.7, 0.2]}`. Where `answer` is given, it stands behind each text, and what the model
    goes on to write freely, to the end of the line, is among `"answers"`. `names` are the places of names in each
    text, where these cost nothing: the model is to choose between relations alone.
    """

    texts: tuple[str, ...]
    most: int
    start: str = ""
    end: str = ""
    score: PathScore = "trie"
    answer: str = ""
    names: tuple[tuple[tuple[int, int], ...], ...] = ()


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call as it goes to a model.

    `call` is its name, `schema` the JSON schema that the reply is asked to fit, `template` the version and digest of
    the wording ("" where there is none). `sample` is 0 for the surest reply that can be had; the others, from 1, are
    drawn as the model draws by itself, and each number is kept as a request of its own. `alternatives` is how many of
    each token are wanted with their log-probabilities, 0 for none at all; only a model with `Capability.logprobs` gives
    them. `constraint` is for a model whose tokens are chosen here, one that is named `hf:…`. So is `beams`: that many
    sequences of a beam search make the reply, `{"texts": [...]}`; another model gives one text, as it likes.
    `temperature` 0 is that of the surest reply; another is sent to a service that takes one, with each request. `most`
    are the tokens that the reply can need, 0 where that is not known: whatever is longer is cut, except of a model that
    thinks first. `lengths` are the most entries of its lists, by their keys, for a model whose tokens are chosen here.
    """

    call: str
    messages: tuple[Message, ...]
    schema: dict[str, Any]
    template: str = ""
    sample: int = 0
    alternatives: int = 0
    constraint: Constraint | None = msgspec.field(name="held", default=None)
    temperature: float = 0.0
    most: int = 0
    beams: int = 0
    lengths: dict[str, int] = {}


class Token(msgspec.Struct, frozen=True):
    """A token of a reply, with the natural logarithms of the probabilities of its alternatives, itself included."""

    text: str
    alternatives: dict[str, float]


class Completion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's reply: its text, and tokens as the vendor counts them; 0 where it does not.

    `cached` (read from the vendor's prompt cache) and `written` (put into it) are parts of `tokens_in`, `reasoning` of
    `tokens_out`. `retries` is how often the request was sent again; `replayed` whether the reply was kept from an
    earlier time, with the tokens that it cost then. `spelled` are the tokens that the text consists of, where
    alternatives to them were asked for.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    reasoning: int = 0
    retries: int = 0
    replayed: bool = False
    written: int = 0
    spelled: tuple[Token, ...] = ()

    def counted(self, request: Request) -> "Completion":
        """The reply with its tokens.

        They are estimated where the service counts none: otherwise no budget of tokens or money would hold.
        """
        prompt = self.tokens_in or sum(estimate(message.content) for message in request.messages)
        return msgspec.structs.replace(self, tokens_in=prompt, tokens_out=self.tokens_out or estimate(self.text))


class ChatModel(Protocol):
    """A language model behind some vendor's wire; `name` is VENDOR:MODEL or VENDOR:MODEL@URL."""

    name: str
    capability: Capability

    async def complete(self, request: Request) -> Completion:
        """The reply to the request. Raises ModelError."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...

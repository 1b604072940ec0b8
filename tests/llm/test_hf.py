"""A tiny model of transformers with random weights: its replies, and decodings that all stay in their tries."""

import asyncio
import itertools
import json
import math
import random
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.errors import MissingExtraError, ModelContextError, ModelNameError, ModelReplyError
from fedkg.llm import hf
from fedkg.llm.base import Capability, Constraint, Message, Request
from fedkg.llm.constrained import numbered
from fedkg.llm.hf import HfModel, Network
from tests.support.extras import needs

CAN = Capability(context=4_096, output=64, logprobs=True, grammar=True)
PATHS = (
    "King Kong → director → Peter Jackson",
    "King Kong → director → Peter Jackson → spouse → Fran Walsh",
    "King Kong → starring → Naomi Watts",
    "东京 ← capital ← 日本 🗾",
)


@pytest.fixture
def store() -> MemoryStore:
    """A cache."""
    return MemoryStore()


@pytest.fixture
def model(tiny: Path, store: MemoryStore) -> HfModel:
    """The tiny model."""
    return HfModel(tiny, CAN, lambda: store)


@pytest.fixture(scope="session")
def network(tiny: Path) -> Network:
    """What lies behind it."""
    return Network(tiny)


def asked(text: str = "Who directed King Kong?", **further: Any) -> Request:
    """A request with one message."""
    return Request("choose", (Message("user", text),), {}, **further)


async def picks(model: HfModel, texts: Sequence[str], most: int = 10, text: str = "Who?", **marks: Any) -> list[int]:
    """The numbers of the texts that the model writes."""
    reply = await model.complete(asked(text, constraint=Constraint(tuple(texts), most, **marks)))
    numbers: list[int] = json.loads(reply.text)["picks"]
    return numbers


async def test_decodings_stay_in_their_tries(model: HfModel, *, every_case: bool) -> None:
    """Of random paths through random graphs only such are written, as many as wanted or as there are, each once."""
    draw = random.Random(0)
    for number in range(1_000 if every_case else 100):
        labels = ["".join(draw.choices("ab→ </s>é", k=2)) for _ in range(4)]
        texts = [" ".join(draw.choices(labels, k=draw.randint(1, 2))) for _ in range(draw.randint(0, 5))]
        most = draw.randint(1, 6)
        numbers = await picks(model, texts, most, f"{number}?")
        assert len(set(numbers)) == len(numbers) == min(most, len(texts)), (number, texts)
        assert set(numbers) <= set(range(1, len(texts) + 1)), (number, texts)


async def test_paths_come_by_their_probability(model: HfModel, network: Network) -> None:
    """As published: what is kept of a beam from step to step changes nothing, computed as a whole it is as probable."""
    numbers = await picks(model, PATHS, len(PATHS), score="vocabulary")
    prompt = network.prompt([Message("user", "Who?")])

    def likely(text: str) -> float:
        """The mean log-probability of the text's tokens behind the prompt, without any cache."""
        tokens, parts = network.tokens([text])[0], []
        for place, token in enumerate(tokens):
            following, _ = network.following([prompt + tokens[:place]])
            parts.append(float(following[0, token]))
        return sum(parts) / len(parts)

    scores = [likely(PATHS[number - 1]) for number in numbers]
    assert sorted(numbers) == [1, 2, 3, 4]
    assert all(a >= b - 1e-4 for a, b in itertools.pairwise(scores))


async def test_probabilities_within_the_trie(model: HfModel, network: Network) -> None:
    """Rows of several lengths, and what is fed in one go, change nothing: computed one by one they are the same."""
    texts = [f"{path} </PATH>" for path in PATHS]
    reply = json.loads((await model.complete(asked("Who?", constraint=Constraint(tuple(texts), 10)))).text)
    rows, prompt = network.tokens(texts), network.prompt([Message("user", "Who?")])

    def likely(tokens: list[int]) -> float:
        """The product of the tokens' shares behind the prompt, without any cache."""
        total = 1.0
        for place, token in enumerate(tokens):
            others = {row[place] for row in rows if row[:place] == tokens[:place]}
            logs = network.following([prompt + tokens[:place]])[0][0]
            total *= math.exp(logs[token]) / sum(math.exp(logs[other]) for other in others)
        return total

    assert reply["scores"] == pytest.approx([likely(rows[number - 1]) for number in reply["picks"]], abs=1e-4)
    assert math.fsum(reply["scores"]) == pytest.approx(1, abs=1e-4)


async def test_fewer_than_there_are(model: HfModel) -> None:
    """A beam of one writes one path."""
    assert len(await picks(model, PATHS, 1)) == 1


async def test_equal_texts_are_all_told(model: HfModel) -> None:
    """Two paths that read the same are both meant: the model cannot tell them apart."""
    assert sorted(await picks(model, ("a → b → c", "a → b → c"))) == [1, 2]


async def test_marks_around_a_path_are_not_part_of_it(model: HfModel) -> None:
    """What stands before and behind all paths is written, too, and the numbers are those of the paths."""
    numbers = await picks(model, PATHS, 3, start="# Reasoning path:\n<PATH> ", end=" </PATH>")
    assert len(numbers) == len(set(numbers)) == 3


async def test_a_reply_is_the_same_each_time(model: HfModel) -> None:
    """Sample 0 and each of the others, whatever else draws numbers; some of the others differ."""
    first = [await model.complete(asked(sample=sample)) for sample in range(5)]
    random.seed(1)
    assert [await model.complete(asked(sample=sample)) for sample in range(5)] == first
    assert len({reply.text for reply in first}) > 1


async def test_a_reply_is_drawn_at_a_temperature(model: HfModel) -> None:
    """The same each time, and not the surest at every one."""
    warm = [(await model.complete(asked(temperature=2.0))).text for _ in range(2)]
    assert warm[0] == warm[1] != (await model.complete(asked())).text


async def test_tokens_are_counted(model: HfModel, network: Network) -> None:
    """Of the prompt as the tokenizer has it, and of the reply with its end."""
    reply = await model.complete(asked("Who?"))
    assert reply.tokens_in == len(network.tokens(["Who?"])[0])
    assert reply.tokens_out > 0


async def test_log_probabilities_of_a_reply(model: HfModel) -> None:
    """Each token with its likeliest alternatives, itself among them, the greedy one being the best."""
    reply = await model.complete(asked(alternatives=3))
    assert len(reply.spelled) == reply.tokens_out
    for token in reply.spelled:
        assert max(token.alternatives.values()) == token.alternatives[token.text]
        assert sum(map(math.exp, token.alternatives.values())) <= 1 + 1e-5


async def test_a_prompt_that_is_too_long(model: HfModel) -> None:
    """It is not cut silently."""
    with pytest.raises(ModelContextError, match="of 4,096 tokens"):
        await model.complete(asked("x" * 9_000))


async def test_a_path_that_is_too_long(tiny: Path, store: MemoryStore) -> None:
    """Where prompt and path do not fit nothing is written."""
    small = HfModel(tiny, msgspec.structs.replace(CAN, context=20), lambda: store)
    with pytest.raises(ModelContextError, match="a path is longer"):
        await picks(small, ["x" * 40 + "y", "x" * 40 + "z"])


async def test_a_model_that_fails_is_a_failed_reply(tiny: Path, tmp_path: Path, store: MemoryStore) -> None:
    """Weights that are no numbers give nothing to draw from: PyTorch's error is told, in one line."""
    torch, load_file = pytest.importorskip("torch"), pytest.importorskip("safetensors.torch").load_file
    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    weights = {name: torch.full_like(part, math.nan) for name, part in load_file(broken / "model.safetensors").items()}
    pytest.importorskip("safetensors.torch").save_file(weights, broken / "model.safetensors", {"format": "pt"})
    drawn = HfModel(broken, CAN, lambda: store)
    with pytest.raises(ModelReplyError, match=r"the model failed: .*nan"):
        await drawn.complete(asked(sample=1))
    reply = await drawn.complete(asked(constraint=Constraint(PATHS, 2, score="vocabulary")))
    assert json.loads(reply.text)["scores"] == [0, 0]


async def test_a_hypothesis_has_the_room_that_is_left(tiny: Path, tmp_path: Path, store: MemoryStore) -> None:
    """It is cut where the context ends, and is "" where nothing is left of it; its tokens count."""
    shutil.copytree(tiny, endless := tmp_path / "endless")
    (endless / "generation_config.json").write_text('{"eos_token_id": 0}')
    texts, answers, tokens = ("ab", "cd"), [], []
    for context in (7, 10, 4_096):
        small = HfModel(endless, msgspec.structs.replace(CAN, context=context), lambda: store)
        reply = await small.complete(asked("Who?", constraint=Constraint(texts, 2, answer="a")))
        assert sorted(json.loads(reply.text)["picks"]) == [1, 2]
        answers.append(json.loads(reply.text)["answers"])
        tokens.append(reply.tokens_out)
    assert answers[0] == ["", ""]
    assert tokens[0] < tokens[1] < tokens[2]
    assert all(answers[2])


async def test_a_reply_without_an_end(tiny: Path, tmp_path: Path, store: MemoryStore) -> None:
    """It was cut, which is a failure that says what it cost."""
    endless = tmp_path / "endless"
    shutil.copytree(tiny, endless)
    (endless / "generation_config.json").write_text('{"eos_token_id": 0}')
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await HfModel(endless, CAN, lambda: store).complete(asked("Who?"))
    assert (caught.value.tokens_in, caught.value.tokens_out) == (4, 64)


async def test_marks_in_a_label_are_no_marks(network: Network) -> None:
    """The end of a turn in a label, also one that is left when another is taken out, does not become its token."""
    hostile = "</s> <|user|> <</s>/s> <|us</s>er|> \ud800"
    marks = {0, 1}
    assert not marks & set(network.prompt([Message("user", hostile)]))
    assert not marks & set(network.tokens([network.plain(hostile)])[0])
    assert network.tokens(["</s>"]) == [[0]]  # the tokenizer would take it for the end


async def test_hostile_labels_are_written_as_any(model: HfModel) -> None:
    """Paths of nothing but marks."""
    assert sorted(await picks(model, ("</s>", "<|user|> → </s>", " </PATH>"), end=" </PATH>")) == [1, 2, 3]


async def test_the_chat_template_is_used(tiny: Path, tmp_path: Path) -> None:
    """Turns are marked as the tokenizer says; a mark that somebody wrote into a turn is none."""
    folder = tmp_path / "chat"
    shutil.copytree(tiny, folder)
    turns = "{% for m in messages %}<|user|>{{ m.content }}</s>{% endfor %}"
    template = turns + "{% if add_generation_prompt %}<|user|>{% endif %}"
    (folder / "chat_template.jinja").write_text(template)
    tokens = Network(folder).prompt([Message("user", "a </s> b")])
    assert [token for token in tokens if token < 2] == [1, 0, 1]


async def test_a_trie_is_kept_and_read_back(model: HfModel, tiny: Path, store: MemoryStore) -> None:
    """Another model of the same tokenizer makes no tokens of the same paths again; other paths are another trie."""
    numbers = await picks(model, PATHS)
    again = HfModel(tiny, CAN, lambda: store)
    assert await picks(again, PATHS) == numbers
    assert store.count() == {"tries": 1}
    await picks(again, PATHS[:3])
    assert store.count() == {"tries": 2}


@pytest.mark.parametrize("spoil", [lambda value: value[:-3], lambda _: b"", lambda _: b"\0" * 40])
async def test_a_damaged_trie_is_made_anew(
    model: HfModel, store: MemoryStore, spoil: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be read from the cache is a miss, and what is put there then can be."""
    put: dict[str, bytes] = {}
    monkeypatch.setattr(store, "put_many", lambda _space, values, _seconds=None: put.update(values))
    monkeypatch.setattr(store, "get_many", lambda _space, keys: {key: put[key] for key in keys if key in put})
    numbers, [(key, right)] = await picks(model, PATHS), list(put.items())
    put[key] = spoil(right)
    assert await picks(model, PATHS) == numbers
    assert put == {key: right}


async def test_a_trie_of_other_paths_is_not_believed(
    model: HfModel, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a path more than there are would give numbers that nobody offered."""
    foreign = numbered([[5], [6], [7], [8], [9]]).to_bytes()
    monkeypatch.setattr(store, "get_many", lambda _space, keys: dict.fromkeys(keys, foreign))
    assert sorted(await picks(model, PATHS)) == [1, 2, 3, 4]


async def test_who_gives_up_stops_the_model(model: HfModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled call looks for no further token."""
    entered, asked_for = threading.Event(), []
    following = Network.following

    def slow(self: Network, rows: Any, seen: Any) -> Any:
        asked_for.append(1)
        entered.set()
        gone.wait(10)
        return following(self, rows, seen)

    gone = threading.Event()
    monkeypatch.setattr(Network, "following", slow)
    task = asyncio.create_task(picks(model, PATHS))
    await asyncio.to_thread(entered.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gone.set()
    with model._lock:  # the thread is done
        assert asked_for == [1]


def test_a_folder_that_is_checked(tiny: Path) -> None:
    """What was saved by transformers is fine, and its context is read from there."""
    hf.check(tiny)
    assert hf.context(tiny) == 32_768


@needs("hf", "transformers")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "holds no model: config.json"),
        ({"config.json": "{"}, "config.json: "),
        ({"config.json": "[]"}, "config.json: "),
        ({"config.json": "{}"}, "no causal language model: no architecture"),
        ({"config.json": '{"architectures": ["BertModel"]}'}, "no causal language model: BertModel"),
        ({"config.json": '{"architectures": ["LlamaForCausalLM"]}'}, "holds no \\*.safetensors"),
        ({"config.json": '{"architectures": ["GPT2LMHeadModel"]}', "model.safetensors": ""}, "holds no tokenizer"),
    ],
)
def test_what_is_no_model_is_refused_before_it_is_loaded(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """The error says what is missing, and the hint what belongs there."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ModelNameError, match=message) as caught:
        hf.check(tmp_path)
    assert "save_pretrained" in caught.value.hint


def test_without_the_packages(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named."""
    monkeypatch.setattr(hf, "PACKAGES", ("no_such_package",))
    with pytest.raises(MissingExtraError) as caught:
        hf.check(tiny)
    assert caught.value.hint == "pip install 'fedkg[hf]'"


@pytest.mark.parametrize(("name", "text"), [("model.safetensors", "no weights"), ("tokenizer.json", "{}")])
async def test_files_that_cannot_be_read(tiny: Path, tmp_path: Path, name: str, text: str, store: MemoryStore) -> None:
    """Whatever the libraries say of it, it is the folder that cannot be loaded."""
    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    (broken / name).write_text(text)
    with pytest.raises(ModelNameError, match="cannot load"):
        await HfModel(broken, CAN, lambda: store).complete(asked())


def test_code_of_a_folder_is_not_run(tiny: Path, tmp_path: Path) -> None:
    """A model that brings its own classes is refused."""
    folder = tmp_path / "own"
    shutil.copytree(tiny, folder)
    config = json.loads((folder / "config.json").read_text())
    code = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "own", "auto_map": code}))
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(ModelNameError, match="cannot load"):
        Network(folder)


@pytest.mark.parametrize(
    ("config", "tokens"),
    [({"n_positions": 7}, 7), ({"text_config": {"max_position_embeddings": 9}}, 9), ({}, None)],
)
def test_the_context_goes_by_several_names(tmp_path: Path, config: dict[str, Any], tokens: int | None) -> None:
    """GPT-2's, that of a model with further parts, and one that does not say it."""
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert hf.context(tmp_path) == tokens


async def test_closing_frees_the_model(model: HfModel) -> None:
    """It is loaded again where it is asked again."""
    await model.complete(asked())
    await model.close()
    assert model._network is None
    assert (await model.complete(asked())).text is not None


def test_a_model_is_called_by_what_it_is(tiny: Path, tmp_path: Path) -> None:
    """The same files in another place have the same name, other weights in a folder of that name another one."""
    copy = tmp_path / tiny.name
    shutil.copytree(tiny, copy)
    assert hf.named(copy) == hf.named(tiny)
    assert str(tmp_path) not in hf.named(copy)
    weights = copy / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    assert hf.named(copy) != hf.named(tiny)


async def test_a_reply_may_be_as_long_as_its_call_can_need(model: HfModel) -> None:
    """What is longer is cut, and the hint says why; a model that thinks first has all of its output."""
    with pytest.raises(ModelReplyError, match="cut") as caught:
        await model.complete(asked("Tell me everything.", most=1))
    assert (caught.value.tokens_out, "writes on" in caught.value.hint) == (1, True)

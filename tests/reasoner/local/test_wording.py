"""A question around its topic."""

import pytest

from fedkg.common.english import root
from fedkg.reasoner.local.wording import Wording, asks_the_kind, content, plain


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Who directed the film King Kong?", "Who directed  ?"),
        ("Who directed the first King Kong?", "Who directed the first  ?"),
        ("Who directed the fake King Kong?", "Who directed the fake  ?"),
    ],
)
def test_only_a_noun_that_tells_what_the_topic_is_is_left_out(question: str, rest: str) -> None:
    """Other words before it tell which one is meant."""
    assert Wording(question, "King Kong").rest == rest


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the grandnation of Ann's child?", [["child"], ["child"], ["nation"]]),
        ("What is the nation of Ann's grandchild?", [["child"], ["child"], ["nation"]]),
        ("What is the grandson of Ann's mother?", [["mother"], ["child"], ["son"]]),
        ("What is the grandstand of Ann's club?", [["club"], ["grandstand"]]),
    ],
)
def test_grand_belongs_to_a_word_of_kinship(question: str, first: list[list[str]]) -> None:
    """Before another word it is taken to the word of kinship behind the topic, where there is one."""
    order = Wording(question, "Ann").orders[0]
    assert [list(content(text)) for _, text in order] == [[root(word) for word in words] for words in first]


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("the film King Kong was written by who", "subject"),
        ("the movie King Kong starred who?", ""),
        ("King Kong directed whom", "agent"),
    ],
)
def test_a_question_word_may_stand_where_the_answer_would(question: str, role: str) -> None:
    """The topic is what was written, and what stars somebody; else it does what the verb says."""
    assert Wording(question, "King Kong").role == role


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What type of film is King Kong?", True),
        ("which genres of music were Needing You", True),
        ("What type of drug is used for gout?", False),
        ("Which kinds of animals eat lions?", False),
    ],
)
def test_a_question_may_ask_of_what_kind_a_thing_is(question: str, asks: bool) -> None:
    """Not where a verb follows: it asks for things of that kind then."""
    assert asks_the_kind(question) is asks


def test_the_noun_of_such_a_question_says_no_relation() -> None:
    """What is asked for is the kind alone."""
    assert list(content(Wording("What type of film is King Kong?", "King Kong").rest)) == ["type"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What does Ann's wife do for a living?", ["what is 's wife", "'s occupation"]),
        ("what did Ann do", ["what is 's occupation"]),
        ("where does Ann’s wife work for?", ["what is 's wife", "'s employer"]),
        ("At which university does Ann teach?", ["what is 's employer"]),
        ("where is Ann a professor?", ["what is 's employer"]),
        ("what is the type of religion of Ann?", ["what is the religion"]),
        ("What did Ann's wife do wrong?", ["what did 's wife", "do wrong"]),
    ],
)
def test_the_first_and_last_words_may_say_one_thing_together(question: str, said: list[str]) -> None:
    """A noun stands for both then, so that what is said between them is a step of its own."""
    assert [text.strip() for _, text in Wording(question, "Ann").orders[0]] == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What kind of music did Ann play?", "what is Ann's genre"),
        ("What does Ann teach?", "what is Ann's field of work"),
        ("In which country was Ann made?", "what is Ann's country of origin"),
        ("What is Ann for?", "what is Ann's used for"),
        ("What is Ann good for?", "What is Ann good for?"),
        ("What is Ann famous for?", "What is Ann famous for?"),
        ("What was Ann best known for?", "What was Ann best known for?"),
        ("Whose daughter is Ann?", "what is Ann's parent"),
        ("Which kinds of migraine are there?", "what are the subtypes of migraine"),
        ("What are the names of Ann's children?", "What are Ann's children?"),
        ("Which parts of the body does it affect?", "Which body parts does it affect?"),
        ("What regions of the human body does it reach?", "What body parts does it reach?"),
        ("How would somebody know if they have got Ann?", "what is Ann's symptom"),
        ("how do you recognise Ann", "what is Ann's symptom"),
        ("How does Ann show up?", "what is Ann's symptom"),
        ("How does Ann present herself to voters?", "How does Ann present herself to voters?"),
        ("How do people know that Ann lied?", "How do people know that Ann lied?"),
        ("What can people take for Ann?", "what is Ann's treatment"),
        ("What would a doctor prescribe patients with Ann?", "what is Ann's treatment"),
        ("Is there anything that you can take against Ann?", "what is Ann's treatment"),
        ("What did people give Ann?", "What did people give Ann?"),
        ("List all the kinds of whale", "what are the subtypes of whale"),
        ("Name every form of migraine.", "what are the subtypes of migraine"),
        ("Name every form of music that Ann plays.", "Name every form of music that Ann plays."),
        ("I need all the rivers of Peru for my geography exam", "list all the rivers of Peru"),
        ("we'd like to know the rivers for our trip", "list the rivers"),
        ("I need help for my exam", "I need help for my exam"),
        ("Give me the full list of rivers in Peru", "Give me rivers in Peru"),
    ],
)
def test_what_several_words_say_together_is_said_plainly(question: str, said: str) -> None:
    """By the noun that means it."""
    assert plain(question) == said


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Which diseases have Fever as a symptom?", "patient"),
        ("What symptoms does one have who has Fever?", "agent"),
        ("Which films has Fever directed?", "agent"),
        ("How can Fever be treated?", "subject"),
        ("Which genes are expressed in Fever?", ""),
    ],
)
def test_what_somebody_has_and_what_is_done_to_something_does_nothing(question: str, role: str) -> None:
    """Before another verb "has" belongs to that; where something is done may do it."""
    assert Wording(question, "Fever").role == role


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What record label did King Kong start", {"start"}),
        ("Which bands are signed to the label that King Kong set up?", {"set"}),
        ("In what country did King Kong die?", {"die"}),
        ("Who owns the club that King Kong plays for?", {"play"}),
        ("Which prize did King Kong win in France?", {"win"}),
        ("Who directed that King Kong film?", {"direct", "film"}),
        ("Where did King Kong's wife die?", {"wife"}),
        ("the father of King Kong", {"father"}),
    ],
)
def test_a_walk_begins_with_the_verb_of_what_the_topic_does(question: str, first: set[str]) -> None:
    """Of a verb right behind the topic, after "did" or "that"; a noun there may come later."""
    assert {content(order[0][1])[0] for order in Wording(question, "King Kong").orders} == {
        root(word) for word in first
    }


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("What has King Kong been in?", "agent"),
        ("What plays has King Kong been in", "agent"),
        ("What harm might King Kong do to me?", "agent"),
        ("Where may King Kong be filmed?", "subject"),
        ("Which wars have King Kong been to?", "agent"),
        ("Where can King Kong be filmed?", "subject"),
        ("Has King Kong been filmed?", "subject"),
    ],
)
def test_to_have_been_somewhere_is_done_and_not_suffered(question: str, role: str) -> None:
    """A participle behind "been" tells that something was done to the topic."""
    assert Wording(question, "King Kong").role == role


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("diseases of which Ann is a symptom", ""),
        ("the countries where Ann is an official language", ""),
        ("films in which Ann is the director", "agent"),
        ("Which disease is Ann a kind of?", "agent"),
        ("films in which Ann is starring", "agent"),
    ],
)
def test_what_the_topic_is_to_something_is_not_what_it_does(question: str, role: str) -> None:
    """But for nouns of who does something."""
    assert Wording(question, "Ann").role == role

"""The clause of a message that asks."""

import pytest

from fedkg.reasoner.local.asking import asking


@pytest.mark.parametrize(
    ("message", "topic", "clause"),
    [
        ("We read Emma at school. Who wrote it?", "Emma", "Who wrote Emma?"),
        ("We are off to Bern next week, what is its population?", "Bern", "what is Bern's population?"),
        ("Packing for a week in Lima - who was born there?", "Lima", "who was born in Lima?"),
        ("my aunt has been told she has gout; is there a drug for it?", "gout", "is there a drug for gout?"),
        ("My son loves Buster Keaton films. Which of them are silent?", "Buster Keaton", None),  # of whom it tells
        ("I adore Buster Keaton. Where did he live?", "Buster Keaton", "Where did Buster Keaton live?"),
        ("Could you please tell me who wrote Emma? It is for a quiz.", "Emma", "who wrote Emma?"),
        ("Do you know where Lima is?", "Lima", "where Lima is?"),
        ("Any idea who wrote Emma?", "Emma", "who wrote Emma?"),
        ("Hi, I'd like to know what treats gout.", "gout", "what treats gout."),
        ("I'm a big fan of Buster Keaton. Where was she born?", "Buster Keaton", "Where was Buster Keaton born?"),
        ("My favourite actor is Buster Keaton. Where was he born?", "Buster Keaton", "Where was Buster Keaton born?"),
        ("We had a bad case of gout, how is it treated?", "gout", "how is gout treated?"),
        ("Back from a tour of Lima - who was born there?", "Lima", "who was born in Lima?"),
        ("I was wondering which rivers cross Bern", "Bern", "which rivers cross Bern"),
    ],
)
def test_what_is_said_beside_a_question_is_left_out(message: str, topic: str, clause: str | None) -> None:
    """A pronoun in it is the topic, in its form; so are polite beginnings left out."""
    assert asking(message, (topic,)) == (clause or message)


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        ("In Emma, who marries Mr. Elton?", ("Emma", "Mr. Elton")),
        ("Of the rivers of Peru, which is the longest?", ("Peru",)),
        ("Has Ann Lee written any books? If so, which ones?", ("Ann Lee",)),
        ("Where did Ann Lee, who wrote Emma, die?", ("Ann Lee", "Emma")),
        ("Which films of Ann Lee, Bob Ray and Cy Orr are long?", ("Ann Lee", "Bob Ray", "Cy Orr")),
        ("My dad has gout. What can he take?", ("gout",)),
        ("Can you treat gout with colchicine?", ("gout", "colchicine")),
        ("Do you know Ann Lee?", ("Ann Lee",)),
        ("Who sang Help! in 1965?", ("Help!",)),
        ("who are the Airplane! actors", ("Airplane!",)),
        ("Which actors of Who Dares? Ann Dares! are tall?", ("Who Dares? Ann Dares!",)),
        ("Ann Lee met Bob Ray at school. Where did they live?", ("Ann Lee", "Bob Ray")),
        ("films with Ann Lee", ("Ann Lee",)),
        ("I saw a movie with Buster Keaton, what genre is it?", ("Buster Keaton",)),
        ("We saw this Buster Keaton film, who directed it?", ("Buster Keaton",)),
        ("We saw Buster Keaton's last film. Who directed it?", ("Buster Keaton",)),
        ("We visited the birthplace of Buster Keaton. What country is it in?", ("Buster Keaton",)),
        ("A colleague of Buster Keaton was famous. What did he die of?", ("Buster Keaton",)),
        ("My boss knows Buster Keaton. Where was he born?", ("Buster Keaton",)),
        ("She directed Emma. Where was she born?", ("Emma",)),
    ],
)
def test_a_message_stays_where_it_is_not_sure_what_asks(message: str, topics: tuple[str, ...]) -> None:
    """Several clauses ask, none does, or nothing stands for the topic."""
    assert asking(message, topics) == message


def test_without_topics_no_pronoun_is_replaced() -> None:
    """The clause tells what kind of question it is."""
    assert asking("We read Emma at school. How many people wrote it?") == "How many people wrote it?"

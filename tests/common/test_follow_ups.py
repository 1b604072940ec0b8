from fedkg.common.follow_ups import follow_up_words


def test_the_lists_fit_together() -> None:
    """A possessive is a pronoun, a longer opening stands before the shorter ones in it, and all is in small letters."""
    words = follow_up_words()
    assert words.possessive <= set(words.pronouns)
    assert set(words.pronouns.values()) == {"he", "she", "it", "they"}
    for place, opening in enumerate(words.openings):
        assert not [longer for longer in words.openings[place + 1 :] if longer[: len(opening)] == opening]
    texts = [*words.pronouns, *words.asking, *words.people, *words.not_before]
    assert texts == [text.lower() for text in texts]

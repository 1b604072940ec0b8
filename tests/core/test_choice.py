"""What models choose, judge and conclude."""

from fedkg.core import encoding
from fedkg.core.choice import Conclusion


def test_keys_of_a_conclusion_survive() -> None:
    """The numbers of paths are keys in JSON and numbers again afterwards."""
    conclusion = Conclusion((1, 2), {1: (2, 3)}, verdict="yes")
    assert encoding.decode(encoding.encode(conclusion), Conclusion) == conclusion

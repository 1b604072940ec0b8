"""What a training of a scorer goes on with."""

from pathlib import Path

from fedkg.training.scorer_training import last_state


def test_a_state_that_was_saved_in_part_is_no_state(tmp_path: Path) -> None:
    """The last one that is whole counts, by the number of its steps; none where there is none."""
    for steps in (25, 100, 125):
        (tmp_path / f"checkpoint-{steps}").mkdir()
    assert last_state(tmp_path) is None
    for steps in (25, 100):
        (tmp_path / f"checkpoint-{steps}" / "trainer_state.json").write_text("{}")
    assert last_state(tmp_path) == str(tmp_path / "checkpoint-100")

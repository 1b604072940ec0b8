"""What a training goes on with."""

from pathlib import Path

from fedkg.training.fine_tuning import CHECKPOINTS, last_state


def test_a_state_that_was_saved_in_part_is_no_state(tmp_path: Path) -> None:
    """The last one that is whole counts, by the number of its steps; none where there is none."""
    states = tmp_path / CHECKPOINTS
    for steps in (25, 100, 125):
        (states / f"checkpoint-{steps}").mkdir(parents=True)
    assert last_state(tmp_path) is None
    for steps in (25, 100):
        (states / f"checkpoint-{steps}" / "trainer_state.json").write_text('{"loss": NaN}')
    (states / "checkpoint-125" / "trainer_state.json").write_text('{"loss": 0.')
    assert last_state(tmp_path) == str(states / "checkpoint-100")

"""The group of commands `fedkg eval`."""

import click

from fedkg.cli.eval import ablate, compare, pack, replay, report, run, score
from fedkg.cli.eval import list as listing

__all__ = ["evaluation"]


@click.group("eval")
def evaluation() -> None:
    """Run benchmarks, score, compare and report their results."""


evaluation.add_command(listing.list_benchmarks)
evaluation.add_command(run.run)
evaluation.add_command(score.score)
evaluation.add_command(compare.compare)
evaluation.add_command(report.report)
evaluation.add_command(ablate.ablate)
evaluation.add_command(pack.pack)
evaluation.add_command(replay.replay)

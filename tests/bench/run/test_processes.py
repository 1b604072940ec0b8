"""Work over the processes of this machine."""

from fedkg.bench.run.processes import in_processes


def square(name: str) -> tuple[str, int]:
    """Work for another process."""
    return name, int(name) ** 2


def test_work_comes_back_in_its_order() -> None:
    """From this process, and from others."""
    names = ["3", "1", "2"]
    assert in_processes(square, names, 2) == in_processes(square, names, 1) == [square(name) for name in names]

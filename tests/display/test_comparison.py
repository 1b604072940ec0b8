from fedkg.bench.scoring.compare import Comparison, Flip, Hits, MeasureDifference


def test_a_comparison_is_tables() -> None:
    """Measures with their intervals, what was otherwise, and which questions flipped; all of it escaped."""
    comparison = Comparison(
        benchmark="films",
        questions=2,
        missing=(0, 0),
        hits=Hits(1, 1, 0, 0, 1.0),
        differences={"f1": MeasureDifference(1.0, 0.5, -0.5, -1.0, 0.0, 0.5, 2)},
        flips=tuple(Flip(f"q{number}", "Who is <b>Ada</b>?", None, "retrieval", won=False) for number in range(25)),
        settings={"method": ("fidelis", "vanilla")},
        warnings=("other data",),
        seed=0,
    )
    page = comparison._repr_html_()
    for text in ("films: 2 questions", "-0.5000", "-1.0000 to +0.0000", "fidelis", "vanilla", "lost", "and 5 more"):
        assert text in page
    assert "warning: other data" in page
    assert "<b>" not in page

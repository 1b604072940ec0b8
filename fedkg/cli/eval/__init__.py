"""`fedkg eval`: benchmarks; one file a command."""
